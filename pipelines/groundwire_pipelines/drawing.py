"""A pipeline as a drawing for others to render: Mermaid, which code hosts show in Markdown, and DOT of Graphviz."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

from groundwire_pipelines.actions.definition import Action
from groundwire_pipelines.definition.model import PipelineDefinition, StepDefinition


class Language(StrEnum):
    """What a drawing is written in."""

    MERMAID = "mermaid"
    DOT = "dot"


def drawing(definition: PipelineDefinition, actions: Mapping[str, Action[Any]], language: Language) -> str:
    """The steps, each with its action, and the ways between them, in the order of the merged file.

    The step that a run starts at is round, one that ends it has a bar at its sides (in DOT a second frame). A way has
    its name where a step has several. Names and ids hold nothing that either language reads otherwise.
    """
    lines = _mermaid(definition, actions) if language is Language.MERMAID else _dot(definition, actions)
    return "".join(f"{line}\n" for line in lines)


def _mermaid(definition: PipelineDefinition, actions: Mapping[str, Action[Any]]) -> Iterator[str]:
    yield "---"
    yield f"title: {definition.name}"
    yield "---"
    yield "flowchart TD"
    numbers = {step_id: f"s{number}" for number, step_id in enumerate(definition.steps)}
    for step in definition.steps.values():
        opening, closing = "[", "]"
        if step.id == definition.settings.entry_step_id:
            opening, closing = "([", "])"
        elif not actions[step.action].transitions:
            opening, closing = "[[", "]]"
        label = f"{step.id}<br/>{step.action}"
        yield f'    {numbers[step.id]}{opening}"{label}"{closing}'
    for source, target, name in _ways(definition.steps):
        label = f'|"{name}"|' if name else ""
        yield f"    {numbers[source]} -->{label} {numbers[target]}"


def _dot(definition: PipelineDefinition, actions: Mapping[str, Action[Any]]) -> Iterator[str]:
    yield f'digraph "{definition.name}" {{'
    yield "    node [shape=box]"
    for step in definition.steps.values():
        look = ""
        if step.id == definition.settings.entry_step_id:
            look = ", style=rounded"
        elif not actions[step.action].transitions:
            look = ", peripheries=2"
        yield f'    "{step.id}" [label="{step.id}\\n{step.action}"{look}]'
    for source, target, name in _ways(definition.steps):
        label = f' [label="{name}"]' if name else ""
        yield f'    "{source}" -> "{target}"{label}'
    yield "}"


def _ways(steps: Mapping[str, StepDefinition]) -> Iterator[tuple[str, str, str]]:
    """Source, target and name of each way; no name where it is the only one."""
    for step in steps.values():
        for name, target in step.transitions.items():
            yield step.id, target, name if len(step.transitions) > 1 else ""
