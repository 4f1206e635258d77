"""What the steps of a run may reach besides its state: the server, the model, the history, the counter."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from pydantic import JsonValue

from groundwire_client import AsyncGroundwireClient
from groundwire_pipelines.prompts import PromptFolders
from groundwire_pipelines.settings import PipelineSettings
from groundwire_pipelines.state import Turn


class Counter(Protocol):
    """The system-wide token counter."""

    def count(self, text: str) -> int:
        """How many tokens a text takes of a budget."""
        ...


@dataclass(frozen=True, slots=True)
class Message:
    """One message to a model: rules of its work (`system`), or what it is to answer (`user`)."""

    role: Literal["system", "user"]
    text: str


@dataclass(frozen=True, slots=True)
class ResponseSchema:
    """A JSON Schema that an answer must match, with the name that the endpoint is told for it."""

    name: str
    schema: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What a model is asked.

    `model` names one of the endpoint's models, empty for the one that the endpoint was configured with. What is None
    is not sent, and the endpoint's own default holds. `max_tokens` bounds the answer, reasoning included, in the
    model's own tokens.
    """

    messages: tuple[Message, ...]
    model: str = ""
    temperature: float | None = None
    max_tokens: int | None = None
    response_schema: ResponseSchema | None = None


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """A model's whole answer and what it cost, in the model's own tokens where it tells them, else counted.

    `text` may begin with the model's reasoning between `<think>` tags; those who ask cut it off.
    """

    text: str
    prompt_tokens: int
    completion_tokens: int


class Model(Protocol):
    """A language model, such as one behind an OpenAI-compatible endpoint. Raises StepError when it gives no answer."""

    async def complete(self, request: ModelRequest, *, on_text: Callable[[str], None] | None = None) -> ModelAnswer:
        """Answers a request; with `on_text`, pieces of the answer are told as they come."""
        ...


@dataclass(frozen=True, slots=True)
class StoredHistory:
    """A session's history: the summary so far, its version, and the turns after it, oldest first."""

    summary: str
    summary_version: int
    turns: tuple[Turn, ...]


class History(Protocol):
    """Conversations by user and session. Safe for concurrent sessions and processes."""

    async def load(self, user_id: str, session_id: str) -> StoredHistory:
        """The summary and the turns it does not cover."""
        ...

    async def append(self, user_id: str, session_id: str, turn: Turn) -> None:
        """Adds a finished turn; once this returns, a crash does not lose it."""
        ...

    async def save_summary(
        self, user_id: str, session_id: str, summary: str, *, covers: int, previous_version: int
    ) -> None:
        """Replaces the summary by one that covers `covers` more turns, unless another run did so first."""
        ...


@dataclass(frozen=True, slots=True)
class Runtime:
    """The services of a run. `model` and `history` are None where the run has none; an action that needs one fails.

    `on_answer` is told pieces of what begins as the final answer as they come; None when nobody watches.
    """

    retrieval: AsyncGroundwireClient
    settings: PipelineSettings
    counter: Counter
    prompts: PromptFolders
    model: Model | None = None
    history: History | None = None
    on_answer: Callable[[str], None] | None = None
