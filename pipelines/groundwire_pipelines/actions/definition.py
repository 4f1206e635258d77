"""What an action is: a name, the keys its steps may have, the ways out of it, and what it does."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState


class StepSettings(BaseModel):
    """The keys of a step besides `id`, `action` and its transitions; each action extends it with its own."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


Settings = TypeVar("Settings", bound=StepSettings)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a step ended: the transition it chose, and what its trace tells (names and counts, short values)."""

    transition: str = "next"
    detail: Mapping[str, str | int | float | bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Action(Generic[Settings]):
    """An action of the registry.

    `transitions` are the names of the ways out, in the order of the documentation: `next`, or `on_...` where the step's
    outputs decide; a step must name a target for each, except that an action whose transitions are empty ends the run.
    `transitions_of`, where an action has it, tells them for one step from its keys, each of them one of `transitions`.
    `required_settings` are the pipeline settings that must not be absent for any step of this action; `settings_needed`
    tells more of them for one step, from its keys. `prompts_of` tells the prompt files that one step uses, each with
    the names of the variables that it fills in, so that they can be checked before anything runs. `run` reads and
    writes the state and raises StepError when a rule of the contract is broken.
    """

    name: str
    summary: str
    settings: type[Settings]
    run: Callable[[Settings, PipelineState, Runtime], Awaitable[Outcome]]
    transitions: tuple[str, ...] = ("next",)
    required_settings: tuple[str, ...] = ()
    settings_needed: Callable[[Settings], tuple[str, ...]] = lambda _: ()
    transitions_of: Callable[[Settings], tuple[str, ...]] | None = None
    prompts_of: Callable[[Settings], Mapping[str, frozenset[str]]] = lambda _: {}
    guards_loops: bool = False
