"""Filters of the marketplace's pages."""
