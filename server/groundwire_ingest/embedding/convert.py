"""Makes the int8 encoder of a model, and measures how far its vectors agree with the model's own."""

import hashlib
import io
import logging
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from groundwire_index.embedding.embedder import Embedder
from groundwire_index.embedding.int8.encoder import Int8Encoder
from groundwire_index.embedding.int8.record import (
    CONVERTER,
    INT8_FILE,
    POSITIONS_FILE,
    PROBE_FILE,
    TOKENIZER_FILE,
    UINT8_FILE,
    WORDS_FILE,
    EncoderDamagedError,
    EncoderRecord,
)
from groundwire_index.embedding.int8.store import EncoderStore
from groundwire_ingest.embedding.bert_model import Bert
from groundwire_ingest.embedding.calibration import TEXTS
from groundwire_ingest.embedding.graph import encoder_model, exactness_probe

_LOG = logging.getLogger(__name__)

LEAST_MEAN_COSINE = 0.998
LEAST_COSINE = 0.99
"""docs/adr/0013 says why these."""


@runtime_checkable
class ConvertibleEmbedder(Embedder, Protocol):
    """An embedder whose model may have an int8 encoder."""

    def bert(self) -> Bert | None:
        """The model, None when it is of another architecture than BERT's."""
        ...

    def text_prompt(self) -> str | None:
        """The prompt that the model puts before an indexed text; None when the encoder cannot take its place."""
        ...


@dataclass(frozen=True, slots=True)
class Agreement:
    """How an encoder's vectors compare with the model's: cosine similarities over the texts of `calibration`."""

    mean_cosine: float
    min_cosine: float

    @property
    def suffices(self) -> bool:
        """True if the encoder may answer in place of the model."""
        return self.mean_cosine >= LEAST_MEAN_COSINE and self.min_cosine >= LEAST_COSINE


def agreed_encoder(store: EncoderStore, embedder: Embedder) -> tuple[Int8Encoder, Agreement] | None:
    """The encoder of the embedder's model, kept in the store, if its vectors agree with the model's, and how far.

    It follows from the model alone. None for a model that cannot be converted, and for an encoder that agrees too
    little; the log says which.
    """
    if not isinstance(embedder, ConvertibleEmbedder):
        return None
    encoder = _kept_encoder(store, embedder) or convert(store, embedder)
    if encoder is None:
        _LOG.info("%s is used without an int8 encoder: it is no BERT that can be converted", embedder.name)
        return None
    agreement = _measure(encoder, embedder)
    if not agreement.suffices:
        _LOG.warning(
            "%s is used without an int8 encoder: the encoder's vectors differ too much: %s", embedder.name, agreement
        )
        return None
    return encoder, agreement


def convert(store: EncoderStore, embedder: ConvertibleEmbedder) -> Int8Encoder | None:
    """Makes the int8 encoder of the embedder's model and keeps it in the store; None for another architecture.

    Raises OSError when the store cannot be written.
    """
    bert = embedder.bert()
    if bert is None:
        return None
    files = {
        INT8_FILE: encoder_model(bert, "int8"),
        UINT8_FILE: encoder_model(bert, "uint8"),
        PROBE_FILE: exactness_probe(),
        WORDS_FILE: _array_file(bert.words),
        POSITIONS_FILE: _array_file(bert.positions[: bert.settings.max_tokens]),
        TOKENIZER_FILE: bert.settings.tokenizer.encode(),
    }
    record = EncoderRecord(
        embedder=embedder.name,
        model=embedder.fingerprint,
        converter=CONVERTER,
        dimension=bert.width,
        pooling=bert.settings.pooling,
        max_tokens=bert.settings.max_tokens,
        prompt=bert.settings.prompt,
        files=tuple((name, hashlib.sha256(content).hexdigest()) for name, content in sorted(files.items())),
    )
    store.put(record, files)
    _LOG.info("converted %s to the int8 encoder %s", embedder.name, record.fingerprint)
    return Int8Encoder(store.directory(record.fingerprint))


def _kept_encoder(store: EncoderStore, embedder: Embedder) -> Int8Encoder | None:
    """The encoder that an earlier build has left, if it is sound."""
    for record in store.records():
        if (record.model, record.converter) == (embedder.fingerprint, CONVERTER):
            try:
                return Int8Encoder(store.directory(record.fingerprint))
            except EncoderDamagedError as error:
                _LOG.warning("a converted model is made anew: %s", error)
    return None


def _measure(encoder: Int8Encoder, embedder: Embedder) -> Agreement:
    cosines = [
        float(np.sum(encoder.embed_query(text) * embedder.embed_query(text), dtype=np.float64)) for text in TEXTS
    ]
    return Agreement(float(np.mean(cosines)), min(cosines))


def _array_file(values: NDArray[np.float32]) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.ascontiguousarray(values))
    return buffer.getvalue()
