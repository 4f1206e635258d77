"""Crates of Rust, which a `Cargo.toml` describes."""

import re
from dataclasses import dataclass

from groundwire_ingest.tree.languages.module_files import ModuleFile

_PACKAGE = re.compile(r"^[ \t]*\[package\][^\[]*?^[ \t]*name[ \t]*=[ \t]*[\"']([\w-]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Crate(ModuleFile):
    """A crate by its name as code writes it."""

    name: str


def crate(path: str, text: str) -> Crate | None:
    """The crate that a Cargo.toml describes; None for other files, and for one that describes none."""
    match = _PACKAGE.search(text) if path.rpartition("/")[2] == "Cargo.toml" else None
    return Crate(match[1].replace("-", "_")) if match is not None else None
