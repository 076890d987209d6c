"""Keeping strangers out, and a record of who changed what (docs/threats.md)."""
