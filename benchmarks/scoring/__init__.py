"""Speed claims of `scoring`."""
