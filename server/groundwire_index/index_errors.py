"""The errors of an index on disk, and the refusals of the store."""

from groundwire_index.operator_errors import OperatorError


class IndexDamagedError(OperatorError):
    """A directory is no usable index: torn, truncated, of a foreign format. The message says what is wrong."""


class VersionNotFoundError(OperatorError):
    """There is no such version, and never was."""


class VersionDeletedError(OperatorError):
    """The version was deleted."""


class VersionActiveError(OperatorError):
    """The version is active, and so is not deleted."""


class BuildRefusedError(OperatorError):
    """A version cannot be built: its name is taken, another build is running, or the storage cannot hold it."""
