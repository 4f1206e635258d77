"""The definition of an action: its name, the keys of its steps, its transitions, and its function."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.settings import PipelineSettings
from groundwire_pipelines.state import PipelineState


class KeyGroup(BaseModel):
    """A group of keys: those of a step, or those below one of its keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True)


class Retry(KeyGroup):
    """How often a step is tried again after a temporary error, such as an overloaded server."""

    tries: Annotated[int, Field(ge=2, le=10)]
    """The number of tries in all."""
    pause_seconds: Annotated[float, Field(gt=0, le=600)] = 1.0
    """The pause before the second try; each later pause is twice as long."""

    @property
    def pauses(self) -> tuple[float, ...]:
        """Seconds to wait before each try but the first."""
        return tuple(self.pause_seconds * 2**number for number in range(self.tries - 1))


class StepSettings(KeyGroup):
    """The keys of a step besides `id`, `action` and its transitions; each action extends it with its own."""

    retry: Retry | None = None
    """Tries the step again after temporary errors; without it, the first error ends the step."""


ON_ERROR: Final = "on_error"
"""The transition that any step may have for its errors; `on_error.<rule>` is for one rule, and takes precedence."""

ERROR_FIELDS: Final = ("error_step", "error_rule", "error_message")
"""The fields of the state that describe the last error that a step's `on_error` handled."""


def is_error_transition(name: str) -> bool:
    """True if a transition is taken after an error."""
    return name == ON_ERROR or name.startswith(f"{ON_ERROR}.")


Settings = TypeVar("Settings", bound=StepSettings)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a step: the transition that it chose, and details for its trace (names, counts, short values)."""

    transition: str = "next"
    detail: Mapping[str, str | int | float | bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DataFlow:
    """The fields of the run's state that one step reads and writes, to check that each read field is written before.

    Names are fields of PipelineState, or `field.key` for one entry of a field that is a mapping (`outputs.plan`).
    `reads` are the fields that the step needs; an entry with several names needs one of them. `writes` are those that
    it sets with every transition, `writes_on` those that it sets with one transition only. `clears` are those that it
    empties first.
    """

    reads: tuple[str | tuple[str, ...], ...] = ()
    writes: tuple[str, ...] = ()
    writes_on: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    clears: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Action(Generic[Settings]):
    """An action of the registry. The functions of an action take the keys of one step."""

    name: str
    summary: str
    settings: type[Settings]
    """The model of its steps' keys."""
    run: Callable[[Settings, PipelineState, Runtime], Awaitable[Outcome]]
    """Does what the action does. Raises StepError if a rule is broken."""
    transitions: tuple[str, ...] = ("next",)
    """Their names, in the order of the documentation: `next`, or `on_...` if the step's result decides. A step must
    name a target for each. An action without transitions ends the run."""
    from_settings: tuple[str, ...] = ()
    """The keys that a step must take from settings by `<key>_from_settings`: a pipeline's file gives no value there."""
    required_settings: tuple[str, ...] = ()
    """The pipeline's settings that every step of the action needs."""
    settings_needed: Callable[[Settings], tuple[str, ...]] = lambda _: ()
    """Further settings that one step needs."""
    transitions_of: Callable[[Settings], tuple[str, ...]] | None = None
    """The transitions of one step, if they depend on its keys; they may include others than `transitions`."""
    idle_of: Callable[[Settings, PipelineSettings], frozenset[str]] = lambda _, __: frozenset()
    """The transitions that no run takes under the pipeline's settings; a step need not name their targets."""
    modes_of: Callable[[Settings], tuple[str, ...]] = lambda _: ()
    """Retrieval modes; the pipeline's `retrieval_modes` must have one of them."""
    prompts_of: Callable[[Settings], Mapping[str, frozenset[str]]] = lambda _: {}
    """The prompts that one step uses, each with its variables, to be checked before a run."""
    schemas_of: Callable[[Settings], tuple[str, ...]] = lambda _: ()
    """The files of JSON Schemas that one step uses, to be checked before a run."""
    data_of: Callable[[Settings], DataFlow] = lambda _: DataFlow()
    """The fields that one step reads and writes.

    A field that a step reads must be declared as written by steps before it.
    """
    guards_loops: bool = False
