"""What others rely on: lists of names that stay, and files of an earlier version that are still read."""
