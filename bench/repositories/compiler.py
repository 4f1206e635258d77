"""Precision and recall of a tree's edges against the SCIP indexes in it: `python -m bench.repositories.compiler`."""

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Literal, TypeAlias

import typer

from bench.shared.results import Grid, explained, write_results
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.records import SkippedFile, SourceEdge, SourceNode
from groundwire_ingest.tree.scip.documents import outline
from groundwire_ingest.tree.scip.indexes import base_folder
from groundwire_ingest.tree.scip.links import REPLACED
from groundwire_ingest.tree.source import TreeSource
from groundwire_ingest.tree.walk import COMPILER_INDEX_SUFFIX

SURE = 0.8
"""The least confidence of edges that count as sure."""

Verdict: TypeAlias = Literal["right", "wrong", "unknown", "missed"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)


class TruthError(Exception):
    """A tree cannot be compared; the message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair of nodes with an edge that the readers found, or with one that only the compiler has (`missed`).

    `right`: the compiler has an edge between the same nodes. `wrong`: the compiler resolves the name at this place to
    something else. `unknown`: the compiler does not resolve it, for example because the type of a value is not stated,
    or because the edge leads to an override, while a compiler only knows the declared callee.
    """

    from_key: str
    to_key: str
    edge_type: str
    confidence: float
    line: int
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Tree:
    """The records of a tree, and its nodes by key."""

    nodes: Mapping[str, SourceNode]
    edges: Sequence[SourceEdge]
    skipped: frozenset[str]


@app.command()
def main(
    trees: Annotated[
        list[Path],
        typer.Argument(help="Folders of sources, each with *.scip files in it.", exists=True, file_okay=False),
    ],
    out: Annotated[Path, typer.Option(help="The folder for the results.")],
) -> None:
    """Measure precision and recall of the edges that are found without the index."""
    with explained(IngestError, TruthError):
        judged = {root.resolve().name: judge(root) for root in trees}
    tables = [grid(name, edges) for name, edges in judged.items()]
    write_results(
        out,
        "compiler",
        tables,
        {"edges": {name: list(map(asdict, judged_edges)) for name, judged_edges in judged.items()}},
    )


def judge(root: Path) -> list[Judged]:
    """Each Calls, References, DecoratedBy and Inherits edge between files that the indexes cover, sorted.

    Raises IngestError, OSError, TruthError.
    """
    with TemporaryDirectory() as name:
        plain = Path(name) / root.resolve().name
        shutil.copytree(root, plain, symlinks=True, ignore=shutil.ignore_patterns(f"*{COMPILER_INDEX_SUFFIX}"))
        plain_tree = _read(plain)
    joined_tree = _read(root)
    covered = _covered(root, joined_tree)
    if not covered:
        raise TruthError(f"{root}: no *{COMPILER_INDEX_SUFFIX} in it covers its files; run an indexer in it first")
    stated = {(edge.from_key, edge.to_key): edge for edge in _between(joined_tree, covered) if edge.confidence == 1}
    kept = {(edge.from_key, edge.to_key) for edge in _between(joined_tree, covered)}
    edges = list(_between(plain_tree, covered))
    edge_pairs = {(edge.from_key, edge.to_key) for edge in edges}
    judged: list[Judged] = []
    for edge in edges:
        pair = (edge.from_key, edge.to_key)
        verdict: Verdict = "right" if pair in stated else "unknown" if pair in kept else "wrong"
        judged.append(Judged(*pair, edge.edge_type, edge.confidence, edge.line, verdict))
    judged += [
        Judged(*pair, edge.edge_type, 0.0, edge.line, "missed")
        for pair, edge in stated.items()
        if pair not in edge_pairs
    ]
    return sorted(judged, key=lambda edge: (edge.edge_type, edge.from_key, edge.to_key))


def grid(name: str, judged: Sequence[Judged]) -> Grid:
    """Precision and recall by type of edge."""
    headings = ["type", "found", "right", "wrong", "unknown", "precision", "precision of sure", "true", "recall"]
    types = sorted({judged_edge.edge_type for judged_edge in judged})
    rows = [
        _row(edge_type, [judged_edge for judged_edge in judged if judged_edge.edge_type == edge_type])
        for edge_type in types
    ]
    return Grid(f"{name}: edges by type", headings, [*rows, _row("all", judged)])


def _row(title: str, judged: Sequence[Judged]) -> list[str]:
    counts = Counter(judged_edge.verdict for judged_edge in judged)
    sure = Counter(judged_edge.verdict for judged_edge in judged if judged_edge.confidence >= SURE)
    true = len(
        {
            (judged_edge.from_key, judged_edge.to_key)
            for judged_edge in judged
            if judged_edge.verdict in ("right", "missed")
        }
    )
    return [
        title,
        str(len(judged) - counts["missed"]),
        *(str(counts[verdict]) for verdict in ("right", "wrong", "unknown")),
        *(_share(counter["right"], counter["right"] + counter["wrong"]) for counter in (counts, sure)),
        str(true),
        _share(true - counts["missed"], true),
    ]


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "-"


def _between(tree: Tree, covered: frozenset[str]) -> Iterator[SourceEdge]:
    """The edges of the types that a compiler knows, between nodes of covered files."""
    for edge in tree.edges:
        ends = (tree.nodes[edge.from_key], tree.nodes[edge.to_key])
        if edge.edge_type in REPLACED and all(node.path in covered for node in ends):
            yield edge


def _read(root: Path) -> Tree:
    records = list(TreeSource(root).read())
    return Tree(
        nodes={record.key: record for record in records if isinstance(record, SourceNode)},
        edges=[record for record in records if isinstance(record, SourceEdge)],
        skipped=frozenset(record.path for record in records if isinstance(record, SkippedFile)),
    )


def _covered(root: Path, tree: Tree) -> frozenset[str]:
    """The files that the indexes of a tree cover."""
    paths = {node.path for node in tree.nodes.values()}
    covered: set[str] = set()
    for index in sorted(root.rglob(f"*{COMPILER_INDEX_SUFFIX}")):
        path = index.relative_to(root).as_posix()
        held = outline(root, path)
        base = base_folder(held, path, paths)
        covered |= {base + place.path for place in held.documents} & paths
    return frozenset(covered - tree.skipped)


if __name__ == "__main__":
    app()
