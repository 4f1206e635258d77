"""The fields that are read of an endpoint's replies. Endpoints may add other fields, and leave some out."""

from pydantic import BaseModel, ConfigDict, Field


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Usage(_Part):
    """Tokens as the model counts them."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class Text(_Part):
    """A message, or a piece of one. Reasoning in a field of its own is not read."""

    content: str | None = None


class Choice(_Part):
    """The answer, and the finish reason as the endpoint names it."""

    message: Text
    finish_reason: str | None = None


class Completion(_Part):
    """A whole reply."""

    choices: list[Choice] = Field(min_length=1)
    usage: Usage | None = None


class ChoicePiece(_Part):
    """A piece of the answer; the last one has the finish reason."""

    delta: Text | None = None
    finish_reason: str | None = None


class Chunk(_Part):
    """A piece of a streamed reply; the last one may hold the usage alone."""

    choices: list[ChoicePiece] | None = None
    usage: Usage | None = None
