"""A pipeline as a diagram: Mermaid, which code hosting sites render in Markdown, or DOT for Graphviz."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

from groundwire_pipelines.action_definition import Action
from groundwire_pipelines.definition.file_models import StepDefinition
from groundwire_pipelines.definition.pipeline_definition import PipelineDefinition


class Language(StrEnum):
    """The language of a diagram."""

    MERMAID = "mermaid"
    DOT = "dot"


def drawing(definition: PipelineDefinition, actions: Mapping[str, Action[Any]], language: Language) -> str:
    """The steps, each with its action, and the transitions between them, in the order of the merged file.

    The entry step is round; a step that ends the run has bars at its sides (in DOT a second frame). A transition has
    its name if its step has several. Names and ids hold no character with a meaning in either language.
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
    """Source, target and name of each transition; no name if it is the only one of its step."""
    for step in steps.values():
        for name, target in step.transitions.items():
            yield step.id, target, name if len(step.transitions) > 1 else ""
