"""`groundwire pipeline`: checks and shows pipelines without running them."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue

from groundwire_client.cli import printable
from groundwire_pipelines.actions.registry import actions
from groundwire_pipelines.cli.catalogue import init, list_actions, list_pipelines
from groundwire_pipelines.cli.options import AsJson, Folders, PipelineName
from groundwire_pipelines.cli.terminal import reported
from groundwire_pipelines.definition.loading import load_pipeline
from groundwire_pipelines.definition.merged_yaml import given_settings, merged_yaml, prompt_folders, step_keys
from groundwire_pipelines.definition.model import PipelineDefinition
from groundwire_pipelines.drawing import Language, drawing
from groundwire_pipelines.errors import DefinitionError, Problem
from groundwire_pipelines.validation.schema import pipeline_schema

pipeline_app = typer.Typer(no_args_is_help=True, help="List, copy, check, read and draw pipelines.")
pipeline_app.command("list")(list_pipelines)
pipeline_app.command("actions")(list_actions)
pipeline_app.command()(init)

_Names = Annotated[
    list[str], typer.Argument(metavar="PIPELINE...", help="Names on the search path, a file.yaml, or file.yaml#name.")
]


@pipeline_app.command()
def validate(names: _Names, folder: Folders = None, as_json: AsJson = False) -> None:
    """Check pipelines; exit with 1 if one has problems."""
    reports = [_report(name, folder or []) for name in names]
    if as_json:
        typer.echo(json.dumps([report for report, _ in reports], indent=2))
    else:
        for _, lines in reports:
            typer.echo("\n".join(map(printable, lines)))
    if any(report["problems"] for report, _ in reports):
        raise typer.Exit(1)


@pipeline_app.command()
def show(name: PipelineName, folder: Folders = None, as_json: AsJson = False) -> None:
    """Print a pipeline merged with its parents, and the origin of each value."""
    definition = _load(name, folder or [])
    if as_json:
        typer.echo(json.dumps(_as_json(definition), indent=2))
    else:
        typer.echo(printable(merged_yaml(definition)), nl=False)


@pipeline_app.command()
def graph(
    name: PipelineName,
    language: Annotated[
        Language, typer.Option("--format", help="The format: for Markdown, or for Graphviz.")
    ] = Language.MERMAID,
    folder: Folders = None,
) -> None:
    """Print the steps of a pipeline and their transitions as a diagram in Mermaid or DOT."""
    typer.echo(printable(drawing(_load(name, folder or []), actions(), language)), nl=False)


@pipeline_app.command()
def schema() -> None:
    """Print the JSON Schema of pipeline files, for editors."""
    with reported():
        typer.echo(json.dumps(pipeline_schema(actions()), indent=2))


def _report(name: str, search_path: list[Path]) -> tuple[dict[str, JsonValue], list[str]]:
    """The report on one pipeline: as JSON for programs, and as lines for people."""
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    with reported():
        try:
            warnings = load_pipeline(name, search_path).warnings
        except DefinitionError as error:
            problems = error.problems
    lines = [*(f"error: {problem}" for problem in problems), *(f"warning: {warning}" for warning in warnings)]
    report: dict[str, JsonValue] = {"pipeline": name, "problems": _records(problems), "warnings": _records(warnings)}
    return report, lines if problems else [*lines, f"{name}: ok"]


def _records(problems: tuple[Problem, ...]) -> list[JsonValue]:
    return [asdict(problem) for problem in problems]


def _as_json(definition: PipelineDefinition) -> dict[str, JsonValue]:
    return {
        "name": definition.name,
        "description": definition.description,
        "prompts": list(prompt_folders(definition)),
        "settings": given_settings(definition),
        "steps": [step_keys(step) for step in definition.steps.values()],
        "origins": {path: str(origin) for path, origin in definition.origins.items()},
    }


def _load(name: str, search_path: list[Path]) -> PipelineDefinition:
    with reported():
        return load_pipeline(name, search_path)
