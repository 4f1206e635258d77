"""The checks of one step: action, keys, transitions, and the settings and prompts that it needs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from groundwire_pipelines.action_definition import Action, DataFlow, StepSettings, is_error_transition
from groundwire_pipelines.definition.file_models import StepDefinition
from groundwire_pipelines.definition.merging import PipelineDraft
from groundwire_pipelines.definition.references import SUFFIX, ResolvedKeys, resolved
from groundwire_pipelines.prompts import PromptFolders
from groundwire_pipelines.settings import PipelineSettings
from groundwire_pipelines.validation.findings import Findings, parsed
from groundwire_pipelines.wording import did_you_mean, listed


@dataclass(frozen=True, slots=True)
class CheckedStep:
    """A step without problems: the transitions that a run may take, with their targets, and its data and modes."""

    transitions: Mapping[str, str]
    data: DataFlow
    modes: tuple[str, ...]


class StepChecks:
    """Checks the steps of one pipeline; `settings` are those of the draft, None if they are invalid."""

    def __init__(
        self,
        draft: PipelineDraft,
        settings: PipelineSettings | None,
        actions: Mapping[str, Action[Any]],
        findings: Findings,
    ) -> None:
        self._draft = draft
        self._settings = settings
        self._actions = actions
        self._prompts = PromptFolders(draft.prompts)
        self._findings = findings
        defaults = {name: field.get_default() for name, field in PipelineSettings.model_fields.items()}
        self._values = settings.values if settings else {**defaults, **draft.settings}
        self._settings_used: set[str] = set()
        """The names of the settings that steps refer to, so far."""

    def check(self, step: StepDefinition) -> CheckedStep | None:
        """Reports the problems of one step; returns None if its transitions are not known for certain."""
        sound = [self.must_be_step(f"steps.{step.id}.{name}", target) for name, target in step.transitions.items()]
        action = self._actions.get(step.action)
        if action is None:
            hint = did_you_mean(step.action, self._actions) or f"; known are {listed(sorted(self._actions))}"
            self._findings.problem(f"steps.{step.id}.action", f"unknown action {step.action!r}{hint}")
            return None
        keys = self._resolved(step)
        settings = self._own_keys(step, action, keys) if self._from_settings(step, action) else None
        self._needed_settings(step, action.required_settings)
        if settings is None:
            if action.transitions_of is None:
                self._check_transitions(step, action, action.transitions, action.transitions)
            return None
        idle = action.idle_of(settings, self._settings) if self._settings else frozenset[str]()
        offered = action.transitions if action.transitions_of is None else action.transitions_of(settings)
        sound.append(self._check_transitions(step, action, offered, [name for name in offered if name not in idle]))
        self._needed_settings(step, action.settings_needed(settings))
        self._needed_prompts(step, action.prompts_of(settings))
        self._needed_schemas(step, action.schemas_of(settings))
        if not all(sound):
            return None
        transitions = {name: target for name, target in step.transitions.items() if name not in idle}
        return CheckedStep(transitions, action.data_of(settings), action.modes_of(settings))

    def must_be_step(self, key: str, step_id: str) -> bool:
        """Reports a key that names a step that does not exist."""
        if step_id in self._draft.steps:
            return True
        self._findings.problem(key, f"there is no step {step_id!r}{did_you_mean(step_id, self._draft.steps)}")
        return False

    def followers(self, step: StepDefinition) -> tuple[str, ...]:
        """The existing steps that may follow, by the transitions of the action, if it is known."""
        action = self._actions.get(step.action)
        return tuple(
            target
            for name, target in step.transitions.items()
            if target in self._draft.steps
            and (
                action is None
                or action.transitions_of is not None
                or name in action.transitions
                or is_error_transition(name)
            )
        )

    def _resolved(self, step: StepDefinition) -> ResolvedKeys:
        keys = resolved(step.raw, self._values)
        for broken in keys.broken:
            self._findings.problem(f"steps.{step.id}.{broken.key}", broken.message)
        self._settings_used.update(name.partition(".")[0] for name in keys.sources.values())
        return keys

    def _from_settings(self, step: StepDefinition, action: Action[Any]) -> bool:
        """True if the step takes the keys from settings that its action wants from there; reports problems."""
        literal = [key for key in action.from_settings if key in step.raw]
        missing = [key for key in action.from_settings if not {key, f"{key}{SUFFIX}"} & step.raw.keys()]
        for key in literal:
            rule = f"is given as a value; name a setting that has it: {key}{SUFFIX}: <name>"
            self._findings.problem(f"steps.{step.id}.{key}", rule)
        for key in missing:
            name = f"{key}{SUFFIX}"
            self._findings.problem(f"steps.{step.id}.{name}", self._findings.missing(step.id, name))
        return not literal and not missing

    def _own_keys(self, step: StepDefinition, action: Action[Any], keys: ResolvedKeys) -> StepSettings | None:
        model: type[StepSettings] = action.settings
        if keys.broken:
            return None
        try:
            return parsed(model, keys.values)
        except ValidationError as error:
            besides = ("id", "action", *action.transitions)
            self._findings.broken_rules(error, f"steps.{step.id}", model, besides, keys.sources)
            return None

    def _check_transitions(
        self, step: StepDefinition, action: Action[Any], offered: Iterable[str], needed: Iterable[str]
    ) -> bool:
        """True if the step has all transitions that its action needs, and no others; reports problems."""
        missing = [name for name in needed if name not in step.transitions]
        unknown = [name for name in step.transitions if name not in offered and not is_error_transition(name)]
        for name in missing:
            rule = f"{self._findings.missing(step.id, name)}; it must name the step that follows"
            self._findings.problem(f"steps.{step.id}.{name}", rule)
        for name in unknown:
            hint = did_you_mean(name, missing) or f"; it has {listed(offered)}"
            self._findings.problem(f"steps.{step.id}.{name}", f"{step.action!r} has no such transition{hint}")
        return not missing and not unknown

    def _needed_settings(self, step: StepDefinition, names: Iterable[str]) -> None:
        for name in dict.fromkeys(names):
            self._settings_used.add(name)
            if self._values.get(name) in (None, "", [], ()):
                message = f"is missing; the step {step.id!r} ({step.action}) needs it"
                self._findings.problem(f"settings.{name}", message, at=(f"steps.{step.id}",))

    def _needed_prompts(self, step: StepDefinition, prompts: Mapping[str, frozenset[str]]) -> None:
        for name, variables in prompts.items():
            for wrong in self._prompts.problems(name, variables):
                self._findings.problem(_key_of(step, name), f"prompt {name!r}: {wrong}")

    def _needed_schemas(self, step: StepDefinition, names: Iterable[str]) -> None:
        for name in names:
            if wrong := self._prompts.schema_problem(name):
                self._findings.problem(_key_of(step, name), wrong)


def _key_of(step: StepDefinition, value: str) -> str:
    """The path of the step's key that holds a value, or of the step if none does."""
    return next((f"steps.{step.id}.{key}" for key, given in step.raw.items() if given == value), f"steps.{step.id}")
