"""Readers of the files that are no code: configuration, projects, markup, contracts, scripts and prose."""
