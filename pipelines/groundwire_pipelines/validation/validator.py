"""Every check of a merged pipeline that can be made before it runs."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from groundwire_pipelines.actions.definition import Action
from groundwire_pipelines.definition.merging import PipelineDraft
from groundwire_pipelines.definition.model import PipelineDefinition, StepDefinition
from groundwire_pipelines.definition.wording import did_you_mean, listed
from groundwire_pipelines.errors import DefinitionError, Problem
from groundwire_pipelines.settings import PipelineSettings
from groundwire_pipelines.validation import flow
from groundwire_pipelines.validation.step_settings import explained, parse_step_settings, parsed


def validated(draft: PipelineDraft, actions: Mapping[str, Action[Any]]) -> PipelineDefinition:
    """The pipeline, once nothing is wrong with it.

    Args:
        draft: The merged pipeline.
        actions: The registry.

    Raises:
        DefinitionError: Something is wrong; names everything that is.
    """
    validator = _Validator(draft, actions)
    settings = validator.settings()
    for step in draft.steps.values():
        validator.step(step)
    validator.entry()
    validator.flow()
    if settings is None or validator.problems:
        raise DefinitionError(tuple(validator.problems))
    return PipelineDefinition(
        name=draft.name,
        settings=settings,
        steps=draft.steps,
        origins=draft.origins,
        prompts=tuple(dict.fromkeys(file.parent / "prompts" for file in draft.files)),
        warnings=tuple(validator.warnings),
    )


class _Validator:
    def __init__(self, draft: PipelineDraft, actions: Mapping[str, Action[Any]]) -> None:
        self._draft = draft
        self._actions = actions
        self._graph_is_whole = bool(draft.steps)
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []

    def settings(self) -> PipelineSettings | None:
        draft = self._draft
        try:
            return parsed(PipelineSettings, draft.settings)
        except ValidationError as error:
            known = tuple(PipelineSettings.model_fields)
            self.problems += explained(error, "settings", known, draft.origins, draft.origin)
            return None

    def entry(self) -> None:
        if not self._draft.steps:
            self._problem("steps", "the pipeline has no steps")
            return
        entry = self._draft.settings.get("entry_step_id")
        if isinstance(entry, str) and entry:
            self._must_be_step("settings.entry_step_id", entry)
        else:
            self._graph_is_whole = False

    def step(self, step: StepDefinition) -> None:
        action = self._actions.get(step.action)
        if action is None:
            hint = did_you_mean(step.action, self._actions) or f"; known are {listed(sorted(self._actions))}"
            self._problem(f"steps.{step.id}.action", f"unknown action {step.action!r}{hint}")
            self._graph_is_whole = False
        else:
            self._ways_out(step, action)
            self._own_keys(step, action)
        for name, target in step.transitions.items():
            self._must_be_step(f"steps.{step.id}.{name}", target)

    def flow(self) -> None:
        """Loops are told even where the graph has holes; what cannot be reached, only where it has none."""
        steps, problems = self._draft.steps, self.problems
        graph = {
            step.id: tuple(target for target in step.transitions.values() if target in steps) for step in steps.values()
        }
        # A step of an unknown action counts as a guard, because it may be one that is misspelt.
        guards = [step.id for step in steps.values() if self._may_guard(step)]
        for loop in flow.loops(graph, guards):
            names = " -> ".join((*loop, loop[0]))
            kinds = listed(sorted(name for name, action in self._actions.items() if action.guards_loops))
            problems.append(self._at(f"steps.{loop[0]}", f"a loop without a step of {kinds}: {names}"))
        if not self._graph_is_whole:
            return
        entry = str(self._draft.settings["entry_step_id"])
        reached = flow.reachable(graph, (entry,))
        for step_id in steps:
            if step_id not in reached:
                self.warnings.append(self._at(f"steps.{step_id}", f"no way leads here from {entry!r}"))
        ends = [step.id for step in steps.values() if not self._actions[step.action].transitions]
        ending = flow.reachable(flow.reverse(graph), ends)
        trapped = [step_id for step_id in steps if step_id in reached and step_id not in ending]
        if trapped:
            enders = listed(sorted(name for name, action in self._actions.items() if not action.transitions))
            message = f"no step that ends the run, of {enders}, can be reached from {listed(trapped)}"
            self._problem(f"steps.{trapped[0]}", message)

    def _may_guard(self, step: StepDefinition) -> bool:
        action = self._actions.get(step.action)
        return action is None or action.guards_loops

    def _ways_out(self, step: StepDefinition, action: Action[Any]) -> None:
        for name in action.transitions:
            if name not in step.transitions:
                self._problem(f"steps.{step.id}.{name}", f"is missing; {step.action!r} needs a step to follow it")
                self._graph_is_whole = False
        for name in step.transitions:
            if name not in action.transitions:
                hint = did_you_mean(name, action.transitions) or f"; it has {listed(action.transitions)}"
                self._problem(f"steps.{step.id}.{name}", f"{step.action!r} has no such way out{hint}")
                self._graph_is_whole = False

    def _own_keys(self, step: StepDefinition, action: Action[Any]) -> None:
        where = f"steps.{step.id}"
        own = [field.alias or name for name, field in action.settings.model_fields.items()]
        try:
            settings = parse_step_settings(action, step.raw)
        except ValidationError as error:
            known = ("id", "action", *action.transitions, *own)
            self.problems += explained(error, where, known, self._draft.origins, step.origin)
            self._needed_settings(step, action.required_settings)
        else:
            self._needed_settings(step, (*action.required_settings, *action.settings_needed(settings)))

    def _needed_settings(self, step: StepDefinition, names: Iterable[str]) -> None:
        for name in dict.fromkeys(names):
            key = next((f"steps.{step.id}.{own}" for own, value in step.raw.items() if value == name), None)
            if name not in PipelineSettings.model_fields:
                hint = did_you_mean(name, PipelineSettings.model_fields)
                self._problem(key or f"steps.{step.id}", f"there is no setting {name!r}{hint}")
            elif self._is_absent(name):
                place = self._at(key or f"steps.{step.id}", "")
                message = f"is missing; the step {step.id!r} ({step.action}) needs it"
                self.problems.append(Problem(place.file, place.line, f"settings.{name}", message))

    def _is_absent(self, name: str) -> bool:
        default = PipelineSettings.model_fields[name].get_default()
        return self._draft.settings.get(name, default) in (None, "", [], ())

    def _must_be_step(self, key: str, step_id: str) -> None:
        if step_id not in self._draft.steps:
            self._problem(key, f"there is no step {step_id!r}{did_you_mean(step_id, self._draft.steps)}")
            self._graph_is_whole = False

    def _problem(self, key: str, message: str) -> None:
        self.problems.append(self._at(key, message))

    def _at(self, key: str, message: str) -> Problem:
        """The problem at the key's own line, or at that of what should hold it."""
        path = key
        while path and path not in self._draft.origins:
            path = path.rpartition(".")[0]
        place = self._draft.origins.get(path, self._draft.origin)
        return Problem(place.file, place.line, key, message)
