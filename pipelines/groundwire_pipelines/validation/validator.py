"""All checks of a merged pipeline before it runs."""

from collections.abc import Collection, Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any

from pydantic import ValidationError

from groundwire_pipelines.actions.definition import Action
from groundwire_pipelines.definition.merging import PipelineDraft
from groundwire_pipelines.definition.model import PipelineDefinition
from groundwire_pipelines.definition.sources import OWN_SETTING
from groundwire_pipelines.definition.wording import did_you_mean, listed
from groundwire_pipelines.errors import DefinitionError
from groundwire_pipelines.prompts import PromptFolders
from groundwire_pipelines.settings import PipelineSettings
from groundwire_pipelines.validation.data import Unwritten, unwritten
from groundwire_pipelines.validation.findings import Findings, parsed
from groundwire_pipelines.validation.steps import CheckedStep, StepChecks

Graph = Mapping[str, tuple[str, ...]]
"""The steps in their order, each with those that may follow it."""


def loops(graph: Graph, guards: Iterable[str]) -> list[tuple[str, ...]]:
    """Loops without a guard, each as its steps in running order, from the first one in the file.

    No two of them share a step, so that one mistake is not reported twice.
    """
    guarding = set(guards)
    order = {step: place for place, step in enumerate(graph)}
    rest = {step: following for step, following in graph.items() if step not in guarding}
    found: list[tuple[str, ...]] = []
    while loop := _any_loop(rest):
        first = loop.index(min(loop, key=order.__getitem__))
        found.append(loop[first:] + loop[:first])
        rest = {step: following for step, following in rest.items() if step not in loop}
    return found


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


def check_demands(
    draft: PipelineDraft, settings: PipelineSettings, steps: Mapping[str, CheckedStep], findings: Findings
) -> None:
    """Reports reachable steps that lack data or a retrieval mode."""
    entry, modes = settings.entry_step_id, settings.retrieval_modes
    reached = reachable({step_id: tuple(step.transitions.values()) for step_id, step in steps.items()}, (entry,))
    for step_id, step in steps.items():
        if step_id in reached and step.modes and not set(step.modes).intersection(modes):
            message = f"searches by {listed(step.modes)}, and settings.retrieval_modes has only {listed(modes)}"
            findings.problem(f"steps.{step_id}", message, at=(f"steps.{step_id}", "settings.retrieval_modes"))
    for missing in unwritten(steps, entry):
        _tell_unwritten(draft, steps, missing, findings)


def _tell_unwritten(
    draft: PipelineDraft, steps: Mapping[str, CheckedStep], missing: Unwritten, findings: Findings
) -> None:
    *before, reader = missing.path
    fields = " or ".join(f"`{name}`" for name in missing.fields)
    path = f"on the path {' -> '.join(missing.path)}" if before else "before the entry step"
    message = f"reads {fields}, which no step has written {path}"
    writers = [step_id for step_id, step in steps.items() if _writes(step, missing.fields)]
    if writers:
        message += f"; {listed(writers)} would"
    lost = [step_id for step_id in before if step_id in draft.replaced]
    if lost:
        message += f"; a step replaces the whole of its parent's, as {listed(lost)} did"
    findings.problem(f"steps.{reader}", message, at=[f"steps.{step_id}" for step_id in (reader, *before)])


def _writes(step: CheckedStep, fields: tuple[str, ...]) -> bool:
    written = {*step.data.writes, *(name for names in step.data.writes_on.values() for name in names)}
    return not written.isdisjoint(fields)


def validated(draft: PipelineDraft, actions: Mapping[str, Action[Any]]) -> PipelineDefinition:
    """The pipeline, if it has no problems.

    Args:
        draft: The merged pipeline.
        actions: The registry.

    Raises:
        DefinitionError: The pipeline has problems; names each with its place.
    """
    findings = Findings(draft)
    settings = _settings(draft, findings)
    if draft.steps:
        checks = StepChecks(draft, settings, actions, PromptFolders(draft.prompts), findings)
        _check_steps(draft, settings, checks, actions, findings)
    else:
        findings.problem("steps", "the pipeline has no steps")
    if settings is None or findings.problems:
        raise DefinitionError(tuple(sorted(findings.problems, key=lambda problem: (problem.file, problem.line))))
    return PipelineDefinition(
        draft.name, draft.description, settings, draft.steps, draft.origins, draft.prompts, tuple(findings.warnings)
    )


def _settings(draft: PipelineDraft, findings: Findings) -> PipelineSettings | None:
    try:
        return parsed(PipelineSettings, draft.settings)
    except ValidationError as error:
        findings.broken_rules(error, "settings", PipelineSettings)
        return None


def _check_steps(
    draft: PipelineDraft,
    settings: PipelineSettings | None,
    checks: StepChecks,
    actions: Mapping[str, Action[Any]],
    findings: Findings,
) -> None:
    checked = {step.id: checks.check(step) for step in draft.steps.values()}
    _check_own_settings(draft, checks.settings_used, findings)
    entry = draft.settings.get("entry_step_id")
    has_entry = isinstance(entry, str) and entry != "" and checks.must_be_step("settings.entry_step_id", entry)
    graph = {step.id: checks.followers(step) for step in draft.steps.values()}
    sound = {step_id: step for step_id, step in checked.items() if step is not None}
    if _check_loops(draft, actions, graph, findings) and has_entry and len(sound) == len(checked):
        _check_reach(draft, actions, sound, str(entry), findings)
        if settings is not None:
            check_demands(draft, settings, sound, findings)


def _check_own_settings(draft: PipelineDraft, used: Collection[str], findings: Findings) -> None:
    """A setting without a meaning that no step refers to is a problem if it is near a known name, else a warning."""
    for name in draft.settings:
        if name in PipelineSettings.model_fields:
            continue
        key = f"settings.{name}"
        near = did_you_mean(name, PipelineSettings.model_fields)
        if not OWN_SETTING.pattern.fullmatch(name):
            findings.problem(key, f"{name!r} {OWN_SETTING.rule}")
        elif name not in used and near:
            findings.problem(key, f"unknown key{near}")
        elif name not in used:
            findings.warning(key, f"no step refers to this setting; one does by `<key>_from_settings: {name}`")


def _check_loops(draft: PipelineDraft, actions: Mapping[str, Action[Any]], graph: Graph, findings: Findings) -> bool:
    """Reports loops without a guard."""
    # A step of an unknown action counts as a guard: it may be a misspelt one.
    guarding = {name for name, action in actions.items() if action.guards_loops}
    guards = [step.id for step in draft.steps.values() if step.action in guarding or step.action not in actions]
    unguarded = loops(graph, guards)
    for loop in unguarded:
        way = " -> ".join((*loop, loop[0]))
        findings.problem(f"steps.{loop[0]}", f"a loop without a step of {listed(sorted(guarding))}: {way}")
    return not unguarded


def _check_reach(
    draft: PipelineDraft,
    actions: Mapping[str, Action[Any]],
    steps: Mapping[str, CheckedStep],
    entry: str,
    findings: Findings,
) -> None:
    named = {step.id: tuple(step.transitions.values()) for step in draft.steps.values()}
    taken = {step_id: tuple(step.transitions.values()) for step_id, step in steps.items()}
    for step_id in named:
        if step_id not in reachable(named, (entry,)):
            _warn_unreachable(draft, step_id, entry, findings)
    ending = {name for name, action in actions.items() if not action.transitions}
    ends = [step.id for step in draft.steps.values() if step.action in ending]
    safe = reachable(reverse(taken), ends)
    reached = reachable(taken, (entry,))
    trapped = [step_id for step_id in taken if step_id in reached and step_id not in safe]
    if trapped:
        message = f"no step of {listed(sorted(ending))} can be reached from {listed(trapped)}, so a run would not end"
        findings.problem(f"steps.{trapped[0]}", message, at=[f"steps.{step_id}" for step_id in trapped])


def _warn_unreachable(draft: PipelineDraft, step_id: str, entry: str, findings: Findings) -> None:
    message = f"cannot be reached from the entry step {entry!r}"
    culprits = [one for one, parent in draft.replaced.items() if step_id in parent.transitions.values()]
    if culprits:
        message += f"; the parent's step {culprits[0]!r}, which led here, is replaced"
    findings.warning(f"steps.{step_id}", message, at=[f"steps.{one}" for one in (*culprits, step_id)])
