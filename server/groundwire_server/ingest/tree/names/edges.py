"""The edges that start in one file, gathered so that each stands once."""

from collections.abc import Iterator

from groundwire_server.ingest.records import SourceEdge


class FileEdges:
    """Edges from the nodes of one file, none from a node to itself; of several alike the surest, then the first."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._edges: dict[tuple[str, str, str], SourceEdge] = {}

    def add(self, from_key: str, to_key: str, edge_type: str, line: int, confidence: float) -> None:
        """Notes an edge that stands on a line of the file."""
        place = (from_key, to_key, edge_type)
        known = self._edges.get(place)
        if from_key != to_key and (known is None or known.confidence < confidence):
            self._edges[place] = SourceEdge(from_key, to_key, edge_type, f"{self._path}:{line}", confidence, line)

    def sorted(self) -> Iterator[SourceEdge]:
        """The edges by their ends and type."""
        for place in sorted(self._edges):
            yield self._edges[place]
