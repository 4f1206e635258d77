"""An index names the encoder of its queries and its agreement with the model; texts have that encoder's vectors."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from groundwire_index.embedding.embedder import unit_length
from groundwire_index.embedding.int8.encoder import Int8Encoder
from groundwire_index.embedding.int8.store import EncoderStore
from groundwire_index.embedding.model_names import DEFAULT_MODEL
from groundwire_index.store.manifest import QueryEncoder
from groundwire_ingest.build.vectors import PATH_SHARE
from groundwire_ingest.embedding.index_texts import load_embedder
from groundwire_ingest.embedding.own_model import OwnModel
from support.builds import RECORDS, V1, V2, HashEmbedder, build, index_of, node
from support.tiny_bert import write_tiny_bert


class _Packaged(HashEmbedder):
    name = DEFAULT_MODEL


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> OwnModel:
    return OwnModel(str(write_tiny_bert(tmp_path_factory.mktemp("tiny"))))


def encoder_of(data: Path) -> QueryEncoder | None:
    space = index_of(data).manifest.vector_space
    assert space is not None
    return space.query_encoder


def test_the_manifest_names_an_encoder_that_is_there(tmp_path: Path, model: OwnModel) -> None:
    build(tmp_path, RECORDS, embedder=model)
    named = encoder_of(tmp_path)
    assert named is not None
    assert 0.998 <= named.mean_cosine <= 1
    assert 0.99 <= named.min_cosine <= named.mean_cosine
    encoder = Int8Encoder(EncoderStore(tmp_path).directory(named.fingerprint))
    assert encoder.embed_query("text 7") @ model.embed_query("text 7") > 0.99


def test_texts_have_the_vectors_of_the_encoder(tmp_path: Path, model: OwnModel) -> None:
    build(tmp_path, RECORDS, embedder=model)
    named = encoder_of(tmp_path)
    assert named is not None
    encoder = Int8Encoder(EncoderStore(tmp_path).directory(named.fingerprint))
    vectors = index_of(tmp_path).vectors
    assert vectors is not None
    expected = [encoder.embed_query(text).tobytes() for text in ("getUserById", "Invoice\n\nclass Invoice {}")]
    assert [row.tobytes() for row in vectors.rows[:2]] == expected


def test_vectors_of_a_packaged_model_have_a_share_of_the_path(tmp_path: Path) -> None:
    embedder = _Packaged()
    paths = {"a": "src/jobQueue/SendMail.cs", "b": "", "c": "SendMail", "d": "src/jobQueue/SendMail.cs"}
    records = [node(id_, "  " if id_ == "d" else "get user", path=path) for id_, path in paths.items()]
    build(tmp_path, records, embedder=embedder)
    vectors = index_of(tmp_path).vectors
    assert vectors is not None
    text, path, name = map(embedder.embed_query, ("get user", "src job Queue Send Mail", "Send Mail"))
    expected = [unit_length(text + PATH_SHARE * added) for added in (path + name, 0.0 * path, 2 * name)]
    np.testing.assert_allclose(vectors.rows[:3], expected, rtol=1e-6)
    assert not vectors.rows[3].any()


def test_a_file_name_decides_between_equal_texts(tmp_path: Path) -> None:
    model = load_embedder(DEFAULT_MODEL)
    paths = ("mail/transport.py", "images/status_badge.py")
    text = "def run(self):\n    return self.render(self.values)"
    build(tmp_path, [node(path, text, path=path) for path in paths], embedder=model)
    vectors = index_of(tmp_path).vectors
    assert vectors is not None
    badge, transport = vectors.rows @ model.embed_query("little status pictures")
    assert badge > transport + 0.05


def test_a_warm_cache_changes_no_byte(tmp_path: Path, model: OwnModel) -> None:
    records = [node(f"n{number:02}", "get user " * (number % 7 + 1) + str(number)) for number in range(40)]
    build(tmp_path / "cold", records, V2, embedder=model)
    build(tmp_path / "warm", records[::3], V1, embedder=model)
    report = build(tmp_path / "warm", records, V2, embedder=model)
    assert (report.embedded, report.reused) == (26, 14)
    cold, warm = (index_of(tmp_path / folder, V2).vectors for folder in ("cold", "warm"))
    assert cold is not None
    assert warm is not None
    assert np.asarray(cold.rows).tobytes() == np.asarray(warm.rows).tobytes()


def test_a_second_build_shares_the_encoder(tmp_path: Path, model: OwnModel) -> None:
    build(tmp_path, RECORDS, embedder=model)
    build(tmp_path, RECORDS, V2, embedder=model)
    assert index_of(tmp_path).manifest.vector_space == index_of(tmp_path, V2).manifest.vector_space
    assert len(EncoderStore(tmp_path).records()) == 1


def test_an_encoder_that_strays_is_not_named(tmp_path: Path, model: OwnModel) -> None:
    class Stranger:
        name, fingerprint, dimension = model.name, model.fingerprint, model.dimension
        bert, text_prompt, embed_texts = model.bert, model.text_prompt, model.embed_texts

        def embed_query(self, text: str) -> NDArray[np.float32]:
            return -model.embed_query(text)

    build(tmp_path, RECORDS, embedder=Stranger())
    assert encoder_of(tmp_path) is None


def test_another_embedder_names_none(tmp_path: Path) -> None:
    build(tmp_path, RECORDS, embedder=HashEmbedder())
    assert encoder_of(tmp_path) is None


def test_no_text_of_an_index_has_a_part_in_the_choice(tmp_path: Path, model: OwnModel) -> None:
    for folder, records in (("few", RECORDS), ("blank", [node("a", " "), node("b", "")])):
        build(tmp_path / folder, records, embedder=model)
    assert encoder_of(tmp_path / "few") == encoder_of(tmp_path / "blank") is not None
