"""What evidence needs of a token counter: a protocol, so that this package loads no vocabulary."""

from typing import Protocol


class Counter(Protocol):
    """Counts the tokens of texts, as `groundwire.tokens.TokenCounter` does."""

    def count(self, text: str) -> int:
        """The number of tokens of a text."""
        ...
