"""A registry of a few actions that do nothing, for tests of what pipelines may look like."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from groundwire_pipelines.action_definition import Action, Outcome, StepSettings
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState


class SearchKeys(StepSettings):
    search_type: Literal["semantic", "bm25", "hybrid"]
    top_k: Annotated[int | None, Field(ge=1)] = None
    depth: int | None = None
    weight: float = 1.0
    fields: tuple[str, ...] = ()
    boosts: dict[str, float] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _weighted_hybrid(self) -> "SearchKeys":
        if self.weight != 1.0 and self.search_type != "hybrid":
            raise ValueError("`weight` is for hybrid searches")
        return self


class AskKeys(StepSettings):
    prompt: str


class BranchKeys(StepSettings):
    protocol: Literal["router", "answer"]


async def _run(settings: StepSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    raise AssertionError("definitions are loaded, never run")


def _needed(keys: SearchKeys) -> tuple[str, ...]:
    return () if keys.top_k else ("top_k",)


SMALL_REGISTRY: Mapping[str, Action[Any]] = {
    "search": Action("search", "Searches.", SearchKeys, _run, settings_needed=_needed),
    "ask": Action("ask", "Asks.", AskKeys, _run, prompts_of=lambda keys: {keys.prompt: frozenset({"question"})}),
    "branch": Action(
        "branch",
        "Branches by a protocol.",
        BranchKeys,
        _run,
        transitions=("on_left", "on_right", "on_answer"),
        transitions_of=lambda keys: ("on_left", "on_right") if keys.protocol == "router" else ("on_answer",),
    ),
    "check": Action("check", "Checks.", StepSettings, _run, transitions=("on_ok", "on_over_limit")),
    "guard": Action(
        "guard",
        "Guards a loop.",
        StepSettings,
        _run,
        transitions=("on_continue", "on_limit"),
        required_settings=("max_turn_loops",),
        guards_loops=True,
    ),
    "stop": Action("stop", "Ends the run.", StepSettings, _run, transitions=()),
}
