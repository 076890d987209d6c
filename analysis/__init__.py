"""Judgments and scores in, findings out."""

VERSION = "0.1.0"
"""Of the whole project; `pyproject.toml` says the same."""
