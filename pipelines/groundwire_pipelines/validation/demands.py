"""Checks the steps that runs can reach: the data that they read, and the modes in which they search."""

from collections.abc import Mapping

from groundwire_pipelines.definition.merging import PipelineDraft
from groundwire_pipelines.definition.wording import listed
from groundwire_pipelines.settings import PipelineSettings
from groundwire_pipelines.validation.data import Unwritten, unwritten
from groundwire_pipelines.validation.findings import Findings
from groundwire_pipelines.validation.flow import reachable
from groundwire_pipelines.validation.steps import CheckedStep


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
