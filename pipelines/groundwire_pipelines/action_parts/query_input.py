"""Shared by the actions that search: where their query comes from, how it is parsed, how many nodes to return."""

from typing import Annotated, Final, TypeAlias

from pydantic import Field

from groundwire.blank_text import is_blank
from groundwire_client import NodeFilter
from groundwire_pipelines.action_parts.key_rules import OneOf
from groundwire_pipelines.action_parts.prompt_values import output_text
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.parsing.filters import extended
from groundwire_pipelines.parsing.search_query import ParsedQuery, parse_jsonish
from groundwire_pipelines.prompts import VARIABLE_NAME
from groundwire_pipelines.settings import PipelineSettings
from groundwire_pipelines.state import PipelineState

QueryParser: TypeAlias = Annotated[
    Annotated[str, OneOf(("jsonish",), "query-parser-unknown")] | None,
    Field(description="How filters are parsed out of the query; without it the query is plain text."),
]
BUILT_IN_SOURCES: Final = frozenset({"last_model_response", "question", "rewritten_question"})
"""The origins of queries that are not outputs of steps."""

QueryFrom: TypeAlias = Annotated[
    str,
    Field(
        pattern=rf"^{VARIABLE_NAME}$",
        description="The origin of the query: `last_model_response`, without the prefix that a handle_prefix step "
        "read; `question`, in English if it was translated; `rewritten_question`, the router's query. Or the `output` "
        "of an earlier model step, where `plan.query` names the field `query` of the output `plan`.",
    ),
]


def parsed_query(source: str, parser: str | None, state: PipelineState) -> ParsedQuery:
    """The query and the filters in it; `source` is the step's `query_from`.

    Raises:
        StepError: `query-empty`, `output-missing`.
    """
    text = _text(source, state)
    parsed = parse_jsonish(text) if parser else ParsedQuery(text.strip())
    if is_blank(parsed.query):
        raise StepError("query-empty", f"the query is empty: {source} holds none")
    return parsed


def with_filters(
    parsed: ParsedQuery, base: NodeFilter, state: PipelineState
) -> tuple[NodeFilter, dict[str, str | int]]:
    """The filter of a search: `base`, and what the query adds to it. Also the trace's description of the rest.

    `dropped_filters` are names of scope and access; `replaced_filters` are fields that have another value in `base`;
    `unusable_filters` is the number of others without effect, which the evidence describes to the model.
    """
    filter, replaced = extended(base, parsed.filter)
    state.filter_notes = [f"A part of the query had no effect: {problem}." for problem in parsed.unusable]
    without_effect: dict[str, str | int] = {
        "dropped_filters": ", ".join(parsed.dropped),
        "replaced_filters": ", ".join(replaced),
        "unusable_filters": len(parsed.unusable),
    }
    return filter, {name: fact for name, fact in without_effect.items() if fact}


def read_by(source: str) -> tuple[str, ...]:
    """The fields of the state that the query is made of, as `DataFlow` names them."""
    if source == "question":
        return ()  # the untranslated question, if there is no translation
    return (source,) if source in BUILT_IN_SOURCES else (f"outputs.{source.partition('.')[0]}",)


def _text(source: str, state: PipelineState) -> str:
    match source:
        case "question":
            return state.user_question_en or state.user_question
        case "rewritten_question":
            return state.rewritten_question
        case "last_model_response":
            return state.last_model_response
        case _:
            return output_text(state, source)


def effective_top_k(step_top_k: int | None, settings: PipelineSettings) -> int:
    """The step's `top_k`, else the pipeline's.

    Raises:
        StepError: `top-k-missing`.
    """
    top_k = settings.top_k if step_top_k is None else step_top_k
    if top_k is None:
        raise StepError("top-k-missing", "top_k is neither among the step's keys nor in the pipeline's settings")
    return top_k
