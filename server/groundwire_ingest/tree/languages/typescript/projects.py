"""The places of modules, by `tsconfig.json` and `package.json`."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TypeAlias

from groundwire_index.nodes.node import JsonValue
from groundwire_ingest.tree.languages.module_files import ModuleFile

_CONFIG_FILE = re.compile(r"[tj]sconfig(?:[.\w-]*)\.json")
# A string, or a comment, which goes to the end of the text when nothing closes it.
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*+"?)|//[^\n]*|/\*(?:.*?\*/|.*)', re.DOTALL)
_TRAILING_COMMA = re.compile(r'("(?:\\.|[^"\\])*+"?)|,(?=\s*[}\]])', re.DOTALL)
_ENTRY_FIELDS = ("source", "types", "typings", "module", "main")


@dataclass(frozen=True, slots=True)
class ScriptConfig(ModuleFile):
    """A `tsconfig.json` or `jsconfig.json`: paths are as written, relative to its folder; `base_url` None if absent."""

    extends: tuple[str, ...] = ()
    base_url: str | None = None
    paths: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScriptPackage(ModuleFile):
    """A `package.json`: `entries` are the files that its own name leads to, `exports` those of the paths below it."""

    name: str
    entries: tuple[str, ...] = ()
    exports: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


ScriptProject: TypeAlias = ScriptConfig | ScriptPackage


def is_project_file(path: str) -> bool:
    """True if a file states the places of modules."""
    name = PurePosixPath(path).name
    return name == "package.json" or _CONFIG_FILE.fullmatch(name) is not None


def script_project(path: str, text: str) -> ScriptProject | None:
    """The facts of a project file; None for other files, and when it cannot be read or has none that are needed."""
    if not is_project_file(path):
        return None
    plain = _TRAILING_COMMA.sub(r"\1", _COMMENT.sub(r"\1", text))
    try:
        value: JsonValue = json.loads(plain)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    return _package(value) if PurePosixPath(path).name == "package.json" else _config(value)


def _config(value: Mapping[str, JsonValue]) -> ScriptConfig:
    options = value.get("compilerOptions")
    options = options if isinstance(options, dict) else {}
    base_url, paths = options.get("baseUrl"), options.get("paths")
    listed = paths.items() if isinstance(paths, dict) else ()
    return ScriptConfig(
        tuple(_strings(value.get("extends"))),
        base_url if isinstance(base_url, str) else None,
        {pattern: tuple(_strings(targets)) for pattern, targets in listed},
    )


def _package(value: Mapping[str, JsonValue]) -> ScriptPackage | None:
    name, exports = value.get("name"), value.get("exports")
    if not isinstance(name, str) or not name:
        return None
    entries = [entry for key in _ENTRY_FIELDS for entry in _strings(value.get(key))]
    below: dict[str, tuple[str, ...]] = {}
    has_paths = isinstance(exports, dict) and any(key.startswith(".") for key in exports)
    if isinstance(exports, dict) and has_paths:
        below = {key.removeprefix("./"): tuple(_strings(target)) for key, target in exports.items()}
        entries = [*below.pop(".", ()), *entries]
    else:
        entries = [*_strings(exports), *entries]
    return ScriptPackage(name, tuple(dict.fromkeys(entries)), below)


def _strings(value: JsonValue) -> Iterator[str]:
    """The strings in a value, those of lists and of conditions included."""
    pending = [value]
    while pending:
        current = pending.pop()
        if isinstance(current, str):
            yield current
        elif isinstance(current, list):
            pending.extend(reversed(current))
        elif isinstance(current, dict):
            pending.extend(reversed(current.values()))
