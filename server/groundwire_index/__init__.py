"""The immutable index on disk: its files, how they are written, opened and kept in versions."""
