"""The first stage of a search and of a query: what an index must have, and the vector to ask it with."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from groundwire_server.backends.interface import Snapshot
from groundwire_server.domain.errors import PreconditionError, Reason
from groundwire_server.domain.query.query import QueryRequest
from groundwire_server.domain.search.search import Retriever, SearchRequest
from groundwire_server.execution.call import Call
from groundwire_server.query_embedding.query_vectors import QueryVectors

_NEEDED: Mapping[Retriever, tuple[Reason, str]] = {
    Retriever.DENSE: (Reason.VECTORS_MISSING, "no vectors"),
    Retriever.BM25_CODE: (Reason.LEXICAL_MISSING, "no BM25 artifacts"),
    Retriever.BM25_PROSE: (Reason.LEXICAL_MISSING, "no BM25 artifacts of prose"),
}


def check_held(snapshot: Snapshot, retrievers: Sequence[Retriever], advice: Mapping[Retriever, str]) -> None:
    """Raises PreconditionError, with the advice, for the first of the retrievers that the index cannot be asked by."""
    for retriever in retrievers:
        if retriever not in snapshot.retrievers:
            reason, lacks = _NEEDED[retriever]
            message = f"index {snapshot.index!r} has {lacks}; {advice[retriever]}"
            raise PreconditionError(reason, message, {"active_index": snapshot.index})


async def vector_of(
    request: SearchRequest | QueryRequest, snapshot: Snapshot, query_vectors: QueryVectors, call: Call
) -> NDArray[np.float64] | None:
    """The unit vector of what a request asks, in the space of an index; None for an index without vectors.

    Raises as `QueryVectors.vector` does.
    """
    space = snapshot.vector_space
    if space is None:
        return None
    own = request.query_vector
    return await query_vectors.vector(request.query, own, request.access, space, snapshot.index, call)
