"""Tags that the pages of site and marketplace share."""
