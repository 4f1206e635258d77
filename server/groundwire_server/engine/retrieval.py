"""The first stage of a search and of a query: what an index must have, and the vector to ask it with."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from groundwire_index.scope import SEPARATOR, Scope
from groundwire_server.backends.interface import IndexSnapshot, Snapshot
from groundwire_server.domain.errors import PreconditionError, Reason
from groundwire_server.domain.query.query import QueryRequest
from groundwire_server.domain.search.search import LeftOut, Retriever, SearchRequest
from groundwire_server.execution.call import Call
from groundwire_server.query_embedding.query_vectors import QueryVectors

_NEEDED: Mapping[Retriever, tuple[Reason, str]] = {
    Retriever.DENSE: (Reason.VECTORS_MISSING, "no vectors"),
    Retriever.BM25_CODE: (Reason.LEXICAL_MISSING, "no BM25 artifacts"),
    Retriever.BM25_PROSE: (Reason.LEXICAL_MISSING, "no BM25 artifacts of prose"),
}


def check_held(snapshot: Snapshot, retrievers: Sequence[Retriever], advice: Mapping[Retriever, str]) -> None:
    """Raises PreconditionError, with the advice, for the first retriever that no index can be asked by."""
    otherwise = "" if snapshot.index else ", or leave it out"
    for retriever in retrievers:
        holding = [part for part in snapshot.parts if retriever in part.retrievers]
        if not holding:
            reason, lacks = _NEEDED[retriever]
            message = f"index {_name(snapshot.parts[0], snapshot)!r} has {lacks}; {advice[retriever]}{otherwise}"
            raise PreconditionError(reason, message, {"active_index": snapshot.parts[0].index})
        if retriever is Retriever.DENSE:
            _check_spaces(holding, snapshot, f"{advice[retriever]}{otherwise}")


def _check_spaces(parts: Sequence[IndexSnapshot], snapshot: Snapshot, advice: str) -> None:
    """Raises PreconditionError for the first part whose vectors cannot be compared with those of the first one."""
    first = parts[0].vector_space
    for part in parts:
        space = part.vector_space
        if space and first and not space.compares_with(first):
            by = "an earlier or later" if replace(space, probes=first.probes) == first else "another"
            message = f"index {_name(part, snapshot)!r} has vectors of {by} model than another index; {advice}"
            names = {"active_index": part.index, "embedder": space.embedder, "fingerprint": space.fingerprint}
            raise PreconditionError(Reason.EMBEDDER_MISMATCH, message, names)


def _name(part: IndexSnapshot, snapshot: Snapshot) -> str:
    return part.index if snapshot.index else SEPARATOR.join(part.scope.names.values())


def left_out(snapshot: Snapshot, wanted: Collection[Retriever]) -> tuple[LeftOut, ...]:
    """Those of the wanted retrievers that a version has no data for."""
    return tuple(
        LeftOut(part.scope, retriever)
        for part in snapshot.parts
        for retriever in Retriever
        if retriever in wanted and retriever not in part.retrievers
    )


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
    callers_vector = request.query_vector
    index = next(part.index for part in snapshot.parts if part.vector_space)
    return await query_vectors.vector(request.query, callers_vector, request.access, space, index, call)
