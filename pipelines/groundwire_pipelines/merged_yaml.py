"""A merged pipeline as YAML that loads as the same pipeline: to read, or as a copy to edit."""

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import JsonValue

from groundwire_configuration.located_values import unquoted
from groundwire_pipelines.action_definition import Action
from groundwire_pipelines.definition.file_models import PIPELINE_NAME, StepDefinition
from groundwire_pipelines.definition.pipeline_definition import PipelineDefinition
from groundwire_pipelines.definition.search_path import RUN
from groundwire_pipelines.engine.binding import bind
from groundwire_pipelines.errors import PipelineError
from groundwire_pipelines.prompts import PROMPT, SCHEMA, PromptFolders

_COMMENT = "  # "
_COMMENT_COLUMN = 60
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")


def merged_yaml(definition: PipelineDefinition) -> str:
    """The pipeline as one file without `extends`; each value ends with a comment that names its file and line.

    Files are listed at the top, and then named by their last parts if these differ. Folders of prompts are absolute
    paths, so that the text loads from any folder of this machine.
    """
    files = list(dict.fromkeys(origin.file for origin in definition.origins.values()))
    names = [Path(file).name for file in files]
    short = dict(zip(files, names if len(set(names)) == len(names) else files, strict=True))

    def comment(path: str) -> str:
        origin = definition.origins[path]
        return f"{_COMMENT}{short[origin.file]}:{origin.line}"

    lines = _lines(definition, definition.name, prompt_folders(definition), comment)
    return "\n".join((*(f"# {file}" for file in files if file != RUN.file), *_aligned(list(lines)))) + "\n"


def copy_pipeline(
    definition: PipelineDefinition, name: str, folder: Path, actions: Mapping[str, Action[Any]]
) -> tuple[Path, ...]:
    """Writes a pipeline under another name, without `extends`, and the prompts that its steps use.

    Returns:
        The files written: `<folder>/<name>.yaml` and those of `<folder>/prompts`.

    Raises:
        PipelineError: The name is not valid for a pipeline, a file exists already, or it cannot be written.
    """
    if not PIPELINE_NAME.pattern.fullmatch(name):
        raise PipelineError(f"{name!r} {PIPELINE_NAME.rule}")
    prompts = PromptFolders(definition.prompts)
    steps = bind(definition, actions).values()
    used = sorted({(prompt, PROMPT) for step in steps for prompt in step.action.prompts_of(step.settings)})
    used += sorted({(schema, SCHEMA) for step in steps for schema in step.action.schemas_of(step.settings)})
    contents = {folder / f"{name}.yaml": editable_yaml(definition, name)}
    contents |= {
        folder / "prompts" / f"{prompt_name}{ending}": prompts.text(prompt_name, ending) for prompt_name, ending in used
    }
    for path in contents:
        if path.exists():
            raise PipelineError(f"{path} already exists: name another folder, or remove it")
    try:
        for path, text in contents.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            # Exclusive creation: a dangling symbolic link does not count as an existing file, but must not be followed.
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
    except OSError as error:
        raise PipelineError(f"{error.filename or folder} cannot be written: {error.strerror}") from error
    return tuple(contents)


def editable_yaml(definition: PipelineDefinition, name: str) -> str:
    """The pipeline under another name, as one file without `extends`, with its prompts next to it."""
    return "\n".join(_lines(definition, name, (), lambda path: "")) + "\n"


def _lines(
    definition: PipelineDefinition, name: str, prompts: Sequence[str], comment: Callable[[str], str]
) -> Iterator[str]:
    yield "pipeline:"
    yield f"  name: {_flow(name)}"
    if definition.description:
        yield f"  description: {_flow(definition.description)}"
    if prompts:
        yield "  prompts:"
        yield from (f"    - {_flow(folder)}" for folder in prompts)
    settings = given_settings(definition)
    if settings:
        yield "  settings:"
        yield from _entries(settings, "settings", "    ", comment)
    yield "  steps:"
    for step in definition.steps.values():
        first, *rest = _entries(step_keys(step), f"steps.{step.id}", "      ", comment)
        yield f"    - {first.lstrip()}"
        yield from rest


def prompt_folders(definition: PipelineDefinition) -> list[str]:
    """The existing folders of prompts, as absolute paths, nearest first."""
    return [str(folder.resolve()) for folder in definition.prompts if folder.is_dir()]


def given_settings(definition: PipelineDefinition) -> dict[str, JsonValue]:
    """The settings that a file or the run gives, in the order of the merge, without those at their defaults."""
    values: dict[str, JsonValue] = definition.settings.model_dump(mode="json", exclude_unset=True)
    given = [path.split(".")[1] for path in definition.origins if path.startswith("settings.")]
    return {name: values[name] for name in dict.fromkeys(given)}


def step_keys(step: StepDefinition) -> dict[str, JsonValue]:
    """All keys of a step, as its file has them."""
    return {"id": step.id, "action": step.action, **step.raw, **step.transitions}


def _entries(values: Mapping[str, JsonValue], path: str, indent: str, comment: Callable[[str], str]) -> Iterator[str]:
    for key, value in values.items():
        where = f"{path}.{key}"
        if isinstance(value, dict) and value:
            yield f"{indent}{_flow(key)}:"
            yield from _entries(value, where, f"{indent}  ", comment)
        else:
            yield f"{indent}{_flow(key)}: {_flow(value)}{comment(where)}"


def _aligned(lines: Sequence[str]) -> Iterator[str]:
    """Puts the comments into one column, except those after long values."""
    parts = [line.rpartition(_COMMENT) for line in lines]
    column = max((len(value) for value, _, _ in parts if len(value) <= _COMMENT_COLUMN), default=0)
    for value, mark, origin in parts:
        yield f"{value:<{column}}{mark}{origin}" if mark else origin


def _flow(value: JsonValue) -> str:
    """A value on one line."""
    match value:
        case str():
            return _text(value)
        case list():
            return f"[{', '.join(map(_flow, value))}]"
        case dict():
            return f"{{{', '.join(f'{_flow(key)}: {_flow(entry)}' for key, entry in value.items())}}}"
        case _:
            return json.dumps(value)


def _text(text: str) -> str:
    """Unquoted if both YAML 1.2 and 1.1 (in which `on` is true) read the same text; else in double quotes."""
    if _BARE.fullmatch(text) and unquoted(text) == text and yaml.safe_load(text) == text:
        return text
    quoted: str = yaml.safe_dump(text, default_style='"', allow_unicode=True, width=sys.maxsize)
    return quoted.rstrip("\n")
