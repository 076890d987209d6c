"""The human-evaluation datasheet and the dataset card: what the platform knows, and what only people can answer."""
