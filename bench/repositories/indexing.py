"""Unpacks and indexes a set's sources with `groundwire index`, and measures its time and memory."""

import json
import os
import shutil
import subprocess
import tarfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.repositories.places import Piece
from bench.shared.programs import BRANCH, GROUNDWIRE, run_groundwire
from groundwire_client import IndexScope
from groundwire_index.embedding.model_names import DEFAULT_MODEL

_KIBIBYTE = 1_024


@dataclass(frozen=True, slots=True)
class Built:
    """An index: its folder and scope, its nodes by canonical id, and the time and memory of `groundwire index`."""

    data: Path
    scope: IndexScope
    nodes: Mapping[str, Piece]
    edges: int
    seconds: float
    peak_bytes: int


def unpack(archive: Path, folder: Path) -> Path:
    """Unpacks an archive into `source` in the folder, anew."""
    source = folder / "source"
    shutil.rmtree(source, ignore_errors=True)
    with tarfile.open(archive) as packed:
        packed.extractall(source, filter="data")
    return source


def build(source: Path, repository: str, folder: Path) -> Built:
    """Indexes the sources anew into `data` in the folder, without embeddings of an earlier run.

    Raises RuntimeError; the program has then said on stderr what is wrong.
    """
    data, exported = folder / "data", folder / "nodes.jsonl"
    shutil.rmtree(data, ignore_errors=True)
    scope = ("--repository", repository, "--branch", BRANCH)
    command: list[str | Path] = [GROUNDWIRE, "index", source, *scope, "--data", data, "--embedder", DEFAULT_MODEL]
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"groundwire index {source} failed")
    run_groundwire("export", *scope, "--data", data, "--output", exported)
    nodes, edges = read_export(exported, repository)
    return Built(
        data, IndexScope(repository=repository, branch=BRANCH), nodes, edges, seconds, used.ru_maxrss * _KIBIBYTE
    )


def read_export(path: Path, repository: str) -> tuple[dict[str, Piece], int]:
    """The nodes of an exported index by canonical id, and the number of its edges."""
    nodes, edges = {}, 0
    with path.open(encoding="utf-8") as file:
        for line in map(json.loads, file):
            if line["type"] == "node":
                id_ = f"{repository}::{BRANCH}::{line['kind']}::{line['local_id']}"
                nodes[id_] = Piece(line.get("path", ""), line.get("symbol", ""), line["text"])
            else:
                edges += line["type"] == "edge"
    return nodes, edges
