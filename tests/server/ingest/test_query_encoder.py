"""An index names the encoder of its queries, and how far it agrees with the model."""

from pathlib import Path

import pytest

from groundwire_server.domain.checkpoint import never_stop
from groundwire_server.embedding.int8 import convert as convert_module
from groundwire_server.embedding.int8.encoder import Int8Encoder
from groundwire_server.embedding.int8.store import EncoderStore
from groundwire_server.embedding.sentence_transformer import SentenceTransformerEmbedder
from groundwire_server.index.manifest import QueryEncoder
from support.builds import RECORDS, V2, HashEmbedder, build, index_of, node
from support.tiny_bert import write_tiny_bert


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> SentenceTransformerEmbedder:
    return SentenceTransformerEmbedder(str(write_tiny_bert(tmp_path_factory.mktemp("tiny"))))


def encoder_of(data: Path) -> QueryEncoder | None:
    space = index_of(data).manifest.vector_space
    assert space is not None
    return space.query_encoder


def test_the_manifest_names_an_encoder_that_is_there(tmp_path: Path, model: SentenceTransformerEmbedder) -> None:
    build(tmp_path, RECORDS, embedder=model)
    named = encoder_of(tmp_path)
    assert named is not None
    assert 0.998 <= named.mean_cosine <= 1
    assert 0.99 <= named.min_cosine <= named.mean_cosine
    encoder = Int8Encoder(EncoderStore(tmp_path).directory(named.fingerprint))
    assert encoder.embed_query("text 7", never_stop) @ model.embed_query("text 7") > 0.99


def test_a_second_build_shares_the_encoder(tmp_path: Path, model: SentenceTransformerEmbedder) -> None:
    build(tmp_path, RECORDS, embedder=model)
    build(tmp_path, RECORDS, V2, embedder=model)
    assert index_of(tmp_path).manifest.vector_space == index_of(tmp_path, V2).manifest.vector_space
    assert len(EncoderStore(tmp_path).records()) == 1


def test_an_encoder_that_strays_is_not_named(
    tmp_path: Path, model: SentenceTransformerEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(convert_module, "LEAST_MEAN_COSINE", 1.1)
    build(tmp_path, RECORDS, embedder=model)
    assert encoder_of(tmp_path) is None


def test_another_embedder_names_none(tmp_path: Path) -> None:
    build(tmp_path, RECORDS, embedder=HashEmbedder())
    assert encoder_of(tmp_path) is None


def test_no_text_of_an_index_has_a_part_in_the_choice(tmp_path: Path, model: SentenceTransformerEmbedder) -> None:
    for folder, records in (("few", RECORDS), ("blank", [node("a", " "), node("b", "")])):
        build(tmp_path / folder, records, embedder=model)
    assert encoder_of(tmp_path / "few") == encoder_of(tmp_path / "blank") is not None
