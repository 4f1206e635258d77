"""`groundwire pipeline`: lists, copies, checks and shows pipelines and actions without running them."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import JsonValue

from groundwire.printable_text import printable
from groundwire_pipelines.action_definition import Action
from groundwire_pipelines.actions.registry import actions
from groundwire_pipelines.cli.options import AsJson, Folders, PipelineName, reported
from groundwire_pipelines.definition.pipeline_definition import PipelineDefinition
from groundwire_pipelines.definition.search_path import PipelineSearch
from groundwire_pipelines.diagram import Language, drawing
from groundwire_pipelines.errors import DefinitionError, Problem
from groundwire_pipelines.loading import load_pipeline
from groundwire_pipelines.merged_yaml import copy_pipeline, given_settings, merged_yaml, prompt_folders, step_keys
from groundwire_pipelines.reference.keys import Key, keys_of
from groundwire_pipelines.validation.schema import pipeline_schema
from groundwire_pipelines.wording import did_you_mean

pipeline_app = typer.Typer(no_args_is_help=True, help="List, copy, check, read and draw pipelines.")

_Names = Annotated[
    list[str], typer.Argument(metavar="PIPELINE...", help="Names on the search path, a file.yaml, or file.yaml#name.")
]


@pipeline_app.command("list")
def list_pipelines(folder: Folders = None, as_json: AsJson = False) -> None:
    """List the pipelines of the folders and of the library, with their descriptions."""
    with reported():
        pipelines = PipelineSearch(folder or []).all()
    if as_json:
        described = [
            {
                "name": pipeline.name,
                "description": pipeline.description,
                "extends": str(pipeline.extends.value) if pipeline.extends else None,
                "file": str(pipeline.path),
            }
            for pipeline in pipelines
        ]
        typer.echo(json.dumps(described, indent=2))
        return
    for pipeline in pipelines:
        extends = f" (extends {pipeline.extends.value})" if pipeline.extends else ""
        typer.echo(printable(f"{pipeline.name}{extends}\n  {' '.join(pipeline.description.split())}".rstrip()))


@pipeline_app.command("actions")
def list_actions(
    name: Annotated[
        str, typer.Argument(metavar="ACTION", help="The action to describe in full; all actions when absent.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """List all actions, including those of installed packages; or the keys and transitions of one action."""
    with reported():
        known = actions()
    if name and name not in known:
        hint = did_you_mean(name, known) or f"; known are {', '.join(known)}"
        raise typer.BadParameter(f"there is no action {name!r}{hint}", param_hint="ACTION")
    wanted = [known[name]] if name else list(known.values())
    if as_json:
        described = [
            {
                "name": action.name,
                "summary": action.summary,
                "transitions": list(action.transitions),
                "keys": [asdict(key) for key in keys_of(action.settings)],
            }
            for action in wanted
        ]
        typer.echo(json.dumps(described, indent=2))
        return
    for action in wanted:
        typer.echo(printable("\n".join(_action_lines(action, keys_of(action.settings) if name else ()))))


@pipeline_app.command()
def init(
    name: Annotated[str, typer.Argument(help="The new pipeline's name.")],
    source: Annotated[str, typer.Option("--from", help="The pipeline to copy.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", file_okay=False, help="The folder to write.", show_default="NAME")
    ] = None,
    folder: Folders = None,
) -> None:
    """Copy a pipeline, merged with its parents, and its prompts into a folder, to edit."""
    target = output or Path(name)
    with reported():
        written = copy_pipeline(load_pipeline(source, folder or []), name, target, actions())
    for path in written:
        typer.echo(printable(str(path)))


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
        described = {
            "name": definition.name,
            "description": definition.description,
            "prompts": list(prompt_folders(definition)),
            "settings": given_settings(definition),
            "steps": [step_keys(step) for step in definition.steps.values()],
            "origins": {path: str(origin) for path, origin in definition.origins.items()},
        }
        typer.echo(json.dumps(described, indent=2))
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


def _load(name: str, search_path: list[Path]) -> PipelineDefinition:
    with reported():
        return load_pipeline(name, search_path)


def _action_lines(action: Action[Any], keys: Iterable[Key]) -> list[str]:
    transitions = ", ".join(action.transitions) or "none, it ends the run"
    lines = [action.name, f"  {action.summary}", f"  transitions: {transitions}"]
    for key in keys:
        default = f"default {key.default}" if key.default else "required"
        lines.append(f"  {key.name}: {key.kind}; {default}. {key.description}".replace("`", ""))
    return lines
