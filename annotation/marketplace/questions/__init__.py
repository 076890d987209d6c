"""What is asked and answered, in the XML of MTurk's schemas: questions of HITs, qualification tests, answer keys."""
