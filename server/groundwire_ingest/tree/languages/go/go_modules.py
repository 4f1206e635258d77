"""Modules of Go, which a `go.mod` describes."""

import re
from dataclasses import dataclass

from groundwire_ingest.tree.languages.module_files import ModuleFile

_MODULE_LINE = re.compile(r"^[ \t]*module[ \t]+\"?([^\s\"]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class GoModule(ModuleFile):
    """The import path of the package in the folder of a go.mod, which those of the folders below begin with."""

    import_path: str


def go_module(path: str, text: str) -> GoModule | None:
    """The module that a go.mod describes; None for other files, and for one that gives no path."""
    match = _MODULE_LINE.search(text) if path.rpartition("/")[2].lower() == "go.mod" else None
    return GoModule(match[1]) if match is not None else None
