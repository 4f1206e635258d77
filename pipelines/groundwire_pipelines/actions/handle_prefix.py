"""`handle_prefix`: reads the prefix of the model's last answer and branches on it."""

from dataclasses import replace
from itertools import permutations
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from groundwire_pipelines.action_definition import Action, DataFlow, Outcome, StepSettings
from groundwire_pipelines.action_parts.ask_model import ask_once, complained
from groundwire_pipelines.action_parts.key_rules import broken
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.parsing.prefixes import (
    ROUTER_PREFIXES,
    RouterChoice,
    parse_answer_reply,
    parse_choice,
    parse_router_choice,
)
from groundwire_pipelines.parsing.search_query import query_problem
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.settings import PipelineSettings
from groundwire_pipelines.state import PipelineState

_ROUTER_TRANSITIONS = tuple(f"on_{mode}" for mode in ROUTER_PREFIXES)
_ANSWER_TRANSITIONS = ("on_answer", "on_request")


def _clear(prefixes: dict[str, str] | None) -> dict[str, str] | None:
    """Checks that no prefix begins with another one, and that none has white space around it."""
    for prefix in prefixes or ():
        if prefix != prefix.strip() or len(prefix.splitlines()) != 1:
            raise broken("prefix-unreadable", f"{prefix!r} must be one line that begins and ends with no space")
    for prefix, other in permutations(prefixes or (), 2):
        if other.startswith(prefix):
            raise broken("prefix-ambiguous", f"{other!r} begins with the prefix {prefix!r}: end it with a sign like ]")
    return prefixes


class HandlePrefixSettings(StepSettings):
    """Keys of `handle_prefix`."""

    protocol: Literal["router", "answer"] | None = None
    """The protocol of the answer's prefixes, which also decides the step's transitions."""
    prefixes: Annotated[
        Annotated[dict[str, Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$")]], Field(min_length=1)] | None,
        AfterValidator(_clear),
    ] = None
    """The prefixes of a router of your own, instead of `protocol`, each with a name: with `"[CODE:]": code` an answer
    that begins with `[CODE:]` ends with `on_code`."""

    @model_validator(mode="after")
    def _one_table(self) -> Self:
        if (self.protocol is None) == (self.prefixes is None):
            raise broken("protocol-or-prefixes", "give the step either protocol or prefixes")
        return self


def _transitions(settings: HandlePrefixSettings) -> tuple[str, ...]:
    if settings.prefixes is not None:
        return tuple(dict.fromkeys(f"on_{name}" for name in settings.prefixes.values()))
    return _ROUTER_TRANSITIONS if settings.protocol == "router" else _ANSWER_TRANSITIONS


async def run(settings: HandlePrefixSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    """Strips the prefix from `last_model_response`.

    A router's choice sets `retrieval_mode` and `rewritten_question`; an answer sets `final_answer_en`. Either clears
    `model_answer`. If the answer of a `call_model` step cannot be read, or its query is empty or too long, the model is
    asked once more with the problem.
    The pieces of the second answer replace those that `on_answer` got of the first.

    Raises:
        StepError: `prefix-malformed`; `query-unusable`; `mode-not-supported` for a mode that the settings do not allow;
            what a model call raises.
    """
    try:
        return _read(settings, state, runtime)
    except StepError as error:
        call = state.answered_call
        if call is None or call.answer != state.last_model_response:
            raise
        problem = error
    request = complained(call.request, call.answer, problem.message)
    answer = await ask_once(runtime, request, streamed_for=state if settings.protocol == "answer" else None)
    state.last_model_response, state.answered_call = answer, None
    state.outputs = {**state.outputs, call.output: answer}
    outcome = _read(settings, state, runtime, is_last=True)
    return replace(outcome, detail={**outcome.detail, "asked_again": problem.rule})


def _read(settings: HandlePrefixSettings, state: PipelineState, runtime: Runtime, *, is_last: bool = False) -> Outcome:
    if settings.protocol == "answer":
        return _take_answer(state, is_last=is_last)
    if settings.prefixes is not None:
        return _take_choice(parse_choice(state.last_model_response, settings.prefixes), state)
    choice = parse_router_choice(state.last_model_response)
    supported = (*runtime.settings.retrieval_modes, "direct")
    if choice.mode not in supported:
        raise StepError(
            "mode-not-supported",
            f"the router chose {choice.mode!r}, and settings.retrieval_modes has only {', '.join(supported[:-1])}",
        )
    if choice.mode != "direct":
        _check_query(choice.query)
    return _take_choice(choice, state)


def _check_query(text: str) -> None:
    if problem := query_problem(text):
        raise StepError("query-unusable", problem)


def _take_choice(choice: RouterChoice, state: PipelineState) -> Outcome:
    state.retrieval_mode, state.rewritten_question = choice.mode, choice.query
    state.last_model_response, state.model_answer = choice.query, ""
    return Outcome(f"on_{choice.mode}", {"mode": choice.mode})


def _take_answer(state: PipelineState, *, is_last: bool) -> Outcome:
    """The answer, or the request. A model that answers twice with a prefix in it quotes that prefix."""
    reply = parse_answer_reply(state.last_model_response, may_repeat=is_last)
    if not reply.is_final:
        _check_query(reply.text)
    state.last_model_response, state.model_answer = reply.text, ""
    if reply.is_final:
        state.final_answer_en = "\n\n".join(filter(None, (state.incomplete, reply.text)))
        return Outcome("on_answer")
    return Outcome("on_request")


def _data(settings: HandlePrefixSettings) -> DataFlow:
    reads = ("last_model_response",)
    if settings.protocol == "answer":
        return DataFlow(reads, reads, {"on_answer": ("final_answer_en",)}, clears=("model_answer",))
    return DataFlow(
        reads, writes=("last_model_response", "retrieval_mode", "rewritten_question"), clears=("model_answer",)
    )


def _idle(settings: HandlePrefixSettings, pipeline: PipelineSettings) -> frozenset[str]:
    """The transitions of modes that the pipeline does not have: a step whose router chooses one of them fails."""
    if settings.protocol != "router":
        return frozenset()
    return frozenset(_ROUTER_TRANSITIONS) - {f"on_{mode}" for mode in (*pipeline.retrieval_modes, "direct")}


ACTION = Action(
    name="handle_prefix",
    summary="Parses the router's or the answer's prefix and branches on it.",
    settings=HandlePrefixSettings,
    run=run,
    transitions=(*_ROUTER_TRANSITIONS, *_ANSWER_TRANSITIONS),
    transitions_of=_transitions,
    idle_of=_idle,
    data_of=_data,
)
