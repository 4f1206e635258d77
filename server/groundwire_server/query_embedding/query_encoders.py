"""The encoders of a server for queries: the int8 encoder that an index names, or the model where it names none."""

import logging
from collections.abc import Callable, Collection, Sequence
from threading import Lock
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from groundwire_index.embedding.embedder import Embedder, ProbedEmbedder
from groundwire_index.embedding.int8.encoder import Int8Encoder, most_texts, padded_length
from groundwire_index.embedding.int8.record import EncoderDamagedError
from groundwire_index.embedding.int8.store import EncoderStore
from groundwire_index.store.manifest import VectorSpace
from groundwire_server.execution.call import Checkpoint
from groundwire_server.query_embedding.batches import Batches

_LOG = logging.getLogger(__name__)

EmbedQuery: TypeAlias = Callable[[str, Checkpoint], NDArray[np.float32]]
"""Gives a query's unit vector [dimension]; raises EmbedderError, and what the checkpoint raises."""


def in_batches(encoder: Int8Encoder) -> EmbedQuery:
    """Embeds queries that come at the same time in one batch; none changes another's vector. Thread-safe."""
    batches = Batches(encoder.embed_tokens, padded_length, most_texts)
    return lambda query, checkpoint: batches.run(encoder.query_tokens(query), checkpoint)


class QueryEncoders:
    """The models that a server answers for, and the int8 encoders made from them. Thread-safe.

    `models` are the names of models that may be used by their encoder, `embedders` those that can be run themselves.
    The encoders that the store has of them are loaded at once, and one that a build adds when an index names it.
    """

    def __init__(self, embedders: Sequence[Embedder], store: EncoderStore, models: Collection[str] = ()) -> None:
        self._models = frozenset(models)
        self._embedders = {embedder.fingerprint: embedder for embedder in embedders}
        self._store = store
        self._lock = Lock()
        self._encoders: dict[str, EmbedQuery] = {}
        self._damaged: set[str] = set()
        for record in store.records():
            if record.embedder in self._models or record.model in self._embedders:
                self._load(record.fingerprint)

    def find(self, space: VectorSpace) -> EmbedQuery | None:
        """The embedder for queries of an index; None when the server does not have it."""
        embedder = self._embedders.get(space.fingerprint)
        if isinstance(embedder, ProbedEmbedder):
            return embedder.query_embedder(space.probes)
        if embedder is None and space.embedder not in self._models:
            return None
        if space.query_encoder is None:
            return None if embedder is None else lambda text, _: embedder.embed_query(text)
        fingerprint = space.query_encoder.fingerprint
        with self._lock:
            return self._encoders.get(fingerprint) or self._load(fingerprint)

    def _load(self, fingerprint: str) -> EmbedQuery | None:
        """The encoder of the store, None when it lacks it. A damaged one is not tried again: that takes a while."""
        directory = self._store.directory(fingerprint)
        if fingerprint in self._damaged or not directory.is_dir():
            return None
        try:
            self._encoders[fingerprint] = in_batches(Int8Encoder(directory))
        except EncoderDamagedError as error:
            self._damaged.add(fingerprint)
            _LOG.error("a converted model cannot be used: %s; index anew and restart", error)
        return self._encoders.get(fingerprint)
