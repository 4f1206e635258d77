"""`handle_prefix`: reads the prefix of the model's last answer and branches on it (seed 001, Appendix A)."""

from typing import Annotated, Literal

from pydantic import Field

from groundwire_pipelines.actions.definition import Action, DataFlow, Outcome, StepSettings
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.parsing.prefixes import ROUTER_PREFIXES, parse_answer_reply, parse_router_choice
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.settings import PipelineSettings
from groundwire_pipelines.state import PipelineState

_ROUTER_TRANSITIONS = tuple(f"on_{mode}" for mode in ROUTER_PREFIXES)
_ANSWER_TRANSITIONS = ("on_answer", "on_request")


class HandlePrefixSettings(StepSettings):
    """Keys of `handle_prefix`."""

    protocol: Annotated[
        Literal["router", "answer"],
        Field(description="Which prefixes the answer may have, and so which ways lead out of the step."),
    ]


async def run(settings: HandlePrefixSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    """Strips the prefix from `last_model_response`.

    The router's choice sets `retrieval_mode`; an answer sets `final_answer_en`.

    Raises:
        StepError: `prefix-malformed`; `mode-not-supported` for a mode that the settings do not admit.
    """
    if settings.protocol == "answer":
        return _take_answer(state)
    return _take_router_choice(state, runtime)


def _take_router_choice(state: PipelineState, runtime: Runtime) -> Outcome:
    choice = parse_router_choice(state.last_model_response)
    supported = (*runtime.settings.retrieval_modes, "direct")
    if choice.mode not in supported:
        raise StepError(
            "mode-not-supported",
            f"the router chose {choice.mode!r}, and settings.retrieval_modes has only {', '.join(supported[:-1])}",
        )
    state.retrieval_mode, state.last_model_response = choice.mode, choice.query
    return Outcome(f"on_{choice.mode}", {"mode": choice.mode})


def _take_answer(state: PipelineState) -> Outcome:
    reply = parse_answer_reply(state.last_model_response)
    state.last_model_response = reply.text
    if reply.is_final:
        state.final_answer_en = reply.text
        return Outcome("on_answer")
    return Outcome("on_request")


def _data(settings: HandlePrefixSettings) -> DataFlow:
    reads = ("last_model_response",)
    if settings.protocol == "router":
        return DataFlow(reads, writes=("retrieval_mode", "last_model_response"))
    return DataFlow(reads, writes=("last_model_response",), writes_on={"on_answer": ("final_answer_en",)})


def _idle(settings: HandlePrefixSettings, pipeline: PipelineSettings) -> frozenset[str]:
    """The ways of modes that the pipeline does not have: a router that chooses one of them fails."""
    taken = {f"on_{mode}" for mode in (*pipeline.retrieval_modes, "direct")}
    return frozenset(_ROUTER_TRANSITIONS) - taken if settings.protocol == "router" else frozenset()


ACTION = Action(
    name="handle_prefix",
    summary="Parses the router's or the answer's prefix and branches on it.",
    settings=HandlePrefixSettings,
    run=run,
    transitions=(*_ROUTER_TRANSITIONS, *_ANSWER_TRANSITIONS),
    transitions_of=lambda settings: _ROUTER_TRANSITIONS if settings.protocol == "router" else _ANSWER_TRANSITIONS,
    idle_of=_idle,
    data_of=_data,
)
