"""`groundwire pipeline list|actions|init`: lists pipelines and actions, and copies a pipeline to edit."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import JsonValue

from groundwire_client.cli import printable
from groundwire_pipelines.actions.definition import Action
from groundwire_pipelines.actions.registry import actions
from groundwire_pipelines.cli.options import AsJson, Folders
from groundwire_pipelines.cli.terminal import reported
from groundwire_pipelines.definition.loading import load_pipeline
from groundwire_pipelines.definition.merged_yaml import copy_pipeline
from groundwire_pipelines.definition.search_path import PipelineSearch
from groundwire_pipelines.definition.sources import PipelineSource
from groundwire_pipelines.definition.wording import did_you_mean
from groundwire_pipelines.reference.keys import Key, keys_of


def list_pipelines(folder: Folders = None, as_json: AsJson = False) -> None:
    """List the pipelines of the folders and of the library, with their descriptions."""
    with reported():
        found = PipelineSearch(folder or []).all()
    if as_json:
        typer.echo(json.dumps([_of_pipeline(pipeline) for pipeline in found], indent=2))
        return
    for pipeline in found:
        extends = f" (extends {pipeline.extends.value})" if pipeline.extends else ""
        typer.echo(printable(f"{pipeline.name}{extends}\n  {' '.join(pipeline.description.split())}".rstrip()))


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
        typer.echo(json.dumps([_of_action(action) for action in wanted], indent=2))
        return
    for action in wanted:
        typer.echo(printable("\n".join(_action_lines(action, keys_of(action.settings) if name else ()))))


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


def _of_pipeline(pipeline: PipelineSource) -> dict[str, JsonValue]:
    return {
        "name": pipeline.name,
        "description": pipeline.description,
        "extends": str(pipeline.extends.value) if pipeline.extends else None,
        "file": str(pipeline.path),
    }


def _of_action(action: Action[Any]) -> dict[str, JsonValue]:
    return {
        "name": action.name,
        "summary": action.summary,
        "transitions": list(action.transitions),
        "keys": [asdict(key) for key in keys_of(action.settings)],
    }


def _action_lines(action: Action[Any], keys: Iterable[Key]) -> list[str]:
    transitions = ", ".join(action.transitions) or "none, it ends the run"
    lines = [action.name, f"  {action.summary}", f"  transitions: {transitions}"]
    for key in keys:
        default = f"default {key.default}" if key.default else "required"
        lines.append(f"  {key.name}: {key.kind}; {default}. {key.description}".replace("`", ""))
    return lines
