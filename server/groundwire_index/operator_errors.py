"""The base of the errors that an operator can correct."""


class OperatorError(Exception):
    """An error that the operator can correct. The message says on one line what is wrong and what to do."""
