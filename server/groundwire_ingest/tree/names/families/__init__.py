"""The rules of each language family for what a name means."""
