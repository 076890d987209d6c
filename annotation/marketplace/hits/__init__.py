"""HITs and their assignments: asking, finding, accepting, handing in, and what the clock does to them."""
