"""Errors that end a build."""

from groundwire_index.operator_errors import OperatorError


class IngestError(OperatorError):
    """A source cannot become an index. Says where, which rule, and what to do; nothing was published."""
