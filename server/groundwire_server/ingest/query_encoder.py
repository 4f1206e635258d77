"""Gives an index the int8 encoder of its model, where that agrees with the model on the index's own texts."""

from dataclasses import replace
from pathlib import Path

from groundwire_server.embedding.embedder import Embedder
from groundwire_server.embedding.int8.convert import SAMPLED_TEXTS, agreed_encoder
from groundwire_server.embedding.int8.store import EncoderStore
from groundwire_server.index.manifest import QueryEncoder, VectorSpace
from groundwire_server.ingest.spool import SpooledNodes

_READ_FOR_EACH = 4
"""How many nodes are read for each text that is compared: some are blank."""


def with_query_encoder(space: VectorSpace, nodes: SpooledNodes, embedder: Embedder, data: Path) -> VectorSpace:
    """The space with the encoder by which servers shall embed its queries; as it is when that is to be the model.

    The choice depends on the model and on the index's texts alone. Raises what the embedder raises, and OSError.
    """
    agreement = agreed_encoder(EncoderStore(data), embedder, _sample(nodes))
    if agreement is None:
        return space
    encoder = QueryEncoder(
        fingerprint=agreement.encoder,
        sampled=agreement.sampled,
        mean_cosine=agreement.mean_cosine,
        min_cosine=agreement.min_cosine,
    )
    return replace(space, query_encoder=encoder)


def _sample(nodes: SpooledNodes) -> list[str]:
    """SAMPLED_TEXTS texts from all over the index, fewer when it has fewer."""
    read = _evenly_spaced(len(nodes), _READ_FOR_EACH * SAMPLED_TEXTS)
    texts = [node.text for node in nodes.read(read) if node.text.strip()]
    return [texts[position] for position in _evenly_spaced(len(texts), SAMPLED_TEXTS)]


def _evenly_spaced(count: int, wanted: int) -> list[int]:
    taken = min(count, wanted)
    return [position * count // taken for position in range(taken)]
