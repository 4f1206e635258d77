"""The space of an index's vectors, and what embeds its texts: the int8 encoder of their model, or the model itself."""

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_index.embedding.embedder import (
    Embedder,
    EmbedderError,
    ProbedEmbedder,
    TextEmbedder,
    agree,
    needs_local_models,
)
from groundwire_index.embedding.int8.encoder import Int8Encoder
from groundwire_index.embedding.int8.store import EncoderStore
from groundwire_index.embedding.model_names import PACKAGED_MODELS, checked_url, is_url, without_user
from groundwire_index.nodes.node import content_hash
from groundwire_index.store.manifest import QueryEncoder, VectorSpace
from groundwire_ingest.embedding.cache import EmbeddingCache
from groundwire_ingest.embedding.calibration import TEXTS
from groundwire_ingest.embedding.convert import ConvertibleEmbedder, agreed_encoder
from groundwire_ingest.embedding.packaged_model import PackagedModel


def vector_space(embedder: Embedder, data: Path, threads: int) -> tuple[VectorSpace, TextEmbedder]:
    """The vector space, with the encoder for servers' queries, and the embedder of the texts.

    The choice between encoder and model depends on the model alone: were it the texts', hidden ones would change the
    scores of others. Raises what the embedder raises, and OSError.
    """
    if isinstance(embedder, ProbedEmbedder):
        space = VectorSpace(embedder.name, embedder.fingerprint, embedder.dimension, probes=embedder.probes())
        return space, embedder
    agreed = agreed_encoder(EncoderStore(data), embedder)
    space = VectorSpace(embedder.name, embedder.fingerprint, embedder.dimension)
    if agreed is None:
        return space, text_embedder(embedder, None, threads)
    encoder, agreement = agreed
    queries = QueryEncoder(encoder.record.fingerprint, agreement.mean_cosine, agreement.min_cosine)
    return replace(space, query_encoder=queries), text_embedder(embedder, encoder, threads)


def check_same_model(embedder: Embedder, cache: EmbeddingCache) -> None:
    """Raises EmbedderError if a service has another model behind its name than the one whose vectors the cache has."""
    from groundwire_index.embedding.service import PROBES

    key = content_hash(PROBES[0])
    (vector,) = embedder.embed_texts(PROBES[:1])
    known = cache.get_many(embedder.fingerprint, [key]).get(key)
    if known is None:
        cache.put_many(embedder.fingerprint, {key: vector})
    elif not agree(known, vector):
        raise EmbedderError(
            f"the model {embedder.name!r} of the service has changed behind its name, and {cache.path} has vectors of "
            "the earlier one: put that one back, or delete the file"
        )


def text_embedder(embedder: Embedder, encoder: Int8Encoder | None, threads: int) -> TextEmbedder:
    """Embeds texts by the encoder that may take the model's place, by the model where there is none.

    The fingerprint covers everything that changes bytes: models, encoders, and machines or libraries that round
    otherwise. `threads` batches are computed at once. Raises EmbedderError.
    """
    # The encoder is only used if it gets the same input as the model would.
    prompt = embedder.text_prompt() if encoder is not None and isinstance(embedder, ConvertibleEmbedder) else None
    source = embedder.fingerprint
    embed: Callable[[Sequence[str]], NDArray[np.float32]] = embedder.embed_texts
    if encoder is not None and prompt is not None:
        source, embed = encoder.record.fingerprint, partial(encoder.embed_texts, prompt=prompt, threads=threads)
    # The vectors of fixed texts have enough numbers to show any other way of rounding. All of these texts together are
    # one more, which is as long as the model takes.
    vectors = embed([*TEXTS, "\n".join(TEXTS)])
    fingerprint = hashlib.sha256(source.encode() + vectors.tobytes()).hexdigest()
    return _Fingerprinted(fingerprint, embedder.dimension, embed)


@dataclass(frozen=True, slots=True)
class _Fingerprinted:
    fingerprint: str
    dimension: int
    embed: Callable[[Sequence[str]], NDArray[np.float32]]

    def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self.embed(texts)


def load_embedder(name: str) -> Embedder:
    """A packaged model, a service by its URL, else what sentence-transformers loads by path or name.

    The token of a service is that of GROUNDWIRE_EMBEDDER_TOKEN, or is in the file GROUNDWIRE_EMBEDDER_TOKEN_FILE.
    Raises EmbedderError.
    """
    if is_url(name):
        from groundwire_configuration.http_service import token_in
        from groundwire_index.embedding.service import ServiceEmbedder

        file, token = (os.environ.get(f"GROUNDWIRE_EMBEDDER_TOKEN{end}", "") for end in ("_FILE", ""))
        try:
            return ServiceEmbedder(checked_url(name), token_in(Path(file)) if file else lambda: token)
        except ValueError as error:
            raise EmbedderError(f"embedder: {without_user(name)}: {error}") from None
    if name in PACKAGED_MODELS:
        return PackagedModel(name)
    # A packaged model must not pay seconds for loading torch, which may not be installed.
    with needs_local_models(name):
        from groundwire_ingest.embedding.own_model import OwnModel
    return OwnModel(name)
