"""The first stage of a search and of a query: what is asked of an index, and the vector to ask it with."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundwire_server.backends.interface import RetrievalSnapshot
from groundwire_server.domain.access import AccessContext
from groundwire_server.domain.checkpoint import Checkpoint
from groundwire_server.domain.errors import PreconditionError, Reason
from groundwire_server.query_embedding.query_vectors import QueryVectors


@dataclass(frozen=True, slots=True)
class Asked:
    """What a caller looks for: words, and a vector of its own, which is empty when the words are to be embedded."""

    query: str
    query_vector: Sequence[float]
    access: AccessContext


def query_vector(
    asked: Asked, snapshot: RetrievalSnapshot, query_vectors: QueryVectors, advice: str, checkpoint: Checkpoint
) -> NDArray[np.float64]:
    """The unit vector to compare an index's vectors with.

    Raises as `QueryVectors.vector` does, and PreconditionError with the advice for an index without vectors.
    """
    space = snapshot.vector_space
    if space is None:
        message = f"index {snapshot.index!r} has no vectors; {advice}"
        raise PreconditionError(Reason.VECTORS_MISSING, message, {"active_index": snapshot.index})
    return query_vectors.vector(asked.query, asked.query_vector, asked.access, space, snapshot.index, checkpoint)
