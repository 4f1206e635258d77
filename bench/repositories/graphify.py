"""The graph that Graphify makes of the same sources, to compare relations with."""

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.repositories.places import Piece

_GRAPH = Path("graphify-out", "graph.json")


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes by id, without texts, and the targets of each node's edges."""

    nodes: Mapping[str, Piece]
    targets: Mapping[str, Sequence[str]]


def graphify(executable: Path, source: Path, folder: Path) -> Graph:
    """Lets `graphify update --no-cluster` read a copy of the sources, into which it writes. Raises RuntimeError."""
    copy = folder / "graphify"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(source, copy)
    command: list[str | Path] = [executable.absolute(), "update", "--no-cluster", "."]
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
    if done.returncode or not (copy / _GRAPH).exists():
        raise RuntimeError(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return read_graph(copy / _GRAPH)


def read_graph(path: Path) -> Graph:
    """The graph of a file; a label such as `.add()` becomes the symbol `add`.

    Edges have the direction that the file states.
    """
    content = json.loads(path.read_text(encoding="utf-8"))
    nodes = {
        node["id"]: Piece(node.get("source_file") or "", node["label"].removesuffix("()").lstrip("."), "")
        for node in content["nodes"]
    }
    targets: dict[str, list[str]] = {}
    for link in content["links"]:
        targets.setdefault(link["source"], []).append(link["target"])
    return Graph(nodes, targets)
