"""The pages of workers without an account."""
