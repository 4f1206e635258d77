"""What an action is: a name, the keys its steps may have, the ways out of it, and what it does."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.settings import PipelineSettings
from groundwire_pipelines.state import PipelineState


class KeyGroup(BaseModel):
    """Keys that belong together: those of a step, or those below one of them."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True)


class Retry(KeyGroup):
    """How often a step is tried again after an error that may pass, such as a server that is overloaded."""

    tries: Annotated[int, Field(ge=2, le=10)]
    """How often to try in all."""
    pause_seconds: Annotated[float, Field(gt=0, le=600)] = 1.0
    """How long to wait before the second try; each later pause is doubled."""

    @property
    def pauses(self) -> tuple[float, ...]:
        """Seconds to wait before each try but the first."""
        return tuple(self.pause_seconds * 2**number for number in range(self.tries - 1))


class StepSettings(KeyGroup):
    """The keys of a step besides `id`, `action` and its transitions; each action extends it with its own."""

    retry: Retry | None = None
    """Tries the step again after errors that may pass; the first one ends it when absent."""


ERROR_WAY: Final = "on_error"
"""The way out that any step may have for its errors; `on_error.<rule>` is that for one rule, and wins."""

ERROR_FIELDS: Final = ("error_step", "error_rule", "error_message")
"""The fields of the state that tell of the last error that a step's `on_error` took."""


def is_error_way(name: str) -> bool:
    """Whether a way out is taken after an error."""
    return name == ERROR_WAY or name.startswith(f"{ERROR_WAY}.")


Settings = TypeVar("Settings", bound=StepSettings)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a step ended: the transition it chose, and what its trace tells (names and counts, short values)."""

    transition: str = "next"
    detail: Mapping[str, str | int | float | bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DataFlow:
    """What one step does with the run's state, for the check that all it reads was written on every way to it.

    Names are fields of PipelineState, or `field.key` for one entry of a field that is a mapping (`outputs.plan`).
    `reads` are the fields without which the step fails or makes no sense; an entry with several names needs one of
    them. `writes` are those that it sets whatever way it leaves by, `writes_on` those that it sets on one way out
    alone. `clears` are those that it empties first.
    """

    reads: tuple[str | tuple[str, ...], ...] = ()
    writes: tuple[str, ...] = ()
    writes_on: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    clears: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Action(Generic[Settings]):
    """An action of the registry.

    `transitions` are the names of the ways out, in the order of the documentation: `next`, or `on_...` where the step's
    outputs decide; a step must name a target for each, except that an action whose transitions are empty ends the run.
    `transitions_of`, where an action has it, tells them for one step from its keys, which may name ways of their own
    besides `transitions`. `idle_of` tells those that no run takes under the pipeline's settings; a step need not name
    their targets. `modes_of` tells the retrieval modes of which a step needs one among the pipeline's
    `retrieval_modes`. `required_settings` are the pipeline settings that must not be absent for any step of this
    action; `settings_needed` tells more of them for one step, from its keys. `prompts_of` tells the prompt files that
    one step uses, each with the names of the variables that it fills in, and `schemas_of` the files of JSON Schemas, so
    that they can be checked before anything runs. `data_of` tells what
    a step reads and writes of the state: a reader whose writer declares nothing is refused. `run` does so, and raises
    StepError when a rule of the contract is broken.
    """

    name: str
    summary: str
    settings: type[Settings]
    run: Callable[[Settings, PipelineState, Runtime], Awaitable[Outcome]]
    transitions: tuple[str, ...] = ("next",)
    required_settings: tuple[str, ...] = ()
    settings_needed: Callable[[Settings], tuple[str, ...]] = lambda _: ()
    transitions_of: Callable[[Settings], tuple[str, ...]] | None = None
    idle_of: Callable[[Settings, PipelineSettings], frozenset[str]] = lambda _, __: frozenset()
    modes_of: Callable[[Settings], tuple[str, ...]] = lambda _: ()
    prompts_of: Callable[[Settings], Mapping[str, frozenset[str]]] = lambda _: {}
    schemas_of: Callable[[Settings], tuple[str, ...]] = lambda _: ()
    data_of: Callable[[Settings], DataFlow] = lambda _: DataFlow()
    guards_loops: bool = False
