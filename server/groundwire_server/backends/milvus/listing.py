"""What all retrievers of a search over Milvus need."""

import numpy as np

from groundwire_index.milvus.store import Hits
from groundwire_server.backends.milvus.filter_expression import both, rows_from
from groundwire_server.backends.milvus.version import OpenVersion

POSITIVE = float(np.nextafter(0.0, 1.0))
"""The least score above 0."""


def within(version: OpenVersion, allowed: str, first: int, end: int) -> str:
    """The expression of the allowed rows of a range."""
    is_all = first == 0 and end == version.manifest.node_count
    return allowed if is_all else both(allowed, rows_from(first, end))


def lowest_of(hits: Hits, limit: int, size: int) -> float:
    """The score that no row of a range of some size exceeds that was not found; -inf where all were."""
    return -np.inf if len(hits.rows) < limit or size <= limit else float(hits.scores[-1])
