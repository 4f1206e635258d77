"""The vector that a query stands for: the caller's own, or the embedding by the index's embedder."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from groundwire_server.backends.embedded.semantic import unit_vector
from groundwire_server.domain.errors import FieldViolation, InvalidRequestError, PreconditionError, Reason
from groundwire_server.embedding.embedder import Embedder
from groundwire_server.index.manifest import VectorSpace


class QueryVectors:
    """The embedders a server has, by fingerprint."""

    def __init__(self, embedders: Sequence[Embedder]) -> None:
        self._embedders = {embedder.fingerprint: embedder for embedder in embedders}

    def vector(self, query: str, own: Sequence[float], space: VectorSpace, index: str) -> NDArray[np.float64]:
        """A unit vector [dimension]. `own` is the caller's vector, empty when `query` is to be embedded.

        Raises InvalidRequestError for a vector of another dimension, PreconditionError without the index's embedder.
        """
        if not own:
            return unit_vector(self._embedder(space, index).embed_query(query))
        if len(own) != space.dimension:
            description = f"has {len(own)} components; index {index!r} has vectors of {space.dimension}"
            raise InvalidRequestError((FieldViolation("query_vector", Reason.VALUE_MALFORMED, description),))
        return unit_vector(np.asarray(own, dtype=np.float64))

    def _embedder(self, space: VectorSpace, index: str) -> Embedder:
        embedder = self._embedders.get(space.fingerprint)
        if embedder is None:
            made_by = (
                f"by embedder {space.embedder!r}, which this server does not have" if space.embedder else "elsewhere"
            )
            raise PreconditionError(
                Reason.EMBEDDER_MISMATCH,
                f"the vectors of index {index!r} were made {made_by}; send query_vector",
                {"active_index": index, "embedder": space.embedder, "fingerprint": space.fingerprint},
            )
        return embedder
