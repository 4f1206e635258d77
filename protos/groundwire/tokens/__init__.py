"""The unit of every token figure in the contract: the counter that server and callers share (docs/adr/0008)."""

from groundwire.tokens.token_counter import DEFAULT_ENCODING, TokenCounter, TokenCounterError

__all__ = ["DEFAULT_ENCODING", "TokenCounter", "TokenCounterError"]
