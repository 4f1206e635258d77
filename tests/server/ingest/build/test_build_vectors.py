"""The vectors of a build: embedded once a text, or brought by the source."""

from pathlib import Path

import pytest

from groundwire_index.store.manifest import VectorSpace
from groundwire_ingest.records import SourceRecord
from support.builds import RECORDS, V1, V2, HashEmbedder, build, index_of, node, refusal


def test_embedding_reuses_what_an_earlier_version_embedded(tmp_path: Path) -> None:
    first = build(tmp_path, RECORDS, V1, embedder=HashEmbedder())
    assert (first.embedded, first.reused) == (2, 0)
    more = [*RECORDS, node("d", "a new text")]
    second = build(tmp_path, more, V2, embedder=HashEmbedder())
    assert (second.embedded, second.reused) == (1, 2)
    index = index_of(tmp_path, V2)
    assert index.manifest.vector_space == VectorSpace("hash", "hash-1", 4)
    assert index.vectors is not None
    assert index.vectors.present.tolist() == [True, True, False, True]
    assert index.vectors.rows[0].tobytes() == HashEmbedder().embed_query("getUserById").tobytes()


def test_a_context_prefix_is_embedded_with_the_text(tmp_path: Path) -> None:
    records = [node("a", "pay", context_prefix="Guide"), node("b", "pay"), node("c", "", context_prefix="Guide")]
    report = build(tmp_path, records, V1, embedder=HashEmbedder())
    assert report.embedded == 3
    vectors = index_of(tmp_path).vectors
    assert vectors is not None
    expected = [HashEmbedder().embed_query(text).tobytes() for text in ("Guide\n\npay", "pay", "Guide\n\n")]
    assert [row.tobytes() for row in vectors.rows] == expected
    again = build(tmp_path, [*records, node("d", "Guide\n\npay")], V2, embedder=HashEmbedder())
    assert (again.embedded, again.reused) == (0, 3)


def test_the_words_of_a_symbol_are_embedded_before_context_and_text(tmp_path: Path) -> None:
    records = [
        node("a", "return 1", symbol="Shop.HTTPServer.get_userById", context_prefix="class HTTPServer"),
        node("b", "return 1", symbol="pay"),
        node("c", "", symbol="pay"),
    ]
    assert build(tmp_path, records, V1, embedder=HashEmbedder()).embedded == 2
    vectors = index_of(tmp_path).vectors
    assert vectors is not None
    expected = ("Shop HTTP Server get user By Id\nclass HTTPServer\n\nreturn 1", "pay\n\nreturn 1")
    assert [row.tobytes() for row in vectors.rows[:2]] == [
        HashEmbedder().embed_query(text).tobytes() for text in expected
    ]
    assert vectors.present.tolist() == [True, True, False]


def test_what_entity_framework_writes_out_of_a_model_is_not_embedded(tmp_path: Path) -> None:
    paths = (
        "src/Migrations/20240101_Init.Designer.cs",
        "src/Data/ShopModelSnapshot.cs",
        "src/Forms/Main.Designer.cs",
        "src/Migrations/20240101_Init.cs",
    )
    records = [node(f"n{place}", f"text {place}", path=path, is_generated=True) for place, path in enumerate(paths)]
    by_hand = node("n9", "text 9", path="src/Migrations/Notes.Designer.cs")
    without_path = node("m", "text m", is_generated=True)
    assert build(tmp_path, [*records, by_hand, without_path], V1, embedder=HashEmbedder()).embedded == 4
    vectors = index_of(tmp_path).vectors
    assert vectors is not None
    assert vectors.present.tolist() == [True, False, False, True, True, True]


def test_own_vectors_are_stored_at_unit_length(tmp_path: Path) -> None:
    build(tmp_path, [node("a", vector=(3.0, 4.0)), node("b", "", vector=(0.0, -2.0))])
    index = index_of(tmp_path)
    assert index.manifest.vector_space == VectorSpace("", "", 2)
    assert index.vectors is not None
    assert index.vectors.rows.tolist() == [pytest.approx([0.6, 0.8]), [0.0, -1.0]]
    assert index.vectors.present.tolist() == [True, True]


@pytest.mark.parametrize("scale", [1e-30, 1e30], ids=["tiny", "huge"])
def test_own_vectors_may_have_any_length_that_a_32_bit_float_holds(tmp_path: Path, scale: float) -> None:
    build(tmp_path, [node("a", vector=(3.0 * scale, 4.0 * scale))])
    vectors = index_of(tmp_path).vectors
    assert vectors is not None
    assert vectors.rows.tolist() == [pytest.approx([0.6, 0.8])]


@pytest.mark.parametrize(
    ("records", "message"),
    [
        pytest.param(
            [node("a", vector=(1.0, 2.0)), node("b", vector=(1.0,))],
            "file:b: vector has 1 components, others have 2",
            id="another dimension",
        ),
        pytest.param(
            [node("a", vector=(1.0, 2.0)), node("b")],
            "file:b: vector has 0 components, others have 2",
            id="a node without",
        ),
        pytest.param(
            [node("a", vector=(1.0, 2.0)), node("b", vector=(0.0, -0.0))],
            "file:b: vector has length 0.0, so no direction; give finite numbers, not all 0",
            id="all zero",
        ),
        pytest.param(
            [node("a", vector=(1.0, float("nan")))],
            "file:a: vector has length nan, so no direction; give finite numbers, not all 0",
            id="not a number",
        ),
        pytest.param(
            [node("a", vector=(1.0, float("-inf")))],
            "file:a: vector has length inf, so no direction; give finite numbers, not all 0",
            id="infinite",
        ),
        pytest.param([node("a", vector=())], "file:a: vector has length 0.0", id="empty"),
    ],
)
def test_own_vectors_that_make_no_space_are_refused(tmp_path: Path, records: list[SourceRecord], message: str) -> None:
    assert refusal(tmp_path, records).startswith(message)


def test_own_vectors_beside_an_embedder_are_refused(tmp_path: Path) -> None:
    message = refusal(tmp_path, [node("a"), node("b", vector=(1.0,))], embedder=HashEmbedder())
    assert message == "file:b: the source brings its own vectors; give --embedder none, or drop them"
