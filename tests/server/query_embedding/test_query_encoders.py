"""What answers for an index is what the index names, whoever serves it."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from groundwire_index.embedding.embedder import Embedder, EmbedderError, EmbedderUnavailableError
from groundwire_index.embedding.int8.encoder import Int8Encoder
from groundwire_index.embedding.int8.record import WORDS_FILE
from groundwire_index.embedding.int8.store import EncoderStore
from groundwire_index.store.manifest import QueryEncoder, VectorSpace
from groundwire_ingest.embedding.convert import convert
from groundwire_ingest.embedding.own_model import OwnModel
from groundwire_server.query_embedding.deferred import DeferredEmbedder
from groundwire_server.query_embedding.query_encoders import QueryEncoders
from support.builds import HashEmbedder
from support.calls import never_stop
from support.tiny_bert import write_tiny_bert


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> OwnModel:
    return OwnModel(str(write_tiny_bert(tmp_path_factory.mktemp("tiny"))))


@pytest.fixture
def encoder(tmp_path: Path, model: OwnModel) -> Int8Encoder:
    made = convert(EncoderStore(tmp_path), model)
    assert made is not None
    return made


def refuse(name: str) -> Embedder:
    raise AssertionError(f"{name} was loaded")


def deferred(
    model: Embedder, load: Callable[[str], Embedder] = refuse, fingerprint: str | None = None
) -> DeferredEmbedder:
    return DeferredEmbedder(model.name, fingerprint or model.fingerprint, model.dimension, load)


def space(model: Embedder, encoder: str) -> VectorSpace:
    queries = QueryEncoder(encoder, 1.0, 1.0) if encoder else None
    return VectorSpace(model.name, model.fingerprint, model.dimension, queries)


def embedded(encoders: QueryEncoders, model: Embedder, encoder: str) -> bytes | None:
    embed = encoders.find(space(model, encoder))
    return None if embed is None else embed("find user 7", never_stop).tobytes()


def test_an_index_gets_the_encoder_that_it_names_without_its_model(
    tmp_path: Path, model: OwnModel, encoder: Int8Encoder
) -> None:
    encoders = QueryEncoders([deferred(model)], EncoderStore(tmp_path))
    expected = encoder.embed_query("find user 7").tobytes()
    assert embedded(encoders, model, encoder.record.fingerprint) == expected


def test_an_index_without_an_encoder_gets_the_model(tmp_path: Path, model: OwnModel, encoder: Int8Encoder) -> None:
    loads: list[str] = []

    def load(name: str) -> Embedder:
        loads.append(name)
        return model

    encoders = QueryEncoders([deferred(model, load)], EncoderStore(tmp_path))
    assert not loads
    assert embedded(encoders, model, "") == model.embed_query("find user 7").tobytes()
    assert embedded(encoders, model, "") != embedded(encoders, model, encoder.record.fingerprint)
    assert loads == [model.name]


def test_what_the_server_has_not_got_is_not_found(tmp_path: Path, model: OwnModel, encoder: Int8Encoder) -> None:
    encoders = QueryEncoders([HashEmbedder()], EncoderStore(tmp_path))
    assert encoders.find(space(model, encoder.record.fingerprint)) is None
    assert encoders.find(space(HashEmbedder(), "another")) is None


def test_an_encoder_that_a_build_adds_is_found_by_a_running_server(tmp_path: Path, model: OwnModel) -> None:
    encoders = QueryEncoders([deferred(model)], EncoderStore(tmp_path))
    made = convert(EncoderStore(tmp_path), model)
    assert made is not None
    assert embedded(encoders, model, made.record.fingerprint) is not None


def test_the_encoder_of_a_named_model_suffices(tmp_path: Path, model: OwnModel, encoder: Int8Encoder) -> None:
    named = QueryEncoders([], EncoderStore(tmp_path), [model.name])
    assert embedded(named, model, encoder.record.fingerprint) == encoder.embed_query("find user 7").tobytes()
    assert embedded(named, model, "") is None
    assert embedded(QueryEncoders([], EncoderStore(tmp_path), ["another"]), model, encoder.record.fingerprint) is None


def test_a_missing_encoder_is_used_once_it_is_put_back(tmp_path: Path, model: OwnModel, encoder: Int8Encoder) -> None:
    directory = EncoderStore(tmp_path).directory(encoder.record.fingerprint)
    directory.rename(tmp_path / "away")
    encoders = QueryEncoders([], EncoderStore(tmp_path), [model.name])
    assert embedded(encoders, model, encoder.record.fingerprint) is None
    (tmp_path / "away").rename(directory)
    assert embedded(encoders, model, encoder.record.fingerprint) is not None


def test_a_damaged_encoder_does_not_answer_and_is_told_once(
    tmp_path: Path, model: OwnModel, encoder: Int8Encoder, caplog: pytest.LogCaptureFixture
) -> None:
    fingerprint = encoder.record.fingerprint
    (EncoderStore(tmp_path).directory(fingerprint) / WORDS_FILE).write_bytes(b"")
    encoders = QueryEncoders([], EncoderStore(tmp_path), [model.name])
    for _ in range(3):
        assert embedded(encoders, model, fingerprint) is None
    assert caplog.text.count("cannot be used") == 1
    assert "does not match its checksum" in caplog.text


def test_a_deferred_embedder_is_the_embedder_it_stands_for(model: OwnModel) -> None:
    stand_in = deferred(model, lambda _: model)
    assert stand_in.embed_query("a").tobytes() == model.embed_query("a").tobytes()
    assert np.array_equal(stand_in.embed_texts(["a", "b"]), model.embed_texts(["a", "b"]))


def test_a_model_that_has_changed_is_refused(model: OwnModel) -> None:
    with pytest.raises(EmbedderUnavailableError, match="not the one that the index was made with"):
        deferred(model, lambda _: model, fingerprint="another").embed_query("a")


def test_a_model_that_cannot_be_loaded_is_tried_once() -> None:
    tries: list[str] = []

    def fail(name: str) -> Embedder:
        tries.append(name)
        raise EmbedderError("no such model")

    stand_in = deferred(HashEmbedder(), fail)
    for _ in range(2):
        with pytest.raises(EmbedderUnavailableError, match="no such model"):
            stand_in.embed_query("a")
    assert tries == ["hash"]
