"""The vector of a query: the caller's own, or the embedding by the index's embedder."""

import hashlib
import logging
from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from groundwire_index.store.manifest import VectorSpace
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.errors import FieldViolation, InvalidRequestError, PreconditionError, Reason
from groundwire_server.execution.call import Call, Checkpoint
from groundwire_server.execution.observation import stage
from groundwire_server.query_embedding.deferred import EmbedderUnavailableError
from groundwire_server.query_embedding.query_encoders import QueryEncoders
from groundwire_server.query_embedding.vector_cache import QueryVectorCache

_LOG = logging.getLogger(__name__)


class QueryVectors:
    """Embeds the queries of a server, and remembers the vectors of recent ones. Thread-safe.

    Callers share what they remember only where they hold the same access: how long an embedding takes would otherwise
    show a caller what others asked.
    """

    def __init__(self, encoders: QueryEncoders) -> None:
        self._encoders = encoders
        self._cache = QueryVectorCache()

    async def vector(
        self,
        query: str,
        own: Sequence[float],
        access: AccessContext,
        space: VectorSpace,
        index: str,
        call: Call,
    ) -> NDArray[np.float64]:
        """A unit vector [dimension], read-only. `own` is the caller's vector; empty to embed `query`.

        Raises InvalidRequestError for a vector of another dimension, PreconditionError without the index's embedder,
        and what the call's checkpoint raises while the query waits for others to be embedded.
        """
        if not own:
            encoder = space.query_encoder.fingerprint if space.query_encoder else ""
            # The digest, because a query may be longer than its vector.
            key = space.fingerprint, encoder, hashlib.sha256(query.encode()).digest()
            known = self._cache.find(access, key)
            if known is not None:
                return known
            embedded = await call.ask_model(partial(self._embedded, query, space, index, call.checkpoint))
            return self._cache.keep(access, key, embedded)
        if len(own) != space.dimension:
            description = f"has {len(own)} components; index {index!r} has vectors of {space.dimension}"
            raise InvalidRequestError((FieldViolation("query_vector", Reason.VALUE_MALFORMED, description),))
        return unit_vector(np.asarray(own, dtype=np.float64))

    def _embedded(self, query: str, space: VectorSpace, index: str, checkpoint: Checkpoint) -> NDArray[np.float64]:
        try:
            with stage("embed"):
                embed = self._encoders.find(space)
                if embed is None:
                    raise _mismatch(space, index)
                return unit_vector(embed(query, checkpoint))
        except EmbedderUnavailableError as error:
            _LOG.error("queries of index %s cannot be embedded: %s", index, error)
            raise _mismatch(space, index) from error


def unit_vector(query: NDArray[np.floating]) -> NDArray[np.float64]:
    """The query vector [dimension] scaled to length 1."""
    # Scaled by the largest component first, so that neither huge nor tiny vectors overflow the sum of squares.
    scaled: NDArray[np.float64] = query.astype(np.float64) / np.abs(query).max()
    unit: NDArray[np.float64] = scaled / np.sqrt(np.square(scaled).sum())
    return unit


def _mismatch(space: VectorSpace, index: str) -> PreconditionError:
    made_by = f"by embedder {space.embedder!r}, which this server does not have" if space.embedder else "elsewhere"
    return PreconditionError(
        Reason.EMBEDDER_MISMATCH,
        f"the vectors of index {index!r} were made {made_by}; send query_vector",
        {"active_index": index, "embedder": space.embedder, "fingerprint": space.fingerprint},
    )
