"""What the tests of name resolution look at: the edges as plain tuples, by type."""

from collections.abc import Callable, Mapping

import pytest

from groundwire_ingest.records import SourceEdge
from groundwire_ingest.tree.model import EntityMapping

EdgesOf = Callable[..., dict[tuple[str, str], float]]


@pytest.fixture
def edges_of(resolved: Callable[..., list[SourceEdge | EntityMapping]]) -> EdgesOf:
    """The confidence of each edge of one type, by its ends less the prefix of the kind."""

    def edges_of(
        edge_type: str, files: Mapping[str, str], go_modules: Mapping[str, str] | None = None
    ) -> dict[tuple[str, str], float]:
        edges = [item for item in resolved(files, go_modules) if isinstance(item, SourceEdge)]
        ends = [(edge.from_key, edge.to_key, edge.edge_type) for edge in edges]
        assert len(ends) == len(set(ends))
        return {
            (edge.from_key.partition("::")[2], edge.to_key.partition("::")[2]): edge.confidence
            for edge in edges
            if edge.edge_type == edge_type
        }

    return edges_of
