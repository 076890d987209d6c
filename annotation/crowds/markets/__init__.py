"""The places where workers are found, a file or folder each."""
