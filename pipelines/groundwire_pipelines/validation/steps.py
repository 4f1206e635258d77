"""The checks of one step: action, keys, ways out, and what it needs of the pipeline's settings and prompts."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from groundwire_pipelines.actions.definition import Action, StepSettings
from groundwire_pipelines.definition.merging import PipelineDraft
from groundwire_pipelines.definition.model import StepDefinition
from groundwire_pipelines.definition.wording import did_you_mean, listed
from groundwire_pipelines.prompts import PromptFolders
from groundwire_pipelines.settings import PipelineSettings
from groundwire_pipelines.validation.findings import Findings
from groundwire_pipelines.validation.models import explained, parsed


class StepChecks:
    """Checks the steps of one pipeline.

    `ways_out_are_sound` turns false at the first step whose followers are not known for sure.
    """

    def __init__(
        self, draft: PipelineDraft, actions: Mapping[str, Action[Any]], prompts: PromptFolders, findings: Findings
    ) -> None:
        self._draft = draft
        self._actions = actions
        self._prompts = prompts
        self._findings = findings
        self.ways_out_are_sound = True

    def check(self, step: StepDefinition) -> None:
        """Tells what is wrong with one step."""
        for name, target in step.transitions.items():
            if not self.must_be_step(f"steps.{step.id}.{name}", target):
                self.ways_out_are_sound = False
        action = self._actions.get(step.action)
        if action is None:
            hint = did_you_mean(step.action, self._actions) or f"; known are {listed(sorted(self._actions))}"
            self._findings.problem(f"steps.{step.id}.action", f"unknown action {step.action!r}{hint}")
            self.ways_out_are_sound = False
            return
        settings = self._own_keys(step, action)
        self._ways_out(step, action, settings)
        self._needed_settings(step, action.required_settings)
        if settings is not None:
            self._needed_settings(step, action.settings_needed(settings))
            self._needed_prompts(step, action.prompts_of(settings))
            self._needed_schemas(step, action.schemas_of(settings))

    def must_be_step(self, key: str, step_id: str) -> bool:
        """Tells where a key names a step that there is not."""
        if step_id in self._draft.steps:
            return True
        self._findings.problem(key, f"there is no step {step_id!r}{did_you_mean(step_id, self._draft.steps)}")
        return False

    def followers(self, step: StepDefinition) -> tuple[str, ...]:
        """The steps that there are and that may follow, by ways out that the action has, as far as it is known."""
        action = self._actions.get(step.action)
        return tuple(
            target
            for name, target in step.transitions.items()
            if target in self._draft.steps
            and (action is None or action.transitions_of is not None or name in action.transitions)
        )

    def _own_keys(self, step: StepDefinition, action: Action[Any]) -> StepSettings | None:
        model: type[StepSettings] = action.settings
        try:
            return parsed(model, step.raw)
        except ValidationError as error:
            known = ("id", "action", *action.transitions, *model.model_fields)
            self._findings.problems += explained(error, f"steps.{step.id}", known, self._draft.origins, step.origin)
            return None

    def _ways_out(self, step: StepDefinition, action: Action[Any], settings: StepSettings | None) -> None:
        needed: tuple[str, ...] = action.transitions
        if action.transitions_of is not None:
            if settings is None:
                self.ways_out_are_sound = False
                return
            needed = action.transitions_of(settings)
        for name in needed:
            if name not in step.transitions:
                self._findings.problem(f"steps.{step.id}.{name}", "is missing; it must name the step that follows")
                self.ways_out_are_sound = False
        for name in step.transitions:
            if name not in needed:
                missing = [other for other in needed if other not in step.transitions]
                hint = did_you_mean(name, missing) or f"; it has {listed(needed)}"
                self._findings.problem(f"steps.{step.id}.{name}", f"{step.action!r} has no such way out{hint}")
                self.ways_out_are_sound = False

    def _needed_settings(self, step: StepDefinition, names: Iterable[str]) -> None:
        for name in dict.fromkeys(names):
            own_key = _key_of(step, name)
            if name not in PipelineSettings.model_fields:
                hint = did_you_mean(name, PipelineSettings.model_fields)
                self._findings.problem(own_key, f"there is no setting {name!r}{hint}")
            elif self._is_absent(name):
                message = f"is missing; the step {step.id!r} ({step.action}) needs it"
                self._findings.problem(f"settings.{name}", message, at=own_key)

    def _needed_prompts(self, step: StepDefinition, prompts: Mapping[str, frozenset[str]]) -> None:
        for name, variables in prompts.items():
            for wrong in self._prompts.problems(name, variables):
                self._findings.problem(_key_of(step, name), f"prompt {name!r}: {wrong}")

    def _needed_schemas(self, step: StepDefinition, names: Iterable[str]) -> None:
        for name in names:
            if wrong := self._prompts.schema_problem(name):
                self._findings.problem(_key_of(step, name), wrong)

    def _is_absent(self, name: str) -> bool:
        default = PipelineSettings.model_fields[name].get_default()
        return self._draft.settings.get(name, default) in (None, "", [], ())


def _key_of(step: StepDefinition, value: str) -> str:
    """The path of the step's key that holds a value, or of the step where none does."""
    return next((f"steps.{step.id}.{key}" for key, given in step.raw.items() if given == value), f"steps.{step.id}")
