"""The services that the steps of a run may use: the server, the model, the history, the token counter."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from pydantic import JsonValue

from groundwire.evidence.counter import Counter
from groundwire_client import AsyncGroundwireClient
from groundwire_pipelines.prompts import PromptFolders
from groundwire_pipelines.settings import PipelineSettings


@dataclass(frozen=True, slots=True)
class Message:
    """One message: general instructions (`system`), what to answer (`user`), or the model's answer (`assistant`)."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class ResponseSchema:
    """A JSON Schema that an answer must match, and the name under which the endpoint gets it."""

    name: str
    schema: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A request to a model.

    `model` names one of the endpoint's models, empty for the one that the endpoint was configured with. A field that is
    None is not sent, so the endpoint's default applies. `max_tokens` limits the answer, reasoning included, in the
    model's own tokens.
    """

    messages: tuple[Message, ...]
    model: str = ""
    temperature: float | None = None
    max_tokens: int | None = None
    response_schema: ResponseSchema | None = None


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """A model's whole answer and its tokens: as the endpoint reports them, else counted with the token counter.

    `text` may begin with the model's reasoning between `<think>` tags; the caller removes it.
    """

    text: str
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class AnsweredCall:
    """A call of the model, its answer without reasoning, and the name of the output that keeps the answer."""

    request: ModelRequest
    answer: str
    output: str


class Model(Protocol):
    """A language model, such as one behind an OpenAI-compatible endpoint. Raises StepError when it gives no answer."""

    async def complete(self, request: ModelRequest, *, on_text: Callable[[str], None] | None = None) -> ModelAnswer:
        """Answers a request; calls `on_text`, if given, with pieces of the answer as they arrive."""
        ...


@dataclass(frozen=True, slots=True)
class Turn:
    """A finished exchange: the question as asked and in English, the answer in English and as given."""

    question: str
    question_en: str
    answer_en: str
    answer: str


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
    """The services of a run. `model` and `history` are None in a run without one; an action that needs it fails.

    `on_answer` is called with pieces of a final answer as they arrive; None if no one wants them. The pieces of a step
    replace those of earlier steps.
    """

    retrieval: AsyncGroundwireClient
    settings: PipelineSettings
    counter: Counter
    prompts: PromptFolders
    model: Model | None = None
    history: History | None = None
    on_answer: Callable[[str], None] | None = None
    is_last_try: bool = True
    """False if the step is tried again after a temporary error."""
    has_steps_for_loop: bool = True
    """False if too few of `max_steps` are left to go once more around the loop that the step guards."""
