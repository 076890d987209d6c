"""Speed claims of `analysis`."""
