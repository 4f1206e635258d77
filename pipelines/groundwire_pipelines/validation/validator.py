"""All checks of a merged pipeline before it runs."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from typing import Any, Final

from pydantic import ValidationError

from groundwire_pipelines.action_definition import ERROR_FIELDS, Action, DataFlow, is_error_transition
from groundwire_pipelines.definition.file_models import OWN_SETTING
from groundwire_pipelines.definition.merging import PipelineDraft
from groundwire_pipelines.definition.pipeline_definition import PipelineDefinition
from groundwire_pipelines.errors import DefinitionError
from groundwire_pipelines.settings import PipelineSettings
from groundwire_pipelines.validation.findings import Findings, parsed
from groundwire_pipelines.validation.steps import CheckedStep, StepChecks
from groundwire_pipelines.wording import did_you_mean, listed

GIVEN: Final = frozenset(
    """
    user_question repository branch is_english session_id user_id active_index retrieval_access retrieval_filter
    """.split()
)
"""The fields of the state that a run starts with."""


@dataclass(frozen=True, slots=True)
class Unwritten:
    """A step that reads one of `fields`, and a path to it, the step included, on which none of them is written."""

    fields: tuple[str, ...]
    path: tuple[str, ...]


def unwritten(steps: Mapping[str, CheckedStep], entry: str) -> Iterator[Unwritten]:
    """The fields that steps read but that some path to them does not write, each with the shortest such path."""
    readers: dict[tuple[str, ...], list[str]] = {}
    for step_id, step in steps.items():
        for read in step.data.reads:
            fields = (read,) if isinstance(read, str) else read
            if not GIVEN.intersection(fields):
                readers.setdefault(fields, []).append(step_id)
    for fields, step_ids in readers.items():
        before = _reached_without(fields, steps, entry)
        for step_id in step_ids:
            if (step_id, frozenset()) in before:
                yield Unwritten(fields, _path_to((step_id, frozenset()), before))


_Place = tuple[str, frozenset[str]]
"""A step that a run has reached, and those of the fields in question that were written before."""


def _reached_without(
    fields: tuple[str, ...], steps: Mapping[str, CheckedStep], entry: str
) -> Mapping[_Place, _Place | None]:
    """All places that runs may reach, each with the place before it on a shortest path."""
    start: _Place = (entry, frozenset())
    before: dict[_Place, _Place | None] = {start: None}
    waiting = deque([start])
    while waiting:
        place = waiting.popleft()
        step_id, written = place
        for transition, target in steps[step_id].transitions.items():
            following = (target, _written_after(written, steps[step_id].data, transition).intersection(fields))
            if following not in before:
                before[following] = place
                waiting.append(following)
    return before


def _written_after(written: frozenset[str], data: DataFlow, transition: str) -> frozenset[str]:
    """The fields written after a transition.

    A failed step leaves the state unchanged, except for the fields of the error.
    """
    if is_error_transition(transition):
        return written | frozenset(ERROR_FIELDS)
    return written.difference(data.clears).union(data.writes, data.writes_on.get(transition, ()))


def _path_to(place: _Place | None, before: Mapping[_Place, _Place | None]) -> tuple[str, ...]:
    path: list[str] = []
    while place is not None:
        path.append(place[0])
        place = before[place]
    return tuple(reversed(path))


Graph = Mapping[str, tuple[str, ...]]
"""The steps in their order, each with those that may follow it."""


def loops(graph: Graph, guards: Iterable[str]) -> list[tuple[str, ...]]:
    """Loops without a guard, each as its steps in running order, from the first one in the file.

    No two of them share a step, so that one mistake is not reported twice.
    """
    guarding = set(guards)
    order = {step: place for place, step in enumerate(graph)}
    rest = {step: following for step, following in graph.items() if step not in guarding}
    closed_loops: list[tuple[str, ...]] = []
    while loop := _any_loop(rest):
        first = loop.index(min(loop, key=order.__getitem__))
        closed_loops.append(loop[first:] + loop[:first])
        rest = {step: following for step, following in rest.items() if step not in loop}
    return closed_loops


def reachable(graph: Graph, starts: Iterable[str]) -> frozenset[str]:
    """The steps that a run from any of `starts` may reach, the starts included."""
    seen = set(starts)
    waiting = sorted(seen)
    while waiting:
        fresh = [step for step in graph[waiting.pop()] if step not in seen]
        seen.update(fresh)
        waiting += fresh
    return frozenset(seen)


def reverse(graph: Graph) -> Graph:
    """The same steps, each with those that it may follow."""
    before: dict[str, list[str]] = {step: [] for step in graph}
    for step, following in graph.items():
        for target in following:
            before[target].append(step)
    return {step: tuple(steps) for step, steps in before.items()}


def _any_loop(graph: Graph) -> tuple[str, ...]:
    """One loop as its steps in running order; () if there is none."""
    known = {step: tuple(target for target in following if target in graph) for step, following in graph.items()}
    try:
        TopologicalSorter(reverse(known)).prepare()
    except CycleError as error:
        # The error lists each step before those that follow it, and the first once more at the end.
        closed: list[str] = error.args[1]
        return tuple(closed[:-1])
    return ()


def validated(draft: PipelineDraft, actions: Mapping[str, Action[Any]]) -> PipelineDefinition:
    """The pipeline, if it has no problems.

    Args:
        draft: The merged pipeline.
        actions: The registry.

    Raises:
        DefinitionError: The pipeline has problems; names each with its place.
    """
    findings = Findings(draft)
    settings: PipelineSettings | None = None
    try:
        settings = parsed(PipelineSettings, draft.settings)
    except ValidationError as error:
        findings.broken_rules(error, "settings", PipelineSettings)
    if settings and settings.max_context_tokens is not None and settings.max_context_tokens <= 0:
        rule = f"must be 1 or more, not {settings.max_context_tokens}"
        findings.problem("settings.max_context_tokens", rule)
    if draft.steps:
        _PipelineChecks(draft, settings, actions, findings).check_all()
    else:
        findings.problem("steps", "the pipeline has no steps")
    if settings is None or findings.problems:
        raise DefinitionError(tuple(sorted(findings.problems, key=lambda problem: (problem.file, problem.line))))
    return PipelineDefinition(
        draft.name, draft.description, settings, draft.steps, draft.origins, draft.prompts, tuple(findings.warnings)
    )


class _PipelineChecks(StepChecks):
    """Checks each step of a pipeline, then what several steps have to agree on."""

    def check_all(self) -> None:
        """Reports all problems and warnings."""
        checked = {step.id: self.check(step) for step in self._draft.steps.values()}
        self._check_own_settings()
        entry = self._draft.settings.get("entry_step_id")
        has_entry = isinstance(entry, str) and entry != "" and self.must_be_step("settings.entry_step_id", entry)
        sound = {step_id: step for step_id, step in checked.items() if step is not None}
        if self._check_loops() and has_entry and len(sound) == len(checked):
            self._check_reach(sound, str(entry))
            if self._settings is not None:
                self._check_demands(self._settings, sound)

    def _check_own_settings(self) -> None:
        """A setting without a meaning that no step uses is a problem if it is near a known name, else a warning."""
        for name in self._draft.settings:
            if name in PipelineSettings.model_fields:
                continue
            key = f"settings.{name}"
            near = did_you_mean(name, PipelineSettings.model_fields)
            if not OWN_SETTING.pattern.fullmatch(name):
                self._findings.problem(key, f"{name!r} {OWN_SETTING.rule}")
            elif name not in self._settings_used and near:
                self._findings.problem(key, f"unknown key{near}")
            elif name not in self._settings_used:
                rule = f"no step refers to this setting; one does by `<key>_from_settings: {name}`"
                self._findings.warning(key, rule)

    def _check_loops(self) -> bool:
        """Reports loops without a guard; whether there are none."""
        steps = self._draft.steps.values()
        # A step of an unknown action counts as a guard: it may be a misspelt one.
        guarding = {name for name, action in self._actions.items() if action.guards_loops}
        guards = [step.id for step in steps if step.action in guarding or step.action not in self._actions]
        unguarded = loops({step.id: self.followers(step) for step in steps}, guards)
        for loop in unguarded:
            way = " -> ".join((*loop, loop[0]))
            self._findings.problem(f"steps.{loop[0]}", f"a loop without a step of {listed(sorted(guarding))}: {way}")
        return not unguarded

    def _check_reach(self, steps: Mapping[str, CheckedStep], entry: str) -> None:
        """Warns of steps that no run reaches, and reports those that never lead to an end."""
        named = {step.id: tuple(step.transitions.values()) for step in self._draft.steps.values()}
        for step_id in named:
            if step_id not in reachable(named, (entry,)):
                self._warn_unreachable(step_id, entry)
        taken = {step_id: tuple(step.transitions.values()) for step_id, step in steps.items()}
        ending = {name for name, action in self._actions.items() if not action.transitions}
        ends = [step.id for step in self._draft.steps.values() if step.action in ending]
        safe = reachable(reverse(taken), ends)
        reached = reachable(taken, (entry,))
        trapped = [step_id for step_id in taken if step_id in reached and step_id not in safe]
        if trapped:
            rule = f"no step of {listed(sorted(ending))} can be reached from {listed(trapped)}, so a run would not end"
            self._findings.problem(f"steps.{trapped[0]}", rule, at=[f"steps.{step_id}" for step_id in trapped])

    def _warn_unreachable(self, step_id: str, entry: str) -> None:
        message = f"cannot be reached from the entry step {entry!r}"
        culprits = [
            culprit
            for culprit, parent in self._draft.replaced.items()
            if step_id in parent.definition.transitions.values()
        ]
        if culprits:
            message += f"; the parent's step {culprits[0]!r}, which led here, is replaced"
        self._findings.warning(f"steps.{step_id}", message, at=[f"steps.{culprit}" for culprit in (*culprits, step_id)])

    def _check_demands(self, settings: PipelineSettings, steps: Mapping[str, CheckedStep]) -> None:
        """Reports reachable steps that lack data or a retrieval mode."""
        entry, modes = settings.entry_step_id, settings.retrieval_modes
        reached = reachable({step_id: tuple(step.transitions.values()) for step_id, step in steps.items()}, (entry,))
        for step_id, step in steps.items():
            if step_id in reached and step.modes and not set(step.modes).intersection(modes):
                message = f"searches by {listed(step.modes)}, and settings.retrieval_modes has only {listed(modes)}"
                self._findings.problem(f"steps.{step_id}", message, at=(f"steps.{step_id}", "settings.retrieval_modes"))
        for missing in unwritten(steps, entry):
            self._tell_unwritten(steps, missing)

    def _tell_unwritten(self, steps: Mapping[str, CheckedStep], missing: Unwritten) -> None:
        *before, reader = missing.path
        fields = " or ".join(f"`{name}`" for name in missing.fields)
        path = f"on the path {' -> '.join(missing.path)}" if before else "before the entry step"
        message = f"reads {fields}, which no step has written {path}"
        writers = [
            step_id
            for step_id, step in steps.items()
            if not {*step.data.writes, *chain(*step.data.writes_on.values())}.isdisjoint(missing.fields)
        ]
        if writers:
            message += f"; {listed(writers)} would"
        lost = [step_id for step_id in before if step_id in self._draft.replaced]
        if lost:
            message += f"; a step replaces the whole of its parent's, as {listed(lost)} did"
        self._findings.problem(f"steps.{reader}", message, at=[f"steps.{step_id}" for step_id in (reader, *before)])
