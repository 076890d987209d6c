"""Speed claims of the site and the marketplace."""
