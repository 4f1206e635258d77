"""Every check of a merged pipeline that can be made before it runs."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from groundwire_pipelines.actions.definition import Action
from groundwire_pipelines.definition.merging import PipelineDraft
from groundwire_pipelines.definition.model import PipelineDefinition
from groundwire_pipelines.definition.wording import listed
from groundwire_pipelines.errors import DefinitionError
from groundwire_pipelines.prompts import PromptFolders
from groundwire_pipelines.settings import PipelineSettings
from groundwire_pipelines.validation.findings import Findings
from groundwire_pipelines.validation.flow import Graph, loops, reachable, reverse
from groundwire_pipelines.validation.models import explained, parsed
from groundwire_pipelines.validation.steps import StepChecks


def validated(draft: PipelineDraft, actions: Mapping[str, Action[Any]]) -> PipelineDefinition:
    """The pipeline, once nothing is wrong with it.

    Args:
        draft: The merged pipeline.
        actions: The registry.

    Raises:
        DefinitionError: Something is wrong; names everything that is.
    """
    findings = Findings(draft)
    prompts = tuple(dict.fromkeys(file.parent / "prompts" for file in draft.files))
    settings = _settings(draft, findings)
    _check_steps(draft, actions, PromptFolders(prompts), findings)
    if settings is None or findings.problems:
        raise DefinitionError(tuple(sorted(findings.problems, key=lambda problem: (problem.file, problem.line))))
    return PipelineDefinition(draft.name, settings, draft.steps, draft.origins, prompts, tuple(findings.warnings))


def _settings(draft: PipelineDraft, findings: Findings) -> PipelineSettings | None:
    try:
        return parsed(PipelineSettings, draft.settings)
    except ValidationError as error:
        findings.problems += explained(error, "settings", PipelineSettings.model_fields, draft.origins, draft.origin)
        return None


def _check_steps(
    draft: PipelineDraft, actions: Mapping[str, Action[Any]], prompts: PromptFolders, findings: Findings
) -> None:
    if not draft.steps:
        findings.problem("steps", "the pipeline has no steps")
        return
    checks = StepChecks(draft, actions, prompts, findings)
    for step in draft.steps.values():
        checks.check(step)
    entry = draft.settings.get("entry_step_id")
    has_entry = isinstance(entry, str) and entry != "" and checks.must_be_step("settings.entry_step_id", entry)
    graph = {step.id: checks.followers(step) for step in draft.steps.values()}
    if _check_loops(draft, actions, graph, findings) and has_entry and checks.ways_out_are_sound:
        _check_reach(draft, actions, graph, str(entry), findings)


def _check_loops(draft: PipelineDraft, actions: Mapping[str, Action[Any]], graph: Graph, findings: Findings) -> bool:
    """Whether every loop passes through a guard."""
    # A step of an unknown action counts as a guard, because it may be one that is misspelt.
    guarding = {name for name, action in actions.items() if action.guards_loops}
    guards = [step.id for step in draft.steps.values() if step.action in guarding or step.action not in actions]
    unguarded = loops(graph, guards)
    for loop in unguarded:
        way = " -> ".join((*loop, loop[0]))
        findings.problem(f"steps.{loop[0]}", f"a loop without a step of {listed(sorted(guarding))}: {way}")
    return not unguarded


def _check_reach(
    draft: PipelineDraft, actions: Mapping[str, Action[Any]], graph: Graph, entry: str, findings: Findings
) -> None:
    reached = reachable(graph, (entry,))
    for step_id in graph:
        if step_id not in reached:
            findings.warning(f"steps.{step_id}", f"no way leads here from the entry step {entry!r}")
    ending = {name for name, action in actions.items() if not action.transitions}
    ends = [step.id for step in draft.steps.values() if step.action in ending]
    safe = reachable(reverse(graph), ends)
    trapped = [step_id for step_id in graph if step_id in reached and step_id not in safe]
    if trapped:
        message = f"no step of {listed(sorted(ending))} can be reached from {listed(trapped)}, so a run would not end"
        findings.problem(f"steps.{trapped[0]}", message)
