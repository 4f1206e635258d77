"""Steps ready to run: each with its action, and its keys in the types that the action takes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue, ValidationError
from pydantic_core import ErrorDetails

from groundwire_pipelines.action_definition import Action, StepSettings
from groundwire_pipelines.definition.file_models import StepDefinition
from groundwire_pipelines.definition.pipeline_definition import PipelineDefinition
from groundwire_pipelines.definition.references import resolved
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.validation.findings import parsed


@dataclass(frozen=True, slots=True)
class BoundStep:
    """A step that is ready to run."""

    definition: StepDefinition
    action: Action[Any]
    settings: StepSettings

    @property
    def transitions(self) -> tuple[str, ...]:
        """The names of the transitions that the step may choose."""
        transitions_of = self.action.transitions_of
        return self.action.transitions if transitions_of is None else transitions_of(self.settings)


def bind(definition: PipelineDefinition, actions: Mapping[str, Action[Any]]) -> Mapping[str, BoundStep]:
    """The steps by id.

    Loading a pipeline reports all such problems with their places in the files; this checks a pipeline that was
    constructed in memory.

    Raises:
        StepError: `action-unknown`; the rule of the action that a key breaks; `<key>-missing`, `<key>-unknown` or
            `<key>-malformed` for a rule of all actions; `settings-key-...` if a key names no usable setting.
    """
    settings = definition.settings.values
    return {step.id: _bound(step, actions, settings) for step in definition.steps.values()}


def _bound(
    step: StepDefinition, actions: Mapping[str, Action[Any]], pipeline_settings: Mapping[str, JsonValue]
) -> BoundStep:
    action = actions.get(step.action)
    if action is None:
        raise StepError("action-unknown", f"there is no action {step.action!r}", step.id)
    keys = resolved(step.raw, pipeline_settings)
    for broken in keys.broken:
        raise StepError(broken.rule, f"{broken.key}: {broken.message}", step.id)
    try:
        settings = parsed(action.settings, keys.values)
    except ValidationError as error:
        raise _broken_rule(error.errors()[0], step.id) from error
    return BoundStep(step, action, settings)


def _broken_rule(problem: ErrorDetails, step_id: str) -> StepError:
    path = ".".join(map(str, problem["loc"]))
    message = f"{path}: {problem['msg']}" if path else problem["msg"]
    kind = problem["type"]
    if "-" in kind:
        return StepError(kind, message, step_id)
    key = str(problem["loc"][0]).replace("_", "-") if problem["loc"] else "step"
    ending = {"missing": "missing", "extra_forbidden": "unknown"}.get(kind, "malformed")
    return StepError(f"{key}-{ending}", message, step_id)
