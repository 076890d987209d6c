"""What workers must have to work on a HIT: kinds of qualifications, requests for them, requirements."""
