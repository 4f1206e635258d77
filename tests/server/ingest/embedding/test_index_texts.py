"""What embeds the texts of an index, and what tells its vectors from others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from groundwire_index.embedding.int8.encoder import Int8Encoder
from groundwire_index.embedding.int8.store import EncoderStore
from groundwire_ingest.embedding import own_model
from groundwire_ingest.embedding.convert import convert
from groundwire_ingest.embedding.index_texts import text_embedder
from groundwire_ingest.embedding.own_model import OwnModel
from support.builds import HashEmbedder
from support.tiny_bert import write_tiny_bert

TEXTS = ["find user 7", "pay: invoice", "x", "long words " * 30]


@dataclass(frozen=True)
class Made:
    model: OwnModel
    encoder: Int8Encoder


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Made]:
    def make(name: str = "tiny", **options: object) -> Made:
        model = OwnModel(str(write_tiny_bert(tmp_path / name, **options)))  # type: ignore[arg-type]
        encoder = convert(EncoderStore(tmp_path), model)
        assert encoder is not None
        return Made(model, encoder)

    return make


class RoundsOtherwise(HashEmbedder):
    """As a machine would that rounds one of many sums to the next number."""

    def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = super().embed_texts(texts)
        vectors[-1, 0] = np.nextafter(vectors[-1, 0], np.float32(2))
        return vectors


@pytest.mark.parametrize("prompt", ["", "text: "])
def test_the_encoder_embeds_texts_as_the_model_would(made: Callable[..., Made], prompt: str) -> None:
    tiny = made(query_prompt="query: ", text_prompt=prompt)
    vectors = text_embedder(tiny.model, tiny.encoder, 2).embed_texts(TEXTS)
    assert vectors.tobytes() == tiny.encoder.embed_texts(TEXTS, prompt, 1).tobytes()
    assert np.sum(vectors * tiny.model.embed_texts(TEXTS), axis=1).min() > 0.99


def test_without_an_encoder_the_model_embeds(made: Callable[..., Made]) -> None:
    model = made().model
    texts = text_embedder(model, None, 2)
    assert texts.dimension == model.dimension
    assert texts.embed_texts(TEXTS).tobytes() == model.embed_texts(TEXTS).tobytes()


def test_a_prompt_that_the_model_leaves_out_of_its_vectors_is_left_to_the_model(made: Callable[..., Made]) -> None:
    tiny = made(text_prompt="text: ", pools_prompts=False)
    vectors = text_embedder(tiny.model, tiny.encoder, 2).embed_texts(TEXTS)
    assert vectors.tobytes() == tiny.model.embed_texts(TEXTS).tobytes()


def test_on_a_gpu_the_model_embeds_texts_in_half_precision(
    made: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The processor in the place of the GPU: batches, precision and order are the same there."""
    exact = made("exact").model.embed_texts(TEXTS)
    monkeypatch.setattr(own_model, "gpu", lambda: "cpu")
    tiny = made()
    vectors = text_embedder(tiny.model, tiny.encoder, 2).embed_texts(TEXTS)
    assert vectors == pytest.approx(exact, abs=0.02)
    assert vectors.tobytes() != exact.tobytes()
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-6)
    assert tiny.model.embed_query(TEXTS[0]).tobytes() == made("other").model.embed_query(TEXTS[0]).tobytes()


def test_the_fingerprint_does_not_depend_on_place_or_threads(made: Callable[..., Made]) -> None:
    here, there = made("here"), made("there")
    assert text_embedder(here.model, here.encoder, 1).fingerprint == (
        text_embedder(there.model, there.encoder, 3).fingerprint
    )


def test_the_fingerprint_tells_encoder_model_and_prompt_apart(made: Callable[..., Made]) -> None:
    tiny, prompted = made(), made("prompted", text_prompt="text: ")
    fingerprints = {
        text_embedder(tiny.model, tiny.encoder, 1).fingerprint,
        text_embedder(tiny.model, None, 1).fingerprint,
        text_embedder(prompted.model, prompted.encoder, 1).fingerprint,
    }
    assert len(fingerprints) == 3
    assert tiny.model.fingerprint not in fingerprints


def test_the_fingerprint_tells_another_way_of_rounding() -> None:
    assert text_embedder(HashEmbedder(), None, 1).fingerprint == text_embedder(HashEmbedder(), None, 1).fingerprint
    assert text_embedder(HashEmbedder(), None, 1).fingerprint != text_embedder(RoundsOtherwise(), None, 1).fingerprint
