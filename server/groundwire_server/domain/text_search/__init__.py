"""Exact search: the lines that a literal or a regular expression matches."""
