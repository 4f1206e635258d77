"""Gives an index the int8 encoder of its model, where that agrees with the model."""

from dataclasses import replace
from pathlib import Path

from groundwire_server.embedding.embedder import Embedder
from groundwire_server.embedding.int8.convert import agreed_encoder
from groundwire_server.embedding.int8.store import EncoderStore
from groundwire_server.index.manifest import QueryEncoder, VectorSpace


def with_query_encoder(space: VectorSpace, embedder: Embedder, data: Path) -> VectorSpace:
    """The space with the encoder by which servers shall embed its queries; as it is when that is to be the model.

    The choice depends on the model alone: were it the texts', hidden ones would change the scores of others. Raises
    what the embedder raises, and OSError.
    """
    agreement = agreed_encoder(EncoderStore(data), embedder)
    if agreement is None:
        return space
    encoder = QueryEncoder(agreement.encoder, agreement.mean_cosine, agreement.min_cosine)
    return replace(space, query_encoder=encoder)
