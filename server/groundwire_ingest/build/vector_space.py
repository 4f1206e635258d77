"""The space of an index's vectors, and what embeds its texts: an int8 encoder where that agrees with the model."""

from dataclasses import replace
from pathlib import Path

from groundwire_index.embedding.embedder import Embedder, TextEmbedder
from groundwire_index.embedding.int8.store import EncoderStore
from groundwire_index.store.manifest import QueryEncoder, VectorSpace
from groundwire_ingest.embedding.convert import agreed_encoder
from groundwire_ingest.embedding.index_texts import text_embedder


def vector_space(embedder: Embedder, data: Path, threads: int) -> tuple[VectorSpace, TextEmbedder]:
    """The space, with the encoder by which servers shall embed its queries, and what embeds its texts.

    The choice between encoder and model depends on the model alone: were it the texts', hidden ones would change the
    scores of others. Raises what the embedder raises, and OSError.
    """
    agreed = agreed_encoder(EncoderStore(data), embedder)
    space = VectorSpace(embedder.name, embedder.fingerprint, embedder.dimension)
    if agreed is None:
        return space, text_embedder(embedder, None, threads)
    encoder, agreement = agreed.encoder, agreed.agreement
    queries = QueryEncoder(encoder.record.fingerprint, agreement.mean_cosine, agreement.min_cosine)
    return replace(space, query_encoder=queries), text_embedder(embedder, encoder, threads)
