"""The base of the errors that an operator can mend."""


class OperatorError(Exception):
    """What whoever builds or serves an index can mend. The message says what is wrong and what to do, on one line."""
