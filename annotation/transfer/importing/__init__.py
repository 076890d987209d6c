"""Studies coming in: read, checked as a whole, stored whole or not at all."""
