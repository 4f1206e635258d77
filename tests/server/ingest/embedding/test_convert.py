"""Which models are converted, and when a converted one may answer in place of the model."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from groundwire_index.embedding.int8.record import TOKENIZER_FILE, WORDS_FILE
from groundwire_index.embedding.int8.store import ENCODERS_FOLDER, EncoderStore
from groundwire_ingest.embedding import convert as convert_module
from groundwire_ingest.embedding.convert import Agreement, agreed_encoder, convert
from groundwire_ingest.embedding.own_model import OwnModel
from support.builds import HashEmbedder
from support.tiny_bert import MAX_TOKENS, WIDTH, write_tiny_bert

TEXTS = ["find user 7", "pay: invoice", "x", "long words " * 30]


@pytest.fixture
def tiny(tmp_path: Path) -> Callable[..., OwnModel]:
    def make(name: str = "tiny", **options: object) -> OwnModel:
        return OwnModel(str(write_tiny_bert(tmp_path / name, **options)))  # type: ignore[arg-type]

    return make


@pytest.mark.parametrize(("pooling", "prompt"), [("mean", ""), ("cls", ""), ("mean", "query: "), ("cls", "q: ")])
def test_pooling_and_prompt_are_those_of_the_model(
    tmp_path: Path, tiny: Callable[..., OwnModel], pooling: str, prompt: str
) -> None:
    model = tiny(pooling=pooling, query_prompt=prompt)
    encoder = convert(EncoderStore(tmp_path), model)
    assert encoder is not None
    record = encoder.record
    assert (record.pooling, record.prompt, record.max_tokens, record.dimension) == (pooling, prompt, MAX_TOKENS, WIDTH)
    assert (record.embedder, record.model) == (model.name, model.fingerprint)
    for text in TEXTS:
        assert encoder.embed_query(text) @ model.embed_query(text) > 0.99
    if prompt:
        assert encoder.embed_query("x") @ model.embed_texts(["x"])[0] < 0.99


@pytest.mark.parametrize("options", [{"pooling": "max"}, {"activation": "relu"}])
def test_other_models_are_left_as_they_are(
    tmp_path: Path, tiny: Callable[..., OwnModel], options: dict[str, object]
) -> None:
    store = EncoderStore(tmp_path)
    model = tiny(**options)
    assert convert(store, model) is None
    assert agreed_encoder(store, model) is None
    assert store.records() == []


def test_an_embedder_without_a_model_has_no_encoder(tmp_path: Path) -> None:
    assert agreed_encoder(EncoderStore(tmp_path), HashEmbedder()) is None
    assert not (tmp_path / ENCODERS_FOLDER).exists()


def test_conversion_gives_the_same_files_each_time_and_is_done_once(
    tmp_path: Path, tiny: Callable[..., OwnModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tiny()
    first = convert(EncoderStore(tmp_path / "a"), model)
    second = convert(EncoderStore(tmp_path / "b"), model)
    assert first is not None
    assert second is not None
    assert first.record == second.record
    monkeypatch.setattr(convert_module, "convert", lambda *_: pytest.fail("it is converted already"))
    agreed = agreed_encoder(EncoderStore(tmp_path / "a"), model)
    assert agreed is not None
    assert agreed[0].record == first.record


def test_the_name_of_a_model_is_not_part_of_its_encoder(tmp_path: Path, tiny: Callable[..., OwnModel]) -> None:
    here, there = convert(EncoderStore(tmp_path), tiny("here")), convert(EncoderStore(tmp_path), tiny("there"))
    assert here is not None
    assert there is not None
    assert here.record.embedder != there.record.embedder
    assert here.record.fingerprint == there.record.fingerprint


@pytest.mark.parametrize(
    ("mean", "least", "suffices"),
    [(0.9995, 0.999, True), (0.998, 0.99, True), (0.9979, 0.997, False), (0.999, 0.989, False)],
)
def test_an_encoder_that_strays_does_not_answer(mean: float, least: float, suffices: bool) -> None:
    assert Agreement(mean, least).suffices is suffices


def test_an_encoder_that_strays_is_told_in_the_log(
    tmp_path: Path, tiny: Callable[..., OwnModel], caplog: pytest.LogCaptureFixture
) -> None:
    model = tiny()

    class Stranger:
        name, fingerprint, dimension = model.name, model.fingerprint, model.dimension
        bert, text_prompt, embed_texts = model.bert, model.text_prompt, model.embed_texts

        def embed_query(self, text: str) -> NDArray[np.float32]:
            return -model.embed_query(text)

    assert agreed_encoder(EncoderStore(tmp_path), Stranger()) is None
    assert "strays" in caplog.text


@pytest.mark.parametrize("file", [WORDS_FILE, TOKENIZER_FILE])
def test_a_damaged_copy_is_made_anew(tmp_path: Path, tiny: Callable[..., OwnModel], file: str) -> None:
    store, model = EncoderStore(tmp_path), tiny()
    before = agreed_encoder(store, model)
    assert before is not None
    path = store.directory(before[0].record.fingerprint) / file
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    after = agreed_encoder(store, model)
    assert after is not None
    assert (after[0].record, after[1]) == (before[0].record, before[1])
    assert store.records() == [before[0].record]
