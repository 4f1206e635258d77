"""Trees of files of several kinds, read whole."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from groundwire_ingest.records import SourceEdge, SourceNode
from groundwire_ingest.tree.source import TreeSource

TreeMaker = Callable[[Mapping[str, str | bytes]], Path]


@dataclass(frozen=True)
class ReadTree:
    """The nodes of a tree by key, and the confidence of its edges by their ends and type."""

    nodes: dict[str, SourceNode]
    edges: dict[tuple[str, str, str], float]

    def of(self, edge_type: str) -> dict[tuple[str, str], float]:
        """The edges of one type, by their ends less the prefix of the kind."""
        return {
            (start.partition("::")[2], end.partition("::")[2]): confidence
            for (start, end, found), confidence in self.edges.items()
            if found == edge_type
        }


@pytest.fixture
def tree(make_tree: TreeMaker) -> Callable[[Mapping[str, str]], ReadTree]:
    """Reads a tree of files, whose edges all lead between nodes that are there."""

    def read(files: Mapping[str, str]) -> ReadTree:
        records = list(TreeSource(make_tree(dict(files))).read())
        nodes = {record.key: record for record in records if isinstance(record, SourceNode)}
        edges = [record for record in records if isinstance(record, SourceEdge)]
        assert {key for edge in edges for key in (edge.from_key, edge.to_key)} <= nodes.keys()
        assert len({(edge.from_key, edge.to_key, edge.edge_type) for edge in edges}) == len(edges)
        return ReadTree(nodes, {(edge.from_key, edge.to_key, edge.edge_type): edge.confidence for edge in edges})

    return read
