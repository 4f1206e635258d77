"""Reading a corpus and its queries, and writing them as nodes."""

import json
from pathlib import Path

import pytest

from bench.quality.sets import Document, JudgedQuery, SetError, read_corpus, read_queries, write_nodes, write_queries

LINES = [{"id": "a", "text": "one"}, {"id": "b/ü", "text": "two", "kind": "py", "symbol": "Two.run"}]
CORPUS = [Document.model_validate(line) for line in LINES]


def write(path: Path, *lines: object) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_a_corpus_keeps_every_field(tmp_path: Path) -> None:
    assert read_corpus(write(tmp_path / "c", *LINES)) == CORPUS
    assert [document.kind for document in CORPUS] == ["doc", "py"]
    assert [document.symbol for document in CORPUS] == ["", "Two.run"]


def test_nodes_are_what_groundwire_reads(tmp_path: Path) -> None:
    write_nodes(tmp_path / "made" / "nodes.jsonl", CORPUS)
    lines = (tmp_path / "made" / "nodes.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [
        {"type": "node", "kind": "doc", "local_id": "a", "text": "one"},
        {"type": "node", "kind": "py", "local_id": "b/ü", "text": "two", "symbol": "Two.run"},
    ]


def test_queries_come_back_as_written(tmp_path: Path) -> None:
    queries = [
        JudgedQuery(query="find ü", relevant=("a", "b/ü"), parts=("held out",)),
        JudgedQuery(query="two", relevant=("a",)),
    ]
    write_queries(tmp_path / "q", queries)
    assert read_queries(tmp_path / "q", CORPUS) == queries


def test_a_query_may_bring_its_vector(tmp_path: Path) -> None:
    path = write(tmp_path / "q", {"query": "x", "relevant": ["a"], "vector": [1, 0.5]})
    assert read_queries(path, CORPUS) == [JudgedQuery(query="x", relevant=("a",), vector=(1.0, 0.5))]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"relevant": ["a"]}, "query is {'relevant': ['a']}: Field required"),
        ({"query": " ", "relevant": ["a"]}, "query is ' '"),
        ({"query": "x", "relevant": []}, "relevant is []"),
        ({"query": "x", "relevant": ["a", "z"]}, "must name documents of the corpus"),
        ({"query": "x", "relevant": "a"}, "relevant is 'a'"),
        ({"query": "x", "relevant": ["a"], "vector": ["one"]}, "vector.0 is 'one'"),
        (["x"], "is ['x']"),
    ],
)
def test_a_bad_query_names_its_line(tmp_path: Path, line: object, message: str) -> None:
    path = write(tmp_path / "q", {"query": "x", "relevant": ["a"]}, line)
    with pytest.raises(SetError, match="q:2: ") as error:
        read_queries(path, CORPUS)
    assert message in str(error.value)


def test_a_bad_corpus_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SetError, match="c:1: id is"):
        read_corpus(write(tmp_path / "c", {"text": "one"}))
    with pytest.raises(SetError, match="an id stands twice"):
        read_corpus(write(tmp_path / "c", {"id": "a", "text": "one"}, {"id": "a", "text": "two"}))
    with pytest.raises(SetError, match="is empty"):
        read_corpus(write(tmp_path / "c"))
    (tmp_path / "c").write_text("{\n", encoding="utf-8")
    with pytest.raises(SetError, match=r"c:1: .*Invalid JSON"):
        read_corpus(tmp_path / "c")


def test_no_query_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SetError, match="is empty"):
        read_queries(write(tmp_path / "q"), CORPUS)
