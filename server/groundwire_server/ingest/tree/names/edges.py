"""The edges that start in one file of code."""

from groundwire_server.ingest.records import SourceEdge
from groundwire_server.ingest.tree.edges import TreeEdges


class FileEdges(TreeEdges):
    """Edges from the nodes of the file at `path`."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path

    def note(self, from_key: str, to_key: str, edge_type: str, line: int, confidence: float) -> None:
        """Notes an edge that stands on a line of the file."""
        self.add((SourceEdge(from_key, to_key, edge_type, f"{self._path}:{line}", confidence, line),))
