"""The commands of `analysis/experiments`."""
