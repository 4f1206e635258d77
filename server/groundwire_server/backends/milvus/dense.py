"""The dense retriever: Milvus compares every vector in single precision, and the best are scored again in double."""

import numpy as np
from numpy.typing import NDArray

from groundwire_index.milvus.rows import Rows
from groundwire_server.backends.milvus.filter_expression import both
from groundwire_server.backends.milvus.listing import lowest_of, within
from groundwire_server.backends.milvus.node_rows import VECTOR
from groundwire_server.backends.milvus.version import OpenVersion
from groundwire_server.backends.shared.listing import Proposal, rounding_error
from groundwire_server.domain.query.diversity import cosines
from groundwire_server.domain.search.candidates import Floats


class Dense:
    """Cosine similarity to a unit query [dimension]."""

    fields = (VECTOR, "has_vector")

    def __init__(
        self, version: OpenVersion, allowed: str, query: NDArray[np.float64], min_similarity: float | None
    ) -> None:
        """`allowed` is the expression of the rows that may be listed."""
        self._index = version.document.dense_index
        self._version = version
        self._allowed = both("has_vector == true", allowed)
        self._query = query
        self.least = -np.inf if min_similarity is None else min_similarity

    def margin(self, count: int) -> int:
        """See `MilvusRetriever.margin`."""
        return 16 + count // 8

    def propose(self, first: int, end: int, limit: int) -> Proposal:
        """See `MilvusRetriever.propose`. An index that is not exact proposes once: more may be missed, and stays so."""
        (hits,) = self._version.store.search_dense(
            self._version.collections.nodes,
            VECTOR,
            self._query.astype(np.float32)[np.newaxis],
            limit,
            within(self._version, self._allowed, first, end),
            self._index.of_search(limit),
        )
        if not self._index.is_exact:
            return Proposal(hits.rows, -np.inf)
        return Proposal(hits.rows, lowest_of(hits, limit, end - first) + rounding_error(len(self._query)))

    def scores(self, nodes: Rows) -> Floats:
        """See `MilvusRetriever.scores`."""
        if not len(nodes):
            return np.empty(0)
        vectors = nodes.dense(VECTOR, len(self._query)).astype(np.float64)
        return np.where(nodes.flags("has_vector"), cosines(vectors, self._query), np.nan)
