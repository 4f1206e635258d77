"""What a server embeds queries with: the model of an index, or the int8 encoder that the index names."""

import logging
from collections.abc import Callable, Sequence
from functools import partial
from threading import Lock
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from groundwire_index.embedding.embedder import Embedder
from groundwire_index.embedding.int8.convert import ConvertibleEmbedder, convert
from groundwire_index.embedding.int8.encoder import Int8Encoder
from groundwire_index.embedding.int8.record import EncoderDamagedError
from groundwire_index.embedding.int8.store import EncoderStore
from groundwire_server.domain.checkpoint import Checkpoint

_LOG = logging.getLogger(__name__)

EmbedQuery: TypeAlias = Callable[[str, Checkpoint], NDArray[np.float32]]
"""Gives a query's unit vector [dimension]; raises EmbedderError, and what the checkpoint raises."""


class QueryEncoders:
    """The embedders of a server by fingerprint, and the int8 encoders made from their models. Thread-safe.

    Encoders that the store has are loaded at once. One that an index names but the store lacks is made from the
    model, once; it must come out the same to the byte, else queries would not be the same on all servers.
    """

    def __init__(self, embedders: Sequence[Embedder], store: EncoderStore) -> None:
        self._embedders = {embedder.fingerprint: embedder for embedder in embedders}
        self._store = store
        self._lock = Lock()
        self._encoders: dict[str, Int8Encoder] = {}
        self._given_up: set[str] = set()
        for record in store.records():
            if record.model in self._embedders:
                self._load(record.fingerprint)

    def find(self, model: str, encoder: str) -> EmbedQuery | None:
        """What embeds the queries of an index by the fingerprints of its model and its encoder, "" when it has none.

        None when the server has not got it. Raises EmbedderError when the model is needed and cannot be loaded.
        """
        embedder = self._embedders.get(model)
        if embedder is None:
            return None
        if not encoder:
            return partial(_embed_by_model, embedder)
        with self._lock:
            found = self._encoders.get(encoder) or self._load(encoder) or self._made(encoder, embedder)
        return None if found is None else found.embed_query

    def _load(self, fingerprint: str) -> Int8Encoder | None:
        directory = self._store.directory(fingerprint)
        if fingerprint in self._given_up or not directory.is_dir():
            return None
        try:
            self._encoders[fingerprint] = Int8Encoder(directory)
        except EncoderDamagedError as error:
            _LOG.error("a converted model cannot be used: %s", error)
        return self._encoders.get(fingerprint)

    def _made(self, fingerprint: str, embedder: Embedder) -> Int8Encoder | None:
        """The encoder made anew; what fails once is not tried again, it takes seconds."""
        if fingerprint in self._given_up or not isinstance(embedder, ConvertibleEmbedder):
            return None
        _LOG.warning("the int8 encoder %s of %s is made anew", fingerprint, embedder.name)
        self._given_up.add(fingerprint)
        try:
            made = convert(self._store, embedder)
        except OSError as error:
            _LOG.error("the int8 encoder %s cannot be kept: %s", fingerprint, error)
            return None
        if made is None or made.record.fingerprint != fingerprint:
            _LOG.error("the model %s gives another int8 encoder than %s: index anew", embedder.name, fingerprint)
            return None
        self._encoders[fingerprint] = made
        return made


def _embed_by_model(embedder: Embedder, text: str, _: Checkpoint) -> NDArray[np.float32]:
    return embedder.embed_query(text)
