"""The sets behind the figures of `docs/quality.md`."""

import hashlib
import json
from pathlib import Path

from bench.quality.reproduce import cosqa_documents, look_ups, mark_held_out, questions
from bench.quality.sets import HELD_OUT, JudgedQuery

FUNCTIONS = ['def get_value(key):\n    """Get it."""\n    return values[key]', "class Store:\n    pass"]


def test_functions_get_their_names_as_symbols_and_three_kinds_of_queries(tmp_path: Path) -> None:
    documents = [{"id": f"c{number}", "text": text} for number, text in enumerate(FUNCTIONS)]
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(line) + "\n" for line in documents), encoding="utf-8")
    (tmp_path / "queries.jsonl").write_text('{"query": "get it", "relevant": ["c0"]}\n', encoding="utf-8")
    corpus = cosqa_documents(tmp_path)
    assert [document.symbol for document in corpus] == ["get_value", ""]
    sets = [questions("tiny", tmp_path, corpus), *look_ups("tiny", corpus)]
    assert [(one.name, one.measure) for one in sets] == [
        ("tiny", "ndcg_10"),
        ("tiny-names", "mrr_10"),
        ("tiny-typos", "mrr_10"),
    ]
    assert [[query.relevant for query in one.queries] for one in sets] == [[("c0",)]] * 3
    assert sets[1].queries[0].query == "get_value"
    assert sets[2].queries[0].query != "get_value"


def test_half_of_the_queries_are_held_out_by_a_hash_of_their_text() -> None:
    queries = [JudgedQuery(f"query {number}", ("a",), ("some",)) for number in range(200)]
    marked = mark_held_out(queries)
    held_out = {query.query for query in marked if query.parts == ("some", HELD_OUT)}
    assert 80 < len(held_out) < 120
    assert {query.query for query in marked if query.parts == ("some",)} == {q.query for q in queries} - held_out
    assert held_out == {q.query for q in queries if int(hashlib.sha256(q.query.encode()).hexdigest(), 16) % 2 == 0}
