"""What a caller may learn of an index version."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class IndexSummary:
    """An index version as far as a caller may see it: counts are of visible nodes and edges.

    `embedder`, `embedder_fingerprint` are empty and `dimension` is 0 when the index has no such vectors.
    """

    repository: str
    branch: str
    version: str
    active: bool
    created: datetime
    source: str
    node_count: int
    edge_count: int
    embedder: str
    embedder_fingerprint: str
    dimension: int
    lexical: bool
    token_counter: str
