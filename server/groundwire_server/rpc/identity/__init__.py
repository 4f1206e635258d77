"""Identifies callers, reads what their identities grant, and narrows that by requests."""
