"""What can be wrong with an index on disk."""


class IndexDamagedError(Exception):
    """A directory is no usable index: torn, truncated, of a foreign format. The message says what is wrong."""
