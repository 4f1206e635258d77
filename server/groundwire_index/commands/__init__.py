"""The commands for the index versions in a data folder, and what all commands that need one share."""
