"""What a caller may learn of an index version."""

from dataclasses import dataclass
from datetime import datetime

from groundwire_index.store.manifest import Manifest


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

    @classmethod
    def of(cls, manifest: Manifest, *, active: bool, node_count: int, edge_count: int) -> "IndexSummary":
        """What a version's manifest says, with what is told of it to one caller."""
        space = manifest.vector_space
        return cls(
            repository=manifest.repository,
            branch=manifest.branch,
            version=manifest.version,
            active=active,
            created=manifest.created,
            source=manifest.source,
            node_count=node_count,
            edge_count=edge_count,
            embedder=space.embedder if space else "",
            embedder_fingerprint=space.fingerprint if space else "",
            dimension=space.dimension if space else 0,
            lexical=manifest.code is not None,
            token_counter=manifest.token_counter,
        )
