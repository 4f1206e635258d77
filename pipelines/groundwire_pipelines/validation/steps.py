"""The checks of one step: action, keys, ways out, and what it needs of the pipeline's settings and prompts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from groundwire_pipelines.actions.definition import Action, DataFlow, StepSettings, is_error_way
from groundwire_pipelines.definition.merging import PipelineDraft
from groundwire_pipelines.definition.model import StepDefinition
from groundwire_pipelines.definition.references import ResolvedKeys, resolved
from groundwire_pipelines.definition.wording import did_you_mean, listed
from groundwire_pipelines.prompts import PromptFolders
from groundwire_pipelines.settings import PipelineSettings
from groundwire_pipelines.validation.findings import Findings
from groundwire_pipelines.validation.models import parsed


@dataclass(frozen=True, slots=True)
class CheckedStep:
    """A step with nothing wrong about it: the ways that a run may take, with their targets, and what it does."""

    ways: Mapping[str, str]
    data: DataFlow
    modes: tuple[str, ...]


class StepChecks:
    """Checks the steps of one pipeline; `settings` are those of the draft, None where they are wrong themselves.

    `settings_used` are the names of the settings that steps refer to, so far.
    """

    def __init__(
        self,
        draft: PipelineDraft,
        settings: PipelineSettings | None,
        actions: Mapping[str, Action[Any]],
        prompts: PromptFolders,
        findings: Findings,
    ) -> None:
        self._draft = draft
        self._settings = settings
        self._actions = actions
        self._prompts = prompts
        self._findings = findings
        defaults = {name: field.get_default() for name, field in PipelineSettings.model_fields.items()}
        self._values = settings.values if settings else {**defaults, **draft.settings}
        self.settings_used: set[str] = set()

    def check(self, step: StepDefinition) -> CheckedStep | None:
        """Tells what is wrong with one step; None when its ways out are not known for sure."""
        sound = [self.must_be_step(f"steps.{step.id}.{name}", target) for name, target in step.transitions.items()]
        action = self._actions.get(step.action)
        if action is None:
            hint = did_you_mean(step.action, self._actions) or f"; known are {listed(sorted(self._actions))}"
            self._findings.problem(f"steps.{step.id}.action", f"unknown action {step.action!r}{hint}")
            return None
        keys = self._resolved(step)
        settings = self._own_keys(step, action, keys)
        self._needed_settings(step, action.required_settings)
        if settings is None:
            if action.transitions_of is None:
                self._ways_out(step, action, action.transitions, action.transitions)
            return None
        idle = action.idle_of(settings, self._settings) if self._settings else frozenset[str]()
        offered = action.transitions if action.transitions_of is None else action.transitions_of(settings)
        sound.append(self._ways_out(step, action, offered, [name for name in offered if name not in idle]))
        self._needed_settings(step, action.settings_needed(settings))
        self._needed_prompts(step, action.prompts_of(settings))
        self._needed_schemas(step, action.schemas_of(settings))
        if not all(sound):
            return None
        ways = {name: target for name, target in step.transitions.items() if name not in idle}
        return CheckedStep(ways, action.data_of(settings), action.modes_of(settings))

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
            and (
                action is None or action.transitions_of is not None or name in action.transitions or is_error_way(name)
            )
        )

    def _resolved(self, step: StepDefinition) -> ResolvedKeys:
        keys = resolved(step.raw, self._values)
        for broken in keys.broken:
            self._findings.problem(f"steps.{step.id}.{broken.key}", broken.message)
        self.settings_used.update(name.partition(".")[0] for name in keys.sources.values())
        return keys

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

    def _ways_out(
        self, step: StepDefinition, action: Action[Any], offered: Iterable[str], needed: Iterable[str]
    ) -> bool:
        """Whether the step has the ways out that its action needs, and none that it does not offer."""
        missing = [name for name in needed if name not in step.transitions]
        unknown = [name for name in step.transitions if name not in offered and not is_error_way(name)]
        for name in missing:
            told = f"{self._findings.missing(step.id, name)}; it must name the step that follows"
            self._findings.problem(f"steps.{step.id}.{name}", told)
        for name in unknown:
            hint = did_you_mean(name, missing) or f"; it has {listed(offered)}"
            self._findings.problem(f"steps.{step.id}.{name}", f"{step.action!r} has no such way out{hint}")
        return not missing and not unknown

    def _needed_settings(self, step: StepDefinition, names: Iterable[str]) -> None:
        for name in dict.fromkeys(names):
            self.settings_used.add(name)
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
    """The path of the step's key that holds a value, or of the step where none does."""
    return next((f"steps.{step.id}.{key}" for key, given in step.raw.items() if given == value), f"steps.{step.id}")
