"""`evidence`: what is asked, and the text that is printed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from groundwire.v1 import evidence_pb2, scope_pb2
from groundwire_client import Retriever

if TYPE_CHECKING:
    from client.cli.conftest import Run
    from client.conftest import FakeServer

SCOPE = scope_pb2.IndexScope(repository="shop", branch="main")


@pytest.fixture
def answer(server: FakeServer) -> evidence_pb2.GatherEvidenceResponse:
    """A passage whose text would steer a terminal."""
    passage = evidence_pb2.Passage(number=1, id="a", citation="src/Tax.cs:3", explanation="match 1; shown whole")
    response = evidence_pb2.GatherEvidenceResponse(
        passages=[passage],
        rendered="src/Tax.cs\n[1]\n3 rate \x1b[31m\n",
        used_tokens=12,
        index="v1",
        phrasings=["value added tax"],
    )
    server.answer(response)
    return response


def test_every_option_reaches_the_server(
    server: FakeServer, run: Run, answer: evidence_pb2.GatherEvidenceResponse
) -> None:
    done = run(
        "evidence", "vat?", "-p", "value added tax", "--phrasing", "VatRate", "--budget-tokens", "300",
        "--shown", "x", "--shown", "y", "--graph-share", "0.5", "--retriever", "bm25_code", "--rerank", "--explain",
        "--phrase", "--language", "csharp",
    )  # fmt: skip
    assert done.code == 0, done.stderr
    (request,) = [request for request in server.actions if isinstance(request, evidence_pb2.GatherEvidenceRequest)]
    assert request == evidence_pb2.GatherEvidenceRequest(
        scope=SCOPE,
        filter=scope_pb2.NodeFilter(languages=["csharp"]),
        question="vat?",
        phrasings=["value added tax", "VatRate"],
        budget_tokens=300,
        shown_ids=["x", "y"],
        graph_share=0.5,
        retrievers=[Retriever.RETRIEVER_BM25_CODE],
        rerank=True,
        explain=True,
        phrase=True,
    )
    assert done.stdout == (
        "asked as: value added tax\n"
        "src/Tax.cs\n[1]\n3 rate \N{SYMBOL FOR ESCAPE}[31m\n\n[1] src/Tax.cs:3: match 1; shown whole\n12 tokens\n"
    )


def test_the_text_is_printed_alone(run: Run, answer: evidence_pb2.GatherEvidenceResponse) -> None:
    assert run("evidence", "vat?").stdout == "src/Tax.cs\n[1]\n3 rate \N{SYMBOL FOR ESCAPE}[31m\n"


def test_nothing_that_matches_is_said(server: FakeServer, run: Run) -> None:
    server.answer(evidence_pb2.GatherEvidenceResponse(index="v1"))
    assert run("evidence", "vat?").stdout == "nothing matches\n"


def test_weak_evidence_ends_with_words_to_ask_again_with(
    server: FakeServer, run: Run, answer: evidence_pb2.GatherEvidenceResponse
) -> None:
    answer.weak.near_words.extend(["invoice", "rate\x1b"])
    server.answer(answer)
    last = run("evidence", "vat?").stdout.splitlines()[-1]
    assert last == "Words of the index near the question: invoice, rate\N{SYMBOL FOR ESCAPE}"


def test_the_response_as_json_and_its_ids(run: Run, answer: evidence_pb2.GatherEvidenceResponse) -> None:
    assert json.loads(run("evidence", "vat?", "--json").stdout)["rendered"] == answer.rendered
    assert run("evidence", "vat?", "--ids").stdout == "a\n"
