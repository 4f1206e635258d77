"""The interface of a retriever for a search over Milvus."""

from typing import Protocol

import numpy as np

from groundwire_index.milvus.rows import Rows
from groundwire_index.milvus.store import Hits
from groundwire_server.backends.milvus.filter_expression import both, rows_from
from groundwire_server.backends.milvus.version import OpenVersion
from groundwire_server.backends.shared.listing import Proposal
from groundwire_server.domain.search.candidates import Floats

POSITIVE = float(np.nextafter(0.0, 1.0))
"""The least score above 0."""


class MilvusRetriever(Protocol):
    """One retriever with what one search asks of it."""

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of a node that its score is computed from."""
        ...

    @property
    def least(self) -> float:
        """The least score of a listed row."""
        ...

    def margin(self, count: int) -> int:
        """The number of rows requested on top of `count`, so that one request is usually enough."""
        ...

    def propose(self, first: int, end: int, limit: int) -> Proposal:
        """The `limit` rows of a range that Milvus scores highest, or a few more."""
        ...

    def scores(self, nodes: Rows) -> Floats:
        """The exact scores of nodes [m], from the fields that were read; NaN for one that cannot be scored."""
        ...


def within(version: OpenVersion, allowed: str, first: int, end: int) -> str:
    """The expression of the allowed rows of a range."""
    is_all = first == 0 and end == version.manifest.node_count
    return allowed if is_all else both(allowed, rows_from(first, end))


def lowest_of(hits: Hits, limit: int, size: int) -> float:
    """The score that no row of a range of some size exceeds that was not found; -inf where all were."""
    return -np.inf if len(hits.rows) < limit or size <= limit else float(hits.scores[-1])
