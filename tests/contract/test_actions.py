"""Searches, texts and the index service, over the wire, on one small shop."""

import pytest

from groundwire.v1 import index_pb2 as index
from groundwire.v1 import index_pb2_grpc, retrieval_pb2_grpc
from groundwire.v1 import retrieval_pb2 as messages
from groundwire.v1.scope_pb2 import AccessContext, IndexScope, NodeFilter

MAIN = IndexScope(repository="shop", branch="main")
CREATE, TOTAL, TAX, MARGIN = (
    f"shop::main::cs::{name}" for name in ("Invoice.Create", "Invoice.Total", "Tax.Rate", "Secret.Margin")
)
PROC, TABLE = "shop::main::sql::dbo.Invoice_Create|PROC", "shop::main::sql::dbo.Invoice|TABLE"
FINANCE = AccessContext(acl_tags_any=["finance"])

Retrieval = retrieval_pb2_grpc.RetrievalServiceStub


def _search(stub: Retrieval, search_type: str, **fields: object) -> messages.SearchNodesResponse:
    request = messages.SearchNodesRequest(
        scope=MAIN, search_type=messages.SearchType.Value(f"SEARCH_TYPE_{search_type}"), top_k=10
    )
    request.MergeFrom(messages.SearchNodesRequest(**fields))
    return stub.SearchNodes(request, timeout=300)


def _ids(response: messages.SearchNodesResponse) -> list[str]:
    return [hit.id for hit in response.hits]


@pytest.mark.parametrize(("search_type", "vectors"), [("SEMANTIC", {"query_vector": [1, 0, 0, 0]}), ("BM25", {})])
@pytest.mark.parametrize("rrf_k", [-5, 0, 1_000_001])
def test_the_fusion_constant_is_ignored_where_nothing_is_fused(
    retrieval: Retrieval, search_type: str, vectors: dict[str, list[float]], rrf_k: int
) -> None:
    plain = _search(retrieval, search_type, query="invoice create", explain=True, **vectors)
    assert _search(retrieval, search_type, query="invoice create", explain=True, rrf_k=rrf_k, **vectors) == plain


def test_semantic_search_ranks_by_cosine_and_breaks_ties_by_id(retrieval: Retrieval) -> None:
    response = _search(retrieval, "SEMANTIC", query_vector=[2, 0, 0, 0])
    assert _ids(response)[:3] == [CREATE, TOTAL, PROC]
    assert [hit.score for hit in response.hits[:3]] == pytest.approx([1.0, 0.8, 0.6])
    assert [hit.rank for hit in response.hits] == list(range(1, 6))
    assert (response.index, response.exact, response.HasField("debug")) == ("v1", True, False)


def test_bm25_finds_identifier_parts_and_no_node_without_a_token(retrieval: Retrieval) -> None:
    assert _ids(_search(retrieval, "BM25", query="tax rate")) == [TAX]
    assert set(_ids(_search(retrieval, "BM25", query="invoice"))) == {CREATE, TOTAL, PROC, TABLE}
    assert _ids(_search(retrieval, "BM25", query="zebra")) == []


def test_hybrid_fuses_by_reciprocal_rank_with_the_given_constant(retrieval: Retrieval) -> None:
    response = _search(retrieval, "HYBRID", query="invoice create", query_vector=[1, 0, 0, 0], rrf_k=1, explain=True)
    for hit in response.hits:
        assert hit.score == pytest.approx(sum(1 / (1 + place.rank) for place in hit.retrievers))
    assert response.hits[0].id == CREATE
    assert response.debug.rrf_k == 1


@pytest.mark.parametrize(
    ("branch", "vector", "means"), [("main", [1, 0, 0, 0], "HYBRID"), ("texts", [], "BM25")], ids=["vectors", "words"]
)
def test_a_search_without_a_type_is_what_the_index_has_data_for(
    retrieval: Retrieval, branch: str, vector: list[float], means: str
) -> None:
    scope = IndexScope(repository="shop", branch=branch)
    response = _search(retrieval, "UNSPECIFIED", scope=scope, query="invoice create", query_vector=vector)
    assert [omission.retriever for omission in response.left_out] == ([] if vector else [messages.RETRIEVER_DENSE])
    response.ClearField("left_out")
    assert response == _search(retrieval, means, scope=scope, query="invoice create", query_vector=vector)
    assert (response.search_type, bool(response.hits)) == (messages.SearchType.Value(f"SEARCH_TYPE_{means}"), True)


@pytest.mark.parametrize("search_type", ["SEMANTIC", "BM25"])
def test_fewer_hits_are_the_first_of_more(retrieval: Retrieval, search_type: str) -> None:
    vector = [] if search_type == "BM25" else [0.6, 0.8, 0.0, 0.0]
    hits = list(_search(retrieval, search_type, query="invoice create", query_vector=vector).hits)
    assert len(hits) > 3
    for top_k in range(1, len(hits)):
        fewer = _search(retrieval, search_type, query="invoice create", query_vector=vector, top_k=top_k)
        assert list(fewer.hits) == hits[:top_k]


def test_keyword_rerank_reorders_and_explain_tells_the_place_before(retrieval: Retrieval) -> None:
    plain = _search(retrieval, "SEMANTIC", query="tax rate", query_vector=[1, 0, 0, 0])
    keyword = _search(
        retrieval, "SEMANTIC", query="tax rate country", query_vector=[0.6, 0.8, 0, 0], rerank=2, explain=True
    )
    assert _ids(plain)[0] == CREATE
    assert keyword.hits[0].id == TAX
    assert [(place.retriever, place.rank) for place in keyword.hits[0].retrievers] == [(messages.RETRIEVER_DENSE, 2)]


def test_a_hit_says_whether_it_is_a_test_or_generated(retrieval: Retrieval) -> None:
    hits = _search(retrieval, "BM25", query="invoice").hits
    assert {hit.id for hit in hits if hit.is_test} == {TOTAL}
    assert {hit.id for hit in hits if hit.is_generated} == {TABLE}


def test_access_decides_and_absent_access_is_public(retrieval: Retrieval) -> None:
    assert MARGIN not in _ids(_search(retrieval, "BM25", query="invoice margin"))
    assert _ids(_search(retrieval, "BM25", query="margin", access=FINANCE)) == [MARGIN]
    acme = _search(retrieval, "BM25", query="acme", access=AccessContext(tenant_id="acme"))
    assert _ids(acme) == ["shop::main::cs::Tenant.Only"]


def test_filters_narrow(retrieval: Retrieval) -> None:
    def filtered_ids(**fields: object) -> set[str]:
        return set(_ids(_search(retrieval, "BM25", query="invoice", filter=NodeFilter(**fields))))

    assert filtered_ids(kinds=["sql"]) == {PROC, TABLE}
    assert filtered_ids(languages=["csharp"], path_prefixes=["src/Inv"]) == {CREATE}
    assert filtered_ids(path_prefixes=["src/Inv", "db/"]) == {CREATE, PROC, TABLE}
    assert filtered_ids(data_types=["db_code"], kinds=["cs"]) == set()
    assert filtered_ids(corpus_types=["CODE_LOGIC"]) == {CREATE}
    assert filtered_ids(is_test=True) == {TOTAL}
    assert filtered_ids(is_test=False, is_generated=False) == {CREATE, PROC}
    assert filtered_ids(collection_ids=["none such"]) == set()


def _fetch(stub: Retrieval, **fields: object) -> messages.FetchNodeTextsResponse:
    return stub.FetchNodeTexts(messages.FetchNodeTextsRequest(scope=MAIN, **fields), timeout=300)


def test_fetch_returns_whole_texts_with_their_place(retrieval: Retrieval) -> None:
    response = _fetch(
        retrieval,
        seed_ids=[CREATE],
        nodes=[retrieval_node(PROC, 1, CREATE), retrieval_node(MARGIN, 2, TOTAL), retrieval_node(CREATE, 0, "")],
        budget_tokens=1000,
    )
    first, second = response.texts
    assert (first.id, first.is_seed, first.depth, first.parent_id, first.symbol) == (
        CREATE,
        True,
        0,
        "",
        "InvoiceService.Create",
    )
    assert first.text == "class InvoiceService { void CreateInvoice() { } }"
    location = first.location
    assert (location.path, location.start_line, location.end_line) == ("src/InvoiceService.cs", 3, 9)
    assert len(location.content_hash) == 64
    assert (second.id, second.is_seed, second.depth, second.parent_id) == (PROC, False, 1, CREATE)
    assert [(skipped.id, skipped.reason) for skipped in response.skipped] == [(MARGIN, 2)]
    assert response.used_tokens == first.token_count + second.token_count
    assert response.used_chars == len(first.text) + len(second.text)
    assert response.index == "v1"


def retrieval_node(id_: str, depth: int, parent_id: str) -> messages.ReachedNode:
    return messages.ReachedNode(id=id_, depth=depth, parent_id=parent_id)


def test_texts_of_nodes_that_do_not_pass_the_filter_are_unavailable(retrieval: Retrieval) -> None:
    wanted = {"seed_ids": [CREATE, TOTAL, MARGIN], "nodes": [retrieval_node(TABLE, 1, PROC)], "budget_tokens": 1000}
    response = _fetch(retrieval, **wanted, filter=NodeFilter(is_generated=False, is_test=False))
    assert [text.id for text in response.texts] == [CREATE]
    assert {(skipped.id, skipped.reason) for skipped in response.skipped} == {(TOTAL, 2), (MARGIN, 2), (TABLE, 2)}
    texts = {text.id: (text.is_test, text.is_generated) for text in _fetch(retrieval, **wanted).texts}
    assert texts == {CREATE: (False, False), TOTAL: (True, False), TABLE: (False, True)}


def test_fetch_skips_what_does_not_fit_and_goes_on(retrieval: Retrieval) -> None:
    everything = _fetch(retrieval, seed_ids=[CREATE, TABLE], budget_tokens=1000)
    large, small = everything.texts
    assert large.token_count > small.token_count
    tight = _fetch(retrieval, seed_ids=[CREATE, TABLE], budget_tokens=small.token_count)
    assert [text.id for text in tight.texts] == [TABLE]
    assert [(skipped.id, skipped.reason) for skipped in tight.skipped] == [(CREATE, 1)]
    chars = _fetch(retrieval, seed_ids=[CREATE, TABLE], max_chars=len(small.text))
    assert [text.id for text in chars.texts] == [TABLE]


def test_fetch_orders_by_mode(retrieval: Retrieval) -> None:
    nodes = [retrieval_node(TABLE, 2, PROC), retrieval_node(PROC, 1, CREATE), retrieval_node(TAX, 1, "elsewhere")]

    def order(mode: int) -> list[str]:
        response = _fetch(
            retrieval, seed_ids=[TOTAL, CREATE], nodes=nodes, budget_tokens=1000, prioritization_mode=mode
        )
        return [text.id for text in response.texts]

    assert order(1) == [TOTAL, CREATE, TAX, PROC, TABLE]
    assert order(2) == [TOTAL, CREATE, PROC, TABLE, TAX]
    assert order(3) == order(0) == [TOTAL, TAX, CREATE, PROC, TABLE]


def test_a_pinned_version_answers(retrieval: Retrieval) -> None:
    pinned = IndexScope(repository="shop", branch="main", active_index="old")
    response = _search(retrieval, "BM25", query="invoice", scope=pinned)
    assert response.index == "old"


def test_indexes_show_what_the_caller_sees(indexes: index_pb2_grpc.IndexServiceStub) -> None:
    public = indexes.ListIndexes(index.ListIndexesRequest(), timeout=300).indexes
    assert [(entry.branch, entry.version, entry.active) for entry in public] == [
        ("main", "old", False),
        ("main", "v1", True),
        ("texts", "v1", True),
    ]
    assert (public[1].node_count, public[1].edge_count, public[1].dimension, public[1].lexical) == (5, 3, 4, True)
    vault = AccessContext(acl_tags_any=["vault"])
    cleared = indexes.ListIndexes(index.ListIndexesRequest(branch="vault", access=vault), timeout=300).indexes
    assert [(entry.branch, entry.node_count) for entry in cleared] == [("vault", 1)]
    finance = indexes.GetIndex(index.GetIndexRequest(scope=MAIN, access=FINANCE), timeout=300).index
    assert (finance.version, finance.node_count, finance.edge_count) == ("v1", 6, 5)


def test_activation_swaps_the_answering_version(indexes: index_pb2_grpc.IndexServiceStub, retrieval: Retrieval) -> None:
    def activate(version: str) -> str:
        scope = IndexScope(repository="shop", branch="main", active_index=version)
        return indexes.ActivateIndex(index.ActivateIndexRequest(scope=scope), timeout=300).previous_version

    assert activate("old") == "v1"
    try:
        assert _search(retrieval, "BM25", query="invoice").index == "old"
    finally:
        assert activate("v1") == "old"
    assert _search(retrieval, "BM25", query="invoice").index == "v1"
