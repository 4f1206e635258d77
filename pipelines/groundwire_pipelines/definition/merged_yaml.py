"""A merged pipeline as YAML that tells where each value came from, and that loads as the same pipeline again."""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import yaml
from pydantic import JsonValue

from groundwire_pipelines.definition.model import Origin, PipelineDefinition, StepDefinition
from groundwire_pipelines.definition.scalars import unquoted
from groundwire_pipelines.definition.search_path import RUN

_COMMENT = "  # "
_COMMENT_COLUMN = 60
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")


def merged_yaml(definition: PipelineDefinition) -> str:
    """The pipeline as one file without `extends`; each value ends with a comment that names its file and line.

    Files are listed on top, and then called by their last names where these differ.
    """
    files = list(dict.fromkeys(origin.file for origin in definition.origins.values()))
    names = [Path(file).name for file in files]
    short = dict(zip(files, names if len(set(names)) == len(names) else files, strict=True))
    lines = ["pipeline:", f"  name: {_flow(definition.name)}"]
    settings = given_settings(definition)
    if settings:
        lines += ["  settings:", *_entries(settings, "settings", "    ", definition.origins, short)]
    lines.append("  steps:")
    for step in definition.steps.values():
        first, *rest = _entries(step_keys(step), f"steps.{step.id}", "      ", definition.origins, short)
        lines += [f"    - {first.lstrip()}", *rest]
    return "\n".join((*(f"# {file}" for file in files if file != RUN.file), *_aligned(lines))) + "\n"


def given_settings(definition: PipelineDefinition) -> dict[str, JsonValue]:
    """The settings that a file or the run gave, in the order of the merge; not those left at their defaults."""
    values: dict[str, JsonValue] = definition.settings.model_dump(mode="json")
    given = [path.split(".")[1] for path in definition.origins if path.startswith("settings.")]
    return {name: values[name] for name in dict.fromkeys(given)}


def step_keys(step: StepDefinition) -> dict[str, JsonValue]:
    """All keys of a step, as its file has them."""
    return {"id": step.id, "action": step.action, **step.raw, **step.transitions}


def _entries(
    values: Mapping[str, JsonValue], path: str, indent: str, origins: Mapping[str, Origin], short: Mapping[str, str]
) -> Iterator[str]:
    for key, value in values.items():
        where = f"{path}.{key}"
        if isinstance(value, dict) and value:
            yield f"{indent}{_flow(key)}:"
            yield from _entries(value, where, f"{indent}  ", origins, short)
        else:
            origin = origins[where]
            yield f"{indent}{_flow(key)}: {_flow(value)}{_COMMENT}{short[origin.file]}:{origin.line}"


def _aligned(lines: Sequence[str]) -> Iterator[str]:
    """The comments in one column, but for those after long values."""
    parts = [line.rpartition(_COMMENT) for line in lines]
    column = max((len(value) for value, _, _ in parts if len(value) <= _COMMENT_COLUMN), default=0)
    for value, mark, origin in parts:
        yield f"{value:<{column}}{mark}{origin}" if mark else origin


def _flow(value: JsonValue) -> str:
    """A value on one line."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return _text(value)
        case list():
            return f"[{', '.join(map(_flow, value))}]"
        case dict():
            return f"{{{', '.join(f'{_flow(key)}: {_flow(entry)}' for key, entry in value.items())}}}"
        case _:
            return repr(value)


def _text(text: str) -> str:
    """Bare where both YAML 1.2 and 1.1, in which `on` is true, read the same text; else in double quotes."""
    if _BARE.fullmatch(text) and unquoted(text) == text and yaml.safe_load(text) == text:
        return text
    quoted: str = yaml.safe_dump(text, default_style='"', allow_unicode=True, width=sys.maxsize)
    return quoted.rstrip("\n")
