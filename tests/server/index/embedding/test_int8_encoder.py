"""The int8 encoder: near what the model gives, the same bytes whatever the batch, the threads, the kind of weights."""

import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundwire_index.embedding.int8 import encoder as encoder_module
from groundwire_index.embedding.int8.encoder import Int8Encoder, multiplies_exactly, padded_length
from groundwire_index.embedding.int8.record import PROBE_FILE
from groundwire_index.embedding.int8.store import EncoderStore
from groundwire_ingest.embedding.convert import convert
from groundwire_ingest.embedding.packaged_model import PackagedModel
from support.properties import costly

WORDS = (
    "find the user who paid an invoice getUserById SELECT * FROM dbo.Invoice ünïcödé 日本語 async def ??? 0x1F".split()
)


@dataclass(frozen=True)
class Converted:
    model: PackagedModel
    encoder: Int8Encoder
    directory: Path


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Converted:
    store = EncoderStore(tmp_path_factory.mktemp("data"))
    model = PackagedModel()
    encoder = convert(store, model)
    assert encoder is not None
    return Converted(model, encoder, store.directory(encoder.record.fingerprint))


def random_texts(seed: int, count: int, most_words: int = 12) -> list[str]:
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS, k=draw.randint(1, most_words))) for _ in range(count)]


def alone(encoder: Int8Encoder, texts: Sequence[str]) -> list[bytes]:
    return [encoder.embed_query(text).tobytes() for text in texts]


def together(encoder: Int8Encoder, texts: Sequence[str], threads: int = 1) -> list[bytes]:
    return [row.tobytes() for row in encoder.embed_texts(texts, "", threads)]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13, 16, 31, 32])
def test_the_bytes_do_not_depend_on_the_batch(converted: Converted, size: int) -> None:
    encoder = converted.encoder
    by_length: dict[int, list[str]] = {}
    for text in random_texts(size, 3 * size + 32):
        by_length.setdefault(padded_length(encoder.query_tokens(text)), []).append(text)
    batches = [texts[start : start + size] for texts in by_length.values() for start in range(0, len(texts), size)]
    assert any(len(batch) == size for batch in batches)
    for batch in batches:
        vectors = encoder.embed_tokens([encoder.query_tokens(text) for text in batch])
        assert [vector.tobytes() for vector in vectors] == alone(encoder, batch)


@settings(costly(), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(
        st.text(max_size=60) | st.sampled_from([*random_texts(17, 34, 30), *random_texts(18, 6, 250)]),
        min_size=1,
        max_size=32,
    ),
    threads=st.integers(1, 3),
    order=st.randoms(use_true_random=False),
)
def test_no_company_order_or_thread_changes_a_vector(
    converted: Converted, texts: list[str], threads: int, order: random.Random
) -> None:
    expected = alone(converted.encoder, texts)
    assert together(converted.encoder, texts, threads) == expected
    rows = list(range(len(texts)))
    order.shuffle(rows)
    assert together(converted.encoder, [texts[row] for row in rows], threads) == [expected[row] for row in rows]


def test_no_texts_have_no_vectors(converted: Converted) -> None:
    assert converted.encoder.embed_texts([], "", 2).shape == (0, 384)


def test_texts_are_embedded_after_their_prompt(converted: Converted) -> None:
    prompted = converted.encoder.embed_texts(["getUserById"], "passage: ", 1)
    assert prompted[0].tobytes() == alone(converted.encoder, ["passage: getUserById"])[0]


def test_thirty_two_threads_get_the_bytes_of_one(converted: Converted) -> None:
    texts = random_texts(99, 60)
    expected = alone(converted.encoder, texts)
    with ThreadPoolExecutor(32) as pool:
        answers = list(pool.map(lambda text: converted.encoder.embed_query(text).tobytes(), texts * 5))
    assert answers == expected * 5


def test_a_text_longer_than_the_model_is_cut_as_the_model_cuts_it(converted: Converted) -> None:
    text = " ".join(random_texts(3, 1, 2000) * 4)
    beyond = converted.encoder.embed_query(text + " and more")
    assert beyond.tobytes() == converted.encoder.embed_query(text).tobytes()
    cosine = converted.model.embed_query(text) @ converted.encoder.embed_query(text)
    assert cosine > 0.995


def test_vectors_have_unit_length_and_are_near_the_models(converted: Converted) -> None:
    texts = random_texts(7, 40, 20)
    mine = np.stack([converted.encoder.embed_query(text) for text in texts])
    models = np.stack([converted.model.embed_query(text) for text in texts])
    assert mine.dtype == np.float32
    assert np.linalg.norm(mine, axis=1) == pytest.approx(1, abs=1e-6)
    cosines = np.sum(mine * models, axis=1)
    assert cosines.mean() > 0.999
    assert cosines.min() > 0.998


def test_unsigned_weights_give_the_same_bytes(converted: Converted) -> None:
    """What a processor without exact products of signed weights is given."""
    texts = random_texts(11, 20)
    with patch.object(encoder_module, "multiplies_exactly", lambda _: False):
        unsigned = Int8Encoder(converted.directory)
    if multiplies_exactly(converted.directory / PROBE_FILE):
        assert alone(unsigned, texts) == alone(converted.encoder, texts)
    assert together(unsigned, texts) == alone(unsigned, texts)
