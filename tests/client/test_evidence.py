"""Evidence for a question: what is asked, what is made of the answer, and how a notebook shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from groundwire.v1 import evidence_pb2, retrieval_pb2
from groundwire_client import (
    AccessContext,
    Evidence,
    EvidenceNode,
    EvidencePart,
    EvidenceText,
    IndexScope,
    Lifecycle,
    NodeFilter,
    PassageForm,
    Retriever,
    pinned,
)

if TYPE_CHECKING:
    from client.conftest import Caller, FakeServer

SCOPE = IndexScope(repository="shop", branch="main")
HOSTILE = "</pre><script>alert(1)</script>&\"'"


def location(path: str) -> retrieval_pb2.SourceLocation:
    return retrieval_pb2.SourceLocation(path=path, start_line=3, end_line=9, url=f"https://git.example/{path}#L3-L9")


@pytest.fixture
def answer(server: FakeServer) -> evidence_pb2.GatherEvidenceResponse:
    """A match in two parts, a node that an edge joins to it, and a node that is only named."""
    at = pinned(SCOPE, "v1")
    response = evidence_pb2.GatherEvidenceResponse(
        passages=[
            evidence_pb2.Passage(
                number=3,
                id="a",
                scope=at,
                citation="a.cs:3-9",
                location=location("a.cs"),
                symbol="A.f",
                kind="cs",
                form=PassageForm.PASSAGE_FORM_PART,
                parts=[
                    evidence_pb2.PassagePart(start_line=3, text="decimal f()\n{"),
                    evidence_pb2.PassagePart(start_line=8, text="  return rate;"),
                ],
                match=evidence_pb2.PassageMatch(rank=1, score=0.7),
                token_count=20,
                node_token_count=40,
                explanation="match 1",
            ),
            evidence_pb2.Passage(
                number=4,
                id="b",
                scope=at,
                citation="b",
                form=PassageForm.PASSAGE_FORM_WHOLE,
                parts=[evidence_pb2.PassagePart(text="B")],
                edge=evidence_pb2.PassageEdge(number=3),
                token_count=5,
                node_token_count=1,
            ),
        ],
        named=[
            evidence_pb2.NamedNode(
                id="c",
                scope=at,
                citation="c.md:3-9",
                location=location("c.md"),
                symbol="Tax > Rates",
                kind="md",
                node_token_count=5_000,
            )
        ],
        rendered="a.cs\n[3] ...",
        used_tokens=30,
        index="v1",
        phrasings=["value added tax"],
    )
    server.answer(response)
    return response


def test_evidence_is_one_call(server: FakeServer, answer: evidence_pb2.GatherEvidenceResponse, call: Caller) -> None:
    access, narrowing = AccessContext(tenant_id="acme"), NodeFilter(languages=["csharp"])
    evidence = call(
        server.target,
        lambda client: client.evidence(
            SCOPE,
            "vat?",
            300,
            phrasings=["value added tax", "VatService.rate"],
            shown_ids=["x", "y"],
            graph_share=0.5,
            rerank=True,
            retrievers=[Retriever.RETRIEVER_DENSE],
            query_vector=[1.0, 0.0],
            explain=True,
            phrase=True,
            filter={"language": "csharp"},
            lifecycle=Lifecycle.LIFECYCLE_ALL,
            access=access,
        ),
    )
    at = pinned(SCOPE, "v1")
    parts = (EvidencePart(3, "decimal f()\n{"), EvidencePart(8, "  return rate;"))
    match = EvidenceText(
        "a", 3, "a.cs", 3, 9, "A.f", "cs", 40, "a.cs:3-9", at, "https://git.example/a.cs#L3-L9",
        parts, PassageForm.PASSAGE_FORM_PART, 20, True, "match 1",
    )  # fmt: skip
    joined = EvidenceText(
        "b", 4, "", 0, 0, "", "", 1, "b", at, "", (EvidencePart(0, "B"),), PassageForm.PASSAGE_FORM_WHOLE, 5, False, ""
    )
    assert evidence == Evidence(
        question="vat?",
        texts=(match, joined),
        named=(
            EvidenceNode(
                "c", 0, "c.md", 3, 9, "Tax > Rates", "md", 5_000, "c.md:3-9", at, "https://git.example/c.md#L3-L9"
            ),
        ),
        weak="",
        near_words=(),
        rendered="a.cs\n[3] ...",
        used_tokens=30,
        scope=at,
        scopes=(),
        phrasings=("value added tax",),
        left_out=(),
        response=answer,
    )
    assert isinstance(evidence, Evidence)
    assert match.text == "decimal f()\n{\n…\n  return rate;"
    assert (evidence.citations, evidence.ids, str(evidence)) == (("a.cs:3-9", "b"), ("a", "b"), "a.cs\n[3] ...")
    assert server.actions == [
        evidence_pb2.GatherEvidenceRequest(
            scope=SCOPE,
            access=access,
            question="vat?",
            phrasings=["value added tax", "VatService.rate"],
            budget_tokens=300,
            shown_ids=["x", "y"],
            graph_share=0.5,
            rerank=True,
            retrievers=[Retriever.RETRIEVER_DENSE],
            query_vector=[1.0, 0.0],
            explain=True,
            phrase=True,
            filter=narrowing,
            lifecycle=Lifecycle.LIFECYCLE_ALL,
        )
    ]


def test_several_scopes_are_one_call_too(
    server: FakeServer, answer: evidence_pb2.GatherEvidenceResponse, call: Caller
) -> None:
    answer.ClearField("index")
    answer.scopes.append(pinned(SCOPE, "v1"))
    server.answer(answer)
    evidence = call(server.target, lambda client: client.evidence([SCOPE], "vat?"))
    assert isinstance(evidence, Evidence)
    assert (evidence.scope, evidence.scopes) == (IndexScope(), (pinned(SCOPE, "v1"),))
    (request,) = server.actions
    assert isinstance(request, evidence_pb2.GatherEvidenceRequest)
    assert list(request.scopes) == [SCOPE]


def test_the_default_budget_is_that_of_the_commands(server: FakeServer, call: Caller) -> None:
    call(server.target, lambda client: client.evidence(SCOPE, "vat?"))
    assert server.actions == [evidence_pb2.GatherEvidenceRequest(scope=SCOPE, question="vat?", budget_tokens=4_000)]


def test_a_notebook_shows_texts_as_texts(
    server: FakeServer, answer: evidence_pb2.GatherEvidenceResponse, call: Caller
) -> None:
    for passage in answer.passages:
        passage.symbol = passage.citation = HOSTILE
    answer.named[0].symbol = answer.named[0].citation = HOSTILE
    answer.passages[1].parts[0].text = HOSTILE
    answer.weak.reason = HOSTILE
    server.answer(answer)
    evidence = call(server.target, lambda client: client.evidence(SCOPE, HOSTILE))
    assert isinstance(evidence, Evidence)
    html = evidence._repr_html_()  # pyright: ignore[reportPrivateUsage]  # the name that notebooks look for
    assert "<script" not in html
    assert html.count("&lt;script&gt;alert(1)") == 1 + 3 * 2 + 1 + 1, "the question, names, places, a text, the reason"
    assert html.count("<pre>") == html.count("</pre>") == 2
    assert "2 passages, 30 tokens, index v1" in html
    assert "1 only named" in html
