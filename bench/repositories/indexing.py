"""Unpacks a set's sources, and reads the nodes of their index."""

import json
import shutil
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.shared.programs import BRANCH, GROUNDWIRE, run


def unpack(archive: Path, folder: Path) -> Path:
    """Unpacks an archive into `source` in the folder, anew."""
    source = folder / "source"
    shutil.rmtree(source, ignore_errors=True)
    with tarfile.open(archive) as packed:
        packed.extractall(source, filter="data")
    return source


def exported_nodes(repository: str, data: Path, file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Exports an index to a file; yields its nodes, as JSONL has them, by canonical id. Raises RuntimeError."""
    run([GROUNDWIRE, "export", "--repository", repository, "--branch", BRANCH, "--data", data, "--output", file])
    with file.open(encoding="utf-8") as lines:
        for node in map(json.loads, lines):
            if node["type"] == "node":
                yield f"{repository}::{BRANCH}::{node['kind']}::{node['local_id']}", node
