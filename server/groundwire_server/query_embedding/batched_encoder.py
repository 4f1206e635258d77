"""An int8 encoder whose queries are embedded together with those of other calls that wait."""

import numpy as np
from numpy.typing import NDArray

from groundwire_index.embedding.int8.bert_session import padded_length
from groundwire_index.embedding.int8.encoder import Int8Encoder, most_texts
from groundwire_index.embedding.int8.record import EncoderRecord
from groundwire_server.execution.call import Checkpoint
from groundwire_server.query_embedding.batches import Batches


class BatchedEncoder:
    """Embeds queries that come at the same time in one batch; none changes another's vector. Thread-safe."""

    def __init__(self, encoder: Int8Encoder) -> None:
        self._encoder = encoder
        self._batches = Batches(encoder.embed_tokens, padded_length, most_texts)

    @property
    def record(self) -> EncoderRecord:
        """The encoder's name and fingerprint."""
        return self._encoder.record

    def embed_query(self, query: str, checkpoint: Checkpoint) -> NDArray[np.float32]:
        """The query's vector: float32 of shape [dimension], unit length.

        Raises what the checkpoint raises while the query waits for others, EmbedderError when it has no vector.
        """
        return self._batches.run(self._encoder.query_tokens(query), checkpoint)
