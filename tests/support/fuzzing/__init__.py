"""Hostile calls, each drawn from a seed and its number alone, so that any of them can be made again."""
