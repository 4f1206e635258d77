"""What the actions that search have in common: where their query comes from, how it is read, how much to return."""

from enum import StrEnum

from groundwire_pipelines.errors import StepError
from groundwire_pipelines.parsing.jsonish import JsonishQueryParser, ParsedQuery
from groundwire_pipelines.settings import PipelineSettings
from groundwire_pipelines.state import PipelineState


class QueryParser(StrEnum):
    """How the query is read."""

    JSONISH = "jsonish"
    """Plain text, or an object with a query and filters."""


class QuerySource(StrEnum):
    """Where the query comes from."""

    LAST_MODEL_RESPONSE = "last_model_response"
    """What the model wrote, without its prefix."""
    QUESTION = "question"
    """The user's question, in English where it was translated."""


def parsed_query(source: QuerySource, parser: QueryParser | None, state: PipelineState) -> ParsedQuery:
    """The query with the filters that it brings.

    Raises:
        StepError: `query-empty`, and what the parser raises.
    """
    if source is QuerySource.QUESTION:
        text = state.user_question_en or state.user_question
    else:
        text = state.last_model_response
    parsed = JsonishQueryParser().parse(text) if parser else ParsedQuery(text.strip())
    if not parsed.query:
        raise StepError("query-empty", f"the query is empty: {source!s} holds none")
    return parsed


def read_by(source: QuerySource) -> tuple[str, ...]:
    """The fields of the state without which there is no query."""
    return ("last_model_response",) if source is QuerySource.LAST_MODEL_RESPONSE else ()


def effective_top_k(step_top_k: int | None, settings: PipelineSettings) -> int:
    """The step's own, else that of the pipeline.

    Raises:
        StepError: `top-k-missing`.
    """
    top_k = settings.top_k if step_top_k is None else step_top_k
    if top_k is None:
        raise StepError("top-k-missing", "top_k is neither among the step's keys nor in the pipeline's settings")
    return top_k
