"""Evidence for a question: what is asked, what is put together of the answers, and how a notebook shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from groundwire.v1 import query_pb2, retrieval_pb2
from groundwire_client import (
    AccessContext,
    Evidence,
    EvidenceText,
    IndexScope,
    Lifecycle,
    NodeFilter,
    SkippedText,
    SkipReason,
    pinned,
)

if TYPE_CHECKING:
    from client.conftest import Caller, FakeServer

SCOPE = IndexScope(repository="shop", branch="main")
HOSTILE = "</pre><script>alert(1)</script>&\"'"


def location(path: str) -> retrieval_pb2.SourceLocation:
    return retrieval_pb2.SourceLocation(path=path, start_line=3, end_line=9)


@pytest.fixture
def answer(server: FakeServer) -> query_pb2.QueryResponse:
    """Three matches: one with its text, one whose text did not fit into the response, one too large for the budget."""
    limit = SkipReason.SKIP_REASON_RESPONSE_LIMIT
    matches = [
        query_pb2.QueryMatch(
            id="a", rank=1, text="A", token_count=10, location=location("a.cs"), symbol="A.f", citation="a.cs:3-9"
        ),
        query_pb2.QueryMatch(id="b", rank=2, text_omitted=True, omit_reason=limit, token_count=20, citation="b"),
        query_pb2.QueryMatch(
            id="c",
            rank=3,
            text_omitted=True,
            omit_reason=SkipReason.SKIP_REASON_OVER_BUDGET,
            token_count=5_000,
            location=location("c.md"),
            section_path="Tax > Rates",
            citation="c.md:3-9",
        ),
    ]
    response = query_pb2.QueryResponse(matches=matches, index="v1", meta=query_pb2.RetrieveMeta(used_tokens=10))
    server.answer(response)
    return response


def test_evidence_is_one_query_and_fetches_what_its_response_had_no_room_for(
    server: FakeServer, answer: query_pb2.QueryResponse, call: Caller
) -> None:
    text = retrieval_pb2.NodeText(id="b", text="B", is_seed=True, token_count=20)
    server.answer(retrieval_pb2.FetchNodeTextsResponse(texts=[text], used_tokens=20, index="v1"))
    access, narrowing = AccessContext(tenant_id="acme"), NodeFilter(languages=["csharp"])
    found = call(
        server.target,
        lambda client: client.evidence(
            SCOPE, "vat?", 100, top_k=7, filter={"language": "csharp"}, lifecycle=Lifecycle.LIFECYCLE_ALL, access=access
        ),
    )
    assert found == Evidence(
        scope=pinned(SCOPE, "v1"),
        question="vat?",
        texts=(
            EvidenceText("a", 1, "a.cs", 3, 9, "A.f", 10, "a.cs:3-9", "A"),
            EvidenceText("b", 2, "", 0, 0, "", 20, "b", "B"),
        ),
        skipped=(
            SkippedText("c", 3, "c.md", 3, 9, "Tax > Rates", 5_000, "c.md:3-9", SkipReason.SKIP_REASON_OVER_BUDGET),
        ),
        used_tokens=30,
    )
    assert isinstance(found, Evidence)
    assert found.citations == ("a.cs:3-9", "b")
    assert server.actions == [
        query_pb2.QueryRequest(
            scope=SCOPE,
            access=access,
            query="vat?",
            filter=narrowing,
            top_k=7,
            cap_top_k=True,
            lifecycle=Lifecycle.LIFECYCLE_ALL,
            include_parents=False,
            budget_tokens=100,
        ),
        retrieval_pb2.FetchNodeTextsRequest(
            scope=pinned(SCOPE, "v1"),
            access=access,
            seed_ids=["b"],
            budget_tokens=90,
            prioritization_mode=retrieval_pb2.PRIORITIZATION_MODE_SEED_FIRST,
            filter=narrowing,
            lifecycle=Lifecycle.LIFECYCLE_ALL,
        ),
    ]


def test_the_defaults_are_those_of_the_commands(server: FakeServer, call: Caller) -> None:
    call(server.target, lambda client: client.evidence(SCOPE, "vat?"))
    (request,) = server.actions
    assert isinstance(request, query_pb2.QueryRequest)
    assert (request.budget_tokens, request.top_k) == (4_000, 60)


def test_a_notebook_shows_texts_as_texts(server: FakeServer, answer: query_pb2.QueryResponse, call: Caller) -> None:
    for match in answer.matches:
        match.symbol = match.citation = HOSTILE
        match.ClearField("omit_reason")
        if match.text:
            match.text = HOSTILE
    server.answer(answer)
    found = call(server.target, lambda client: client.evidence(SCOPE, HOSTILE))
    assert isinstance(found, Evidence)
    html = found._repr_html_()  # pyright: ignore[reportPrivateUsage]  # the name that notebooks look for
    assert "<script" not in html
    assert html.count("&lt;script&gt;alert(1)") == 1 + 3 * 2 + 1, "the question, names and paths, and a text"
    assert html.count("<pre>") == html.count("</pre>") == 1
    assert "1 texts, 10 tokens, index v1" in html
    assert "2 left out" in html


def test_evidence_of_several_fetches_from_all_and_says_what_was_left_out(
    server: FakeServer, call: Caller, answer: query_pb2.QueryResponse
) -> None:
    scopes = [IndexScope(repository=name, branch="main", active_index="v1") for name in "ab"]
    without = [retrieval_pb2.LeftOut(scope=scopes[1], retriever=retrieval_pb2.RETRIEVER_DENSE)]
    answer.MergeFrom(query_pb2.QueryResponse(scopes=scopes, left_out=without))
    server.answer(answer)
    found = call(server.target, lambda client: client.evidence([IndexScope(repository="*", branch="main")], "vat?"))
    assert isinstance(found, Evidence)
    assert found.left_out == tuple(without)
    fetched = server.actions[-1]
    assert isinstance(fetched, retrieval_pb2.FetchNodeTextsRequest)
    assert (list(fetched.scopes), fetched.HasField("scope")) == (scopes, False)
