"""GatherEvidence over the wire: what is shown and why, its budget, its rules, and when it says that nothing answers."""

import math

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.tokens import TokenCounter
from groundwire.v1 import evidence_pb2, query_pb2_grpc
from groundwire.v1.retrieval_pb2 import RETRIEVER_BM25_CODE, RETRIEVER_DENSE
from groundwire.v1.scope_pb2 import LIFECYCLE_ALL, AccessContext, IndexScope, NodeFilter
from support.platform import NOW, timestamp
from support.properties import costly
from support.refusals import DENIED, FAILED, INVALID, NOT_FOUND, Row, check_refused, with_fields

MAIN = IndexScope(repository="shop", branch="main")
TEXTS = IndexScope(repository="shop", branch="texts")
CREATE, TOTAL, TAX = "shop::main::cs::Invoice.Create", "shop::main::cs::Invoice.Total", "shop::main::cs::Tax.Rate"
PROCEDURE = "shop::main::sql::dbo.Invoice_Create|PROC"
SECRET = "shop::main::cs::Secret.Margin"
FINANCE = AccessContext(acl_tags_any=["finance"])
OUT_OF_RANGE, REQUIRED, CONFLICT, MALFORMED, UNKNOWN = (
    "VALUE_OUT_OF_RANGE FIELD_REQUIRED FIELDS_CONFLICT VALUE_MALFORMED VALUE_UNKNOWN".split()
)
COUNTER = TokenCounter()


def request(**fields: object) -> evidence_pb2.GatherEvidenceRequest:
    base = evidence_pb2.GatherEvidenceRequest(
        scope=MAIN,
        question="how is an invoice created?",
        query_vector=[1.0, 0.0, 0.0, 0.0],
        budget_tokens=2_000,
        now=timestamp(NOW),
    )
    return with_fields(base, fields)


@pytest.fixture(scope="session")
def queries(channel: grpc.Channel) -> query_pb2_grpc.QueryServiceStub:
    return query_pb2_grpc.QueryServiceStub(channel)


def gather(queries: query_pb2_grpc.QueryServiceStub, **fields: object) -> evidence_pb2.GatherEvidenceResponse:
    return queries.GatherEvidence(request(**fields), timeout=300)


def test_what_matches_is_shown_with_its_lines_and_what_it_leads_to(queries: query_pb2_grpc.QueryServiceStub) -> None:
    response = gather(queries, explain=True)
    assert [passage.number for passage in response.passages] == list(range(1, len(response.passages) + 1))
    best = response.passages[0]
    assert (best.id, best.symbol, best.kind) == (CREATE, "InvoiceService.Create", "cs")
    assert best.citation == "src/InvoiceService.cs:3-9"
    assert best.form == evidence_pb2.PASSAGE_FORM_OUTLINE, "one line of text for seven lines of the file"
    assert [part.text for part in best.parts] == ["class InvoiceService { void CreateInvoice() { } }"]
    assert best.match.rank == 1
    assert best.match.similarity == pytest.approx(1.0)
    assert "match 1" in best.explanation
    assert best.scope == IndexScope(repository="shop", branch="main", active_index="v1")
    assert ("Executes", PROCEDURE) in {(edge.edge_type, edge.to_id) for edge in response.edges}
    assert response.index == "v1"
    assert not response.HasField("weak")
    assert response.exact


def test_rendered_has_every_passage_and_fits(queries: query_pb2_grpc.QueryServiceStub) -> None:
    response = gather(queries)
    assert response.used_tokens == COUNTER.count(response.rendered) <= 2_000
    for passage in response.passages:
        assert f"[{passage.number}]" in response.rendered
        assert passage.location.path in response.rendered
    assert sum(passage.token_count for passage in response.passages) <= response.used_tokens


def test_a_node_that_matches_nothing_is_here_by_its_edge(queries: query_pb2_grpc.QueryServiceStub) -> None:
    """Words alone, and a name that only one node has: the procedure that it executes has none of them."""
    response = gather(queries, question="InvoiceService", query_vector=None, retrievers=[RETRIEVER_BM25_CODE])
    reasons = {passage.id: passage.WhichOneof("reason") for passage in response.passages}
    assert reasons[CREATE] in ("match", "name")
    joined = {passage.id: passage.edge for passage in response.passages if passage.HasField("edge")}
    assert all(edge.number == 1 for edge in joined.values())
    without = gather(
        queries, question="InvoiceService", query_vector=None, retrievers=[RETRIEVER_BM25_CODE], graph_share=0.0
    )
    assert len(without.passages) <= len(response.passages)


def test_phrasings_find_what_the_question_does_not(queries: query_pb2_grpc.QueryServiceStub) -> None:
    words = {"query_vector": None, "retrievers": [RETRIEVER_BM25_CODE]}
    question = "what does the state want of us?"
    assert not gather(queries, question=question, **words).passages
    phrased = gather(queries, question=question, phrasings=["TaxRate country", "rates"], **words)
    assert phrased.passages[0].id == TAX
    swapped = gather(queries, question=question, phrasings=["rates", "TaxRate country"], **words)
    assert [passage.id for passage in swapped.passages] == [passage.id for passage in phrased.passages]


def test_what_was_shown_keeps_its_number_and_is_not_shown_again(queries: query_pb2_grpc.QueryServiceStub) -> None:
    first = gather(queries)
    shown = [passage.id for passage in first.passages][:2]
    second = gather(queries, shown_ids=shown)
    assert not {passage.id for passage in second.passages} & set(shown)
    assert [passage.number for passage in second.passages] == list(range(3, 3 + len(second.passages)))
    named = {node.id: node.number for node in second.named}
    assert {node_id: named[node_id] for node_id in shown if node_id in named} == {
        node_id: place for place, node_id in enumerate(shown, start=1) if node_id in named
    }
    assert set(shown) & set(named)


def test_what_is_no_node_keeps_a_number_and_hides_nothing(queries: query_pb2_grpc.QueryServiceStub) -> None:
    first = gather(queries)
    second = gather(queries, shown_ids=["1", SECRET])
    assert [passage.id for passage in second.passages] == [passage.id for passage in first.passages]
    assert [passage.number for passage in second.passages] == [passage.number + 2 for passage in first.passages]
    assert {node.number for node in second.named} <= {0}


def test_hidden_nodes_are_as_absent_and_granted_ones_are_shown(queries: query_pb2_grpc.QueryServiceStub) -> None:
    def ids(access: AccessContext | None) -> set[str]:
        response = gather(queries, question="invoice margin", access=access, shown_ids=[SECRET])
        ends = {end for edge in response.edges for end in (edge.from_id, edge.to_id)}
        return {passage.id for passage in response.passages} | {node.id for node in response.named} | ends

    assert SECRET not in ids(None)
    assert SECRET in ids(FINANCE)
    assert SECRET in {passage.id for passage in gather(queries, question="invoice margin", access=FINANCE).passages}


def test_a_filter_narrows_passages_names_and_edges(queries: query_pb2_grpc.QueryServiceStub) -> None:
    response = gather(queries, filter=NodeFilter(kinds=["sql"]))
    assert {passage.kind for passage in response.passages} == {"sql"}
    assert all(node.kind == "sql" for node in response.named)
    assert all("::sql::" in end for edge in response.edges for end in (edge.from_id, edge.to_id))


def test_a_question_that_nothing_answers_is_weak(queries: query_pb2_grpc.QueryServiceStub) -> None:
    response = gather(queries, question="sourdough bread", query_vector=[-1.0, -1.0, -1.0, 0.0])
    assert response.weak.reason
    assert response.rendered.startswith("This is probably no answer: ") or not response.rendered
    nothing = gather(queries, question="sourdough", query_vector=None, retrievers=[RETRIEVER_BM25_CODE])
    assert (nothing.weak.reason, nothing.weak.words) == ("nothing matches", 0.0)
    assert not nothing.passages
    assert not nothing.weak.near_words


def test_weak_evidence_offers_words_of_the_index(queries: query_pb2_grpc.QueryServiceStub) -> None:
    response = gather(queries, question="sourdough bread")
    assert response.weak.reason == "none of the best matches has a word of the question"
    assert list(response.weak.near_words)[:3] == ["create", "invoice", "service"]
    again = gather(queries, question=f"sourdough {response.weak.near_words[0]}")
    assert response.weak.near_words[0] not in again.weak.near_words


def test_an_index_without_vectors_answers_by_words(queries: query_pb2_grpc.QueryServiceStub) -> None:
    response = gather(queries, scope=TEXTS, query_vector=None)
    assert response.passages
    assert not any(passage.match.HasField("similarity") for passage in response.passages)


@costly()
@given(
    question=st.lists(st.sampled_from("invoice tax total InvoiceService create country".split()), min_size=1),
    budget=st.integers(min_value=200, max_value=600),
    graph_share=st.sampled_from([0.0, 0.25, 1.0]),
    explain=st.booleans(),
)
def test_no_evidence_exceeds_its_budget_and_the_same_question_has_the_same_answer(
    queries: query_pb2_grpc.QueryServiceStub, question: list[str], budget: int, graph_share: float, explain: bool
) -> None:
    fields = {
        "question": " ".join(question), "budget_tokens": budget, "graph_share": graph_share, "explain": explain,
    }  # fmt: skip
    response = gather(queries, **fields)
    assert response.used_tokens == COUNTER.count(response.rendered) <= budget
    assert gather(queries, **fields).SerializeToString() == response.SerializeToString()


BROKEN = [
    Row("a scope is needed", request(scope=None), INVALID, REQUIRED, "scope"),
    Row("a scope or scopes", request(scopes=[MAIN]), INVALID, CONFLICT, "scope"),
    Row("a question is needed", request(question=""), INVALID, REQUIRED, "question"),
    Row("a question is not blank", request(question=" \n"), INVALID, REQUIRED, "question"),
    Row("a question is not too long", request(question="x" * 8_193), INVALID, OUT_OF_RANGE, "question"),
    Row(
        "not with its phrasings either",
        request(question="x" * 8_000, phrasings=["y" * 200]),
        INVALID,
        OUT_OF_RANGE,
        "question",
    ),
    Row("a phrasing is not blank", request(phrasings=["a", " "]), INVALID, REQUIRED, "phrasings[1]"),
    Row("at most 8 phrasings", request(phrasings=["a"] * 9), INVALID, OUT_OF_RANGE, "phrasings"),
    Row("a budget is needed", request(budget_tokens=None), INVALID, REQUIRED, "budget_tokens"),
    Row("a budget has a least", request(budget_tokens=199), INVALID, OUT_OF_RANGE, "budget_tokens"),
    Row("a budget has a greatest", request(budget_tokens=100_001), INVALID, OUT_OF_RANGE, "budget_tokens"),
    Row("a share is at least 0", request(graph_share=-0.1), INVALID, OUT_OF_RANGE, "graph_share"),
    Row("a share is at most 1", request(graph_share=1.1), INVALID, OUT_OF_RANGE, "graph_share"),
    Row("a share is a number", request(graph_share=math.nan), INVALID, OUT_OF_RANGE, "graph_share"),
    Row("shown ids are not empty", request(shown_ids=["a", ""]), INVALID, REQUIRED, "shown_ids[1]"),
    Row("shown ids are distinct", request(shown_ids=["a", "a"]), INVALID, CONFLICT, "shown_ids"),
    Row("at most 1,000 shown ids", request(shown_ids=list(map(str, range(1_001)))), INVALID, OUT_OF_RANGE, "shown_ids"),
    Row("a retriever once", request(retrievers=[2, 2], query_vector=None), INVALID, CONFLICT, "retrievers[1]"),
    Row("a known retriever", request(retrievers=[99]), INVALID, UNKNOWN, "retrievers[0]"),
    Row("a vector has a use", request(retrievers=[RETRIEVER_BM25_CODE]), INVALID, CONFLICT, "query_vector"),
    Row("a vector has a direction", request(query_vector=[0.0] * 4), INVALID, MALFORMED, "query_vector"),
    Row("a filter is bounded", request(filter=NodeFilter(kinds=["k"] * 257)), INVALID, OUT_OF_RANGE, "filter.kinds"),
    Row("a lifecycle is granted", request(lifecycle=LIFECYCLE_ALL), DENIED, "LIFECYCLE_NOT_GRANTED", "lifecycle"),
    Row("a scope exists", request(scope=IndexScope(repository="shop", branch="absent")), NOT_FOUND, "SCOPE_NOT_FOUND"),
    Row(
        "a hidden scope is as absent",
        request(scope=IndexScope(repository="shop", branch="vault")),
        NOT_FOUND,
        "SCOPE_NOT_FOUND",
    ),
    Row(
        "vectors are there if they are asked",
        request(scope=TEXTS, retrievers=[RETRIEVER_DENSE], query_vector=None),
        FAILED,
        "VECTORS_MISSING",
    ),
]


@pytest.mark.parametrize("row", BROKEN, ids=lambda row: row.rule)
def test_what_is_refused(queries: query_pb2_grpc.QueryServiceStub, row: Row) -> None:
    check_refused(row, queries.GatherEvidence)
