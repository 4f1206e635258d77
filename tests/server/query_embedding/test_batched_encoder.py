"""Queries of calls that come at the same time share batches, which have bounds and change no vector."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from numpy.typing import NDArray

from groundwire_index.embedding.int8.encoder import LENGTH_STEP, MOST_TOKENS, Int8Encoder
from groundwire_index.embedding.int8.store import EncoderStore
from groundwire_ingest.embedding.convert import convert
from groundwire_ingest.embedding.own_model import OwnModel
from groundwire_server.query_embedding.query_encoders import EmbedQuery, in_batches
from support.calls import never_stop
from support.tiny_bert import write_tiny_bert

QUERIES = [f"find user {number}" * (number % 5 + 1) for number in range(24)]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Int8Encoder:
    folder: Path = tmp_path_factory.mktemp("tiny")
    made = convert(EncoderStore(folder), OwnModel(str(write_tiny_bert(folder, query_prompt="query: "))))
    assert made is not None
    return made


def embedded(embed_query: EmbedQuery, queries: Sequence[str]) -> list[bytes]:
    with ThreadPoolExecutor(24) as pool:
        return [vector.tobytes() for vector in pool.map(lambda query: embed_query(query, never_stop), queries)]


def test_queries_get_the_bytes_that_they_have_alone(encoder: Int8Encoder) -> None:
    expected = [encoder.embed_query(query).tobytes() for query in QUERIES]
    assert embedded(in_batches(encoder), QUERIES * 5) == expected * 5


def test_batches_are_bounded_by_their_tokens(encoder: Int8Encoder) -> None:
    seen: list[tuple[int, int]] = []
    embed_tokens = encoder.embed_tokens

    def watched(texts: Sequence[NDArray[np.int64]]) -> list[NDArray[np.float32]]:
        seen.append((len(texts), max(map(len, texts))))
        return embed_tokens(texts)

    with patch.object(encoder, "embed_tokens", watched):
        embedded(in_batches(encoder), QUERIES)
    assert sum(count for count, _ in seen) == len(QUERIES)
    assert all(count * length <= MOST_TOKENS + LENGTH_STEP * count or count == 1 for count, length in seen)
