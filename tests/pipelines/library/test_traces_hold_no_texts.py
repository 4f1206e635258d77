"""Whatever users, models and sources write, a trace without texts holds none of it, however the run ends."""

import itertools
import json
from pathlib import Path

import pytest

from groundwire_client import AccessContext, node_filter
from groundwire_pipelines.pipeline import RunOptions
from groundwire_pipelines.runtime import Turn
from groundwire_pipelines.trace.trace_file import JsonLinesSink
from support.pipeline_runs import RATES, SERVICE, Shop
from support.retrieval import FakeRetrieval, fetched, search_response, text, walked

MARK = "zqx"
"""Stands in everything that somebody wrote; each time with a number of its own, so that a failure names the place."""
_numbers = itertools.count()


def mark() -> str:
    return f"{MARK}{next(_numbers)}"


def parsed_query() -> str:
    filters: dict[str, object] = {"path": [f"{mark()}/"], "language": mark(), "kinds": [mark(), mark()]}
    return json.dumps({"query": mark(), "filters": {**filters, "acl_tags": [mark()], "repository": mark()}})


def marked_shop() -> FakeRetrieval:
    texts = [text(SERVICE, f"decimal {mark()}()"), text(RATES, f"CREATE TABLE {mark()}", 1, SERVICE)]
    return FakeRetrieval(
        searches=[search_response(SERVICE), search_response(RATES)],
        expansions=[walked([(SERVICE, 0, ""), (RATES, 1, SERVICE)], [(SERVICE, RATES, "ReadsFrom")])] * 2,
        fetches=[fetched(texts), fetched(texts)],
    )


ANSWER = f"[Answer:] {mark()}"
SCRIPTS = {
    "answered": [f"[BM25:] {mark()}", ANSWER],
    "answered directly": [f"[DIRECT:] {mark()}", ANSWER],
    "parsed filters": [f"[HYBRID:] {parsed_query()}", ANSWER],
    "filters beside the query": [f'[SEMANTIC:] {{"query": "{mark()}", "service": "{mark()}"}}', ANSWER],
    "asks for more": [f"[SEMANTIC_RERANK:] {mark()}", f"[Requesting data on:] {mark()}", ANSWER],
    "asks for more with filters": ["[BM25:] a", f"[Requesting data on:] {parsed_query()}", ANSWER],
    "no prefix": [mark()],
    "several prefixes": [f"[BM25:] {mark()} [HYBRID:] {mark()}"],
    "no such filter": [f'[BM25:] {{"query": "{mark()}", "{mark()}": "{mark()}"}}'],
    "a filter that is no text": [f'[BM25:] {{"query": "{mark()}", "path": {{"{mark()}": 1}}}}'],
    "a malformed object": [f'[BM25:] {{"query": "{mark()}'],
    "a malformed answer": [f"[BM25:] {mark()}", mark()],
}
"""What the model writes from the first step that asks it."""


def run(shop: Shop, trace: Path, script: list[str], *, texts: bool) -> str:
    question = f"where is {mark()} computed?"
    summary = f"{mark()} was talked about"
    options = RunOptions(
        user_id="ann",
        session_id="talk",
        filter=node_filter({}, metadata={mark(): mark()}, case_ids=(mark(),)),
        access=AccessContext(tenant_id=mark(), acl_tags_any=(mark(),)),
        trace_texts=texts,
    )
    shop.retrieval = marked_shop()
    shop.remember(*(Turn(mark(), mark(), f"{mark()} {'very ' * 300}", mark()) for _ in range(2)))
    with JsonLinesSink(trace) as sink:
        options["sinks"] = (sink,)
        shop.run(summary, *script, question=question, settings={"max_history_tokens": 40}, **options)
    return trace.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SCRIPTS)
def test_nothing_that_anybody_wrote_stands_in_a_trace_without_texts(ann: Shop, tmp_path: Path, name: str) -> None:
    written = run(ann, tmp_path / "trace.jsonl", SCRIPTS[name], texts=False)
    assert '"run_ended"' in written
    assert [line for line in written.splitlines() if MARK in line] == []


def test_with_texts_they_do(ann: Shop, tmp_path: Path) -> None:
    written = run(ann, tmp_path / "trace.jsonl", SCRIPTS["parsed filters"], texts=True)
    assert written.count(MARK) > 10
    assert "case_ids" in written
