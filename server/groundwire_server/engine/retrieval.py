"""The first stage of a search and of a query: what an index must have, and the vector to ask it with."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from groundwire_index.scope import SEPARATOR, Scope
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
    """Raises PreconditionError, with the advice, for the first of the retrievers that an index cannot be asked by."""
    otherwise = "" if snapshot.index else ", or leave it out"
    for part, retriever in product(snapshot.parts, retrievers):
        index = part.index if snapshot.index else SEPARATOR.join(part.scope.names.values())
        if retriever not in part.retrievers:
            reason, lacks = _NEEDED[retriever]
            message = f"index {index!r} has {lacks}; {advice[retriever]}{otherwise}"
            raise PreconditionError(reason, message, {"active_index": part.index})
        space, first = part.vector_space, snapshot.parts[0].vector_space
        if retriever is Retriever.DENSE and space and first and not space.compares_with(first):
            by = "an earlier or later" if replace(space, probes=first.probes) == first else "another"
            message = f"index {index!r} has vectors of {by} model than another index; {advice[retriever]}{otherwise}"
            names = {"active_index": part.index, "embedder": space.embedder, "fingerprint": space.fingerprint}
            raise PreconditionError(Reason.EMBEDDER_MISMATCH, message, names)


def scopes_of(snapshot: Snapshot) -> tuple[Scope, ...]:
    """The versions that answer a request for several; none for one."""
    return () if snapshot.index else tuple(part.scope for part in snapshot.parts)


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
    return await query_vectors.vector(request.query, own, request.access, space, snapshot.parts[0].index, call)
