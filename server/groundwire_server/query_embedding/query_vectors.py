"""The vector of a query: the caller's own, or the embedding by the index's embedder."""

import hashlib
import logging
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from functools import partial
from threading import Lock
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from groundwire_configuration.service_error import ServiceError
from groundwire_index.embedding.embedder import EmbedderUnavailableError
from groundwire_index.store.manifest import VectorSpace
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.errors import (
    EmbeddingServiceUnavailableError,
    FieldViolation,
    InvalidRequestError,
    PreconditionError,
    Reason,
)
from groundwire_server.execution.call import Call, Checkpoint
from groundwire_server.execution.observation import observer, stage
from groundwire_server.query_embedding.query_encoders import QueryEncoders

MAX_OWNERS = 64
MAX_VECTORS = 256
"""Of one owner. 64 times as many take 48 MiB at 384 dimensions, 128 MiB at 1,024."""

_Vectors: TypeAlias = OrderedDict[Hashable, NDArray[np.float64]]


class QueryVectorCache:
    """Keeps the most recently used vectors of the owners that asked last. Thread-safe; the vectors are read-only.

    No owner finds what another one has left here, and one that fills its share drives out its own vectors alone.
    """

    def __init__(self, owners: int = MAX_OWNERS, vectors: int = MAX_VECTORS) -> None:
        self._most_owners, self._most_vectors = owners, vectors
        self._shares: OrderedDict[Hashable, _Vectors] = OrderedDict()
        self._lock = Lock()

    def find(self, owner: Hashable, key: Hashable) -> NDArray[np.float64] | None:
        """The vector that the owner has under the key, if any."""
        with self._lock:
            share = self._share(owner)
            known = share.get(key)
            if known is not None:
                share.move_to_end(key)
        observer().looked_up_vector(known is not None)
        return known

    def keep(self, owner: Hashable, key: Hashable, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """Keeps the owner's vector under the key, read-only from now on, and returns it."""
        vector.setflags(write=False)
        with self._lock:
            share = self._share(owner)
            share[key] = vector
            if len(share) > self._most_vectors:
                share.popitem(last=False)
        return vector

    def _share(self, owner: Hashable) -> _Vectors:
        """The owner's vectors; to be called with the lock held."""
        share = self._shares.setdefault(owner, OrderedDict())
        self._shares.move_to_end(owner)
        if len(self._shares) > self._most_owners:
            self._shares.popitem(last=False)
        return share


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
        callers_vector: Sequence[float],
        access: AccessContext,
        space: VectorSpace,
        index: str,
        call: Call,
    ) -> NDArray[np.float64]:
        """A unit vector [dimension], read-only. `callers_vector` is the caller's vector; empty to embed `query`.

        Raises InvalidRequestError for a vector of another dimension, PreconditionError without the index's embedder,
        EmbeddingServiceUnavailableError when that is a service and fails, and what the call's checkpoint raises while
        the query waits for others to be embedded.
        """
        if not callers_vector:
            encoder = space.query_encoder.fingerprint if space.query_encoder else ""
            # The digest, because a query may be longer than its vector.
            key = space.fingerprint, space.probes, encoder, hashlib.sha256(query.encode()).digest()
            known = self._cache.find(access, key)
            if known is not None:
                return known
            embedded = await call.ask_model(partial(self._embedded, query, space, index, call.checkpoint))
            return self._cache.keep(access, key, embedded)
        if len(callers_vector) != space.dimension:
            description = f"has {len(callers_vector)} components; index {index!r} has vectors of {space.dimension}"
            raise InvalidRequestError((FieldViolation("query_vector", Reason.VALUE_MALFORMED, description),))
        return unit_vector(np.asarray(callers_vector, dtype=np.float64))

    def _embedded(self, query: str, space: VectorSpace, index: str, checkpoint: Checkpoint) -> NDArray[np.float64]:
        try:
            with stage("embed"):
                embed = self._encoders.find(space)
                vector = None if embed is None else embed(query, checkpoint)
                # A service may have got another model since it was compared.
                if vector is None or len(vector) != space.dimension:
                    raise _mismatch(space, index)
                return unit_vector(vector)
        except EmbedderUnavailableError as error:
            _LOG.error("queries of index %s cannot be embedded: %s", index, error)
            raise _mismatch(space, index) from error
        except ServiceError as error:
            _LOG.warning("queries of index %s cannot be embedded: the service %s", index, error)
            raise EmbeddingServiceUnavailableError(str(error)) from None


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
        f"the vectors of index {index!r} were made {made_by}; the operator adds it to the setting embedders, "
        "or you send query_vector",
        {"active_index": index, "embedder": space.embedder, "fingerprint": space.fingerprint},
    )
