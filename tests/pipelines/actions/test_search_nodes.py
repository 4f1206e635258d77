from typing import Any, cast, get_args

import pytest
from pydantic import JsonValue

from groundwire_client import (
    AccessContext,
    ExpandDebug,
    GraphEdge,
    IndexScope,
    Lifecycle,
    NodeFilter,
    ReachedNode,
    Rerank,
    Retriever,
    RetrieverScore,
    SearchDebug,
    SearchHit,
    SearchNodesResponse,
    SearchType,
    choices,
)
from groundwire_pipelines.action_definition import Action
from groundwire_pipelines.action_parts.evidence_text import evidence_or_reason, evidence_text
from groundwire_pipelines.actions import query
from groundwire_pipelines.actions.render_context_blocks import show_texts
from groundwire_pipelines.actions.search_nodes import ACTION, SearchBy
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.parsing.filters import plain
from groundwire_pipelines.state import SearchReport
from support.query_answers import queried
from support.retrieval import INDEX, FakeRetrieval, make_runtime, make_state, run_action, search_response, text

ACCESS = AccessContext(
    tenant_id="acme", acl_tags_any=("finance",), classification_labels_all=("internal",), clearance_level=2
)


def test_calls_search_once_and_keeps_ids_in_the_order_of_their_ranks() -> None:
    retrieval = FakeRetrieval(searches=[search_response("c", "a", "b")])
    state = make_state(
        last_model_response="  tax rules \n",
        retrieval_access=ACCESS,
        retrieval_filter=NodeFilter(languages=("python",)),
    )
    outcome = run_action(ACTION, {"search_type": "hybrid"}, state, make_runtime(retrieval, top_k=7))
    (call,) = retrieval.calls
    assert call.method == "search"
    assert call.scope == IndexScope(repository="shop", branch="main", active_index="")
    assert call.arguments == {
        "query": "tax rules",
        "search_type": SearchType.SEARCH_TYPE_HYBRID,
        "top_k": 7,
        "filter": NodeFilter(languages=("python",)),
        "rrf_k": None,
        "rerank": Rerank.RERANK_NONE,
        "explain": True,
        "lifecycle": Lifecycle.LIFECYCLE_ACTIVE,
        "access": ACCESS,
    }
    assert state.retrieval_seed_nodes == ["c", "a", "b"]
    assert [hit.rank for hit in state.retrieval_hits] == [1, 2, 3]
    assert outcome.transition == "next"
    assert outcome.detail == {"mode": "hybrid", "top_k": 7, "hits": 3, "exact": True}


def test_clears_what_an_earlier_retrieval_left_even_when_it_then_fails() -> None:
    state = make_state(
        retrieval_seed_nodes=["old"],
        retrieval_hits=[SearchHit(id="old", score=1.0, rank=1)],
        graph_seed_nodes=["old"],
        graph_expanded_nodes=[ReachedNode(id="old", depth=0)],
        graph_edges=[GraphEdge(from_id="old", to_id="older", edge_type="Calls", confidence=1.0)],
        graph_debug=ExpandDebug(seed_count=1, expanded_count=1, edges_count=1, truncated=False, reason="ok"),
        node_texts=[text("old")],
        context_blocks=["old"],
    )
    with pytest.raises(StepError):
        run_action(ACTION, {"search_type": "bm25"}, state, make_runtime(FakeRetrieval()))
    assert state == make_state()


def test_the_best_cosine_and_the_most_words_of_a_hit_are_told() -> None:
    """Scores and other retrievers' scores are comparable only within one response."""
    dense, bm25 = Retriever.RETRIEVER_DENSE, Retriever.RETRIEVER_BM25_CODE
    hits = [
        SearchHit(id="a", score=0.9, rank=1, retrievers=[RetrieverScore(retriever=bm25, rank=1, score=7.0)]),
        SearchHit(id="b", score=0.8, rank=2, retrievers=[RetrieverScore(retriever=dense, rank=2, score=0.25)]),
        SearchHit(id="c", score=0.7, rank=3, retrievers=[RetrieverScore(retriever=dense, rank=1, score=0.5)]),
    ]
    hits[0].matched_tokens[:], hits[1].matched_tokens[:] = ["rate", "tax", "vat"], ["tax"]
    assert reported(hits, ["of", "rate", "tax", "vat"]) == SearchReport(3, similarity=0.5, words=0.75)
    assert reported(hits[:1], []) == SearchReport(1)
    hits[0].matched_tokens[:] = tokens = [f"t{number:02}" for number in range(16)]
    assert reported(hits[:1], [*tokens, *"abcdefgh"]).words == 1.0, "a hit tells 16 words at most"
    assert reported([], ["tax"]) == SearchReport(0, words=0.0)


def reported(hits: list[SearchHit], query_tokens: list[str]) -> SearchReport:
    response = SearchNodesResponse(hits=hits, index=INDEX, debug=SearchDebug(query_tokens=query_tokens))
    state = make_state(last_model_response="tax")
    run_action(ACTION, {"search_type": "hybrid"}, state, make_runtime(FakeRetrieval(searches=[response])))
    assert state.search_report is not None
    return state.search_report


def test_materialises_no_text() -> None:
    state = make_state(last_model_response="tax")
    run_action(ACTION, {"search_type": "bm25"}, state, make_runtime(FakeRetrieval()))
    assert state.node_texts == []
    assert state.context_blocks == []


@pytest.mark.parametrize(
    ("english", "query"), [("", "gdzie liczony jest VAT?"), ("where is VAT computed?", "where is VAT computed?")]
)
def test_query_can_be_the_question_in_english_where_there_is_one(english: str, query: str) -> None:
    retrieval = FakeRetrieval()
    state = make_state(
        user_question="gdzie liczony jest VAT?", user_question_en=english, last_model_response="[HYBRID:] other"
    )
    run_action(ACTION, {"search_type": "bm25", "query_from": "question"}, state, make_runtime(retrieval))
    assert retrieval.calls[0].arguments["query"] == query


@pytest.mark.parametrize(
    ("source", "parser", "query", "languages"),
    [
        ("rewritten_question", None, "vat rates", ()),
        ("notes", None, "as they are", ()),
        ("plan.query", None, "VAT", ()),
        ("plan", "jsonish", "VAT", ("python",)),
    ],
)
def test_query_can_be_what_a_model_step_wrote(
    source: str, parser: str | None, query: str, languages: tuple[str, ...]
) -> None:
    retrieval = FakeRetrieval()
    state = make_state(
        rewritten_question="vat rates",
        outputs={"notes": " as they are\n", "plan": {"query": "VAT", "filters": {"language": "python"}}},
    )
    raw: dict[str, JsonValue] = {"search_type": "bm25", "query_from": source}
    run_action(ACTION, raw | ({"query_parser": parser} if parser else {}), state, make_runtime(retrieval))
    arguments = retrieval.calls[0].arguments
    assert (arguments["query"], tuple(arguments["filter"].languages)) == (query, languages)


@pytest.mark.parametrize(
    ("mode", "search_type", "rerank", "rrf_k"),
    [
        ("semantic", SearchType.SEARCH_TYPE_SEMANTIC, Rerank.RERANK_NONE, None),
        ("semantic_rerank", SearchType.SEARCH_TYPE_SEMANTIC, Rerank.RERANK_KEYWORD, None),
        ("bm25", SearchType.SEARCH_TYPE_BM25, Rerank.RERANK_NONE, None),
        ("hybrid", SearchType.SEARCH_TYPE_HYBRID, Rerank.RERANK_NONE, 10),
    ],
)
def test_one_step_searches_as_the_router_chose(
    mode: str, search_type: SearchType, rerank: Rerank, rrf_k: int | None
) -> None:
    retrieval = FakeRetrieval()
    state = make_state(last_model_response="tax", retrieval_mode=mode)
    outcome = run_action(ACTION, {"search_type": "from_router", "rrf_k": 10}, state, make_runtime(retrieval))
    arguments = retrieval.calls[0].arguments
    assert (arguments["search_type"], arguments["rerank"], arguments["rrf_k"]) == (search_type, rerank, rrf_k)
    assert outcome.detail["mode"] == mode


def test_a_step_can_search_every_way_of_the_server_that_ranks() -> None:
    assert set(get_args(SearchBy)) == set(choices(SearchType)) - {"name"} | {"from_router"}


def test_the_step_decides_top_k_before_the_settings() -> None:
    retrieval = FakeRetrieval()
    run_action(
        ACTION,
        {"search_type": "bm25", "top_k": 3},
        make_state(last_model_response="tax"),
        make_runtime(retrieval, top_k=9),
    )
    assert retrieval.calls[0].arguments["top_k"] == 3


def test_the_values_of_enums_are_taken_in_any_case() -> None:
    retrieval = FakeRetrieval()
    state = make_state(last_model_response="tax")
    run_action(ACTION, {"search_type": "Semantic", "rerank": "KEYWORD"}, state, make_runtime(retrieval))
    arguments = retrieval.calls[0].arguments
    assert (arguments["search_type"], arguments["rerank"]) == (SearchType.SEARCH_TYPE_SEMANTIC, Rerank.RERANK_KEYWORD)


@pytest.mark.parametrize(("search_type", "sent"), [("hybrid", 10), ("semantic", None), ("bm25", None)])
def test_rrf_k_is_of_hybrid_search_alone(search_type: str, sent: int | None) -> None:
    retrieval = FakeRetrieval()
    state = make_state(last_model_response="tax")
    run_action(ACTION, {"search_type": search_type, "rrf_k": 10}, state, make_runtime(retrieval))
    assert retrieval.calls[0].arguments["rrf_k"] == sent


@pytest.mark.parametrize(
    ("rerank", "sent"),
    [
        ("keyword", Rerank.RERANK_KEYWORD),
        ("keyword_rerank", Rerank.RERANK_KEYWORD),
        ("codebert", Rerank.RERANK_CODEBERT),
        ("codebert_rerank", Rerank.RERANK_CODEBERT),
    ],
)
def test_a_reranked_semantic_search_is_the_mode_semantic_rerank(rerank: str, sent: Rerank) -> None:
    retrieval = FakeRetrieval()
    runtime = make_runtime(retrieval, retrieval_modes=("semantic_rerank",))
    outcome = run_action(
        ACTION, {"search_type": "semantic", "rerank": rerank}, make_state(last_model_response="tax"), runtime
    )
    assert retrieval.calls[0].arguments["rerank"] == sent
    assert outcome.detail["mode"] == "semantic_rerank"


def test_parsed_filters_add_to_those_of_the_caller_and_replace_none() -> None:
    retrieval = FakeRetrieval()
    base = NodeFilter(languages=("tsql",), path_prefixes=("src/",))
    state = make_state(
        last_model_response='{"query": "tax", "filters": {"data_type": "db_code", "path": ["src/Billing/", "lib/"], '
        '"language": "tsql"}}',
        retrieval_filter=base,
    )
    outcome = run_action(ACTION, {"search_type": "bm25", "query_parser": "jsonish"}, state, make_runtime(retrieval))
    (call,) = retrieval.calls
    assert call.arguments["query"] == "tax"
    assert call.arguments["filter"] == NodeFilter(languages=("tsql",), data_types=("db_code",), path_prefixes=("src/",))
    assert outcome.detail["replaced_filters"] == "path_prefixes"
    assert state.retrieval_filter == base


def test_without_a_parser_an_object_is_a_query_like_any_other() -> None:
    retrieval = FakeRetrieval()
    state = make_state(last_model_response='{"query": "tax"}')
    run_action(ACTION, {"search_type": "bm25"}, state, make_runtime(retrieval))
    assert retrieval.calls[0].arguments["query"] == '{"query": "tax"}'


@pytest.mark.parametrize("action", [ACTION, query.ACTION])
@pytest.mark.parametrize(
    ("base", "written", "replaced"),
    [
        (NodeFilter(kinds=("cs",)), "kind: sql", "kinds"),
        (NodeFilter(is_latest=True), "is_latest: false", "is_latest"),
        (NodeFilter(is_test=False), "tests: true, kind: []", "is_test"),
        (NodeFilter(kinds=("cs",), repo_names=("shop",)), "repo: till, kinds: [sql, cs]", "kinds, repo_names"),
    ],
)
@pytest.mark.parametrize("by_step", [False, True])
def test_the_base_filter_wins_over_the_value_of_a_model(
    action: Action[Any], base: NodeFilter, written: str, replaced: str, by_step: bool
) -> None:
    retrieval = FakeRetrieval()
    of_run = NodeFilter() if by_step else base
    state = make_state(last_model_response=f"{{query: tax, filters: {{{written}}}}}", retrieval_filter=of_run)
    raw: dict[str, JsonValue] = {"query_parser": "jsonish"}
    if action is ACTION:
        raw["search_type"] = "bm25"
    if by_step:
        raw["filter"] = cast("JsonValue", plain(base))
    outcome = run_action(action, raw, state, make_runtime(retrieval))
    (call,) = retrieval.calls
    assert call.arguments["filter"] == base
    assert outcome.detail["replaced_filters"] == replaced
    assert state.retrieval_seed_nodes == ["a", "b"]


def test_scope_and_access_in_a_query_are_dropped_and_told() -> None:
    retrieval = FakeRetrieval()
    state = make_state(
        last_model_response='{"query": "tax", "filters": {"acl_tags": ["board"], "Repository": "secret"}}',
        retrieval_access=ACCESS,
    )
    outcome = run_action(ACTION, {"search_type": "bm25", "query_parser": "jsonish"}, state, make_runtime(retrieval))
    assert retrieval.calls[0].scope == IndexScope(repository="shop", branch="main", active_index="")
    assert retrieval.calls[0].arguments["access"] == ACCESS
    assert retrieval.calls[0].arguments["filter"] == NodeFilter()
    assert outcome.detail["dropped_filters"] == "acl_tags, repository"


@pytest.mark.parametrize("action", [ACTION, query.ACTION])
def test_filters_that_cannot_be_used_are_traced_and_told_to_the_model(action: Action[Any]) -> None:
    written = '{"query": "tax", "filters": {"directory": "src", "kind": "cs", "tests": "none"}}'
    state = make_state(last_model_response=written)
    raw: dict[str, JsonValue] = {"query_parser": "jsonish", **({"search_type": "bm25"} if action is ACTION else {})}
    retrieval = FakeRetrieval(searches=[search_response()], queries=[queried(index=INDEX)])
    outcome = run_action(action, raw, state, make_runtime(retrieval))
    assert retrieval.calls[0].arguments["filter"] == NodeFilter(kinds=("cs",))
    assert outcome.detail["unusable_filters"] == 2
    notes = ('the filter "directory" is unknown', 'the filter "tests" must be true or false')
    without_nodes = evidence_or_reason(state, make_runtime(retrieval))
    state.node_texts = [text("a")]
    show_texts(state, make_runtime(retrieval), None)
    for context in (without_nodes, evidence_text(state)):
        assert all(f"A part of the query had no effect: {problem}" in context for problem in notes)


def test_the_first_answer_pins_the_index_for_the_next() -> None:
    retrieval = FakeRetrieval()
    state = make_state(last_model_response="tax")
    for _ in range(2):
        run_action(ACTION, {"search_type": "bm25"}, state, make_runtime(retrieval))
    assert [call.scope.active_index for call in retrieval.calls] == ["", INDEX]


@pytest.mark.parametrize(
    ("rule", "raw", "fields", "settings"),
    [
        ("repository-required", {}, {"repository": ""}, {}),
        ("branch-required", {}, {"branch": ""}, {}),
        ("search-type-missing", {"search_type": None}, {}, {}),
        ("search-type-unknown", {"search_type": "semantic_rerank"}, {}, {}),
        ("search-type-unknown", {"search_type": ["hybrid", "semantic_rerank"]}, {}, {}),
        ("top-k-missing", {}, {}, {"top_k": None}),
        ("top-k-not-positive", {"top_k": 0}, {}, {}),
        ("top-k-malformed", {"top_k": "many"}, {}, {}),
        ("rerank-unknown", {"rerank": "bert"}, {}, {}),
        ("rerank-not-semantic", {"search_type": "bm25", "rerank": "keyword"}, {}, {}),
        ("rerank-not-semantic", {"search_type": "hybrid", "rerank": "codebert_rerank"}, {}, {}),
        ("rrf-k-not-positive", {"search_type": "hybrid", "rrf_k": 0}, {}, {}),
        ("rrf-k-not-positive", {"search_type": "bm25", "rrf_k": 0}, {}, {}),
        ("query-empty", {}, {"last_model_response": " \n "}, {}),
        ("query-empty", {"query_parser": "jsonish"}, {"last_model_response": '{"query": ""}'}, {}),
        ("query-empty", {"query_parser": "jsonish"}, {"last_model_response": '{"filters": {}}'}, {}),
        ("query-parser-unknown", {"query_parser": "xml"}, {}, {}),
        ("output-missing", {"query_from": "history"}, {}, {}),
        ("query-from-malformed", {"query_from": "His tory"}, {}, {}),
        ("query-empty", {"query_from": "rewritten_question"}, {}, {}),
        ("mode-missing", {"search_type": "from_router"}, {}, {}),
        ("mode-missing", {"search_type": "from_router"}, {"retrieval_mode": "direct"}, {}),
        (
            "mode-not-supported",
            {"search_type": "from_router"},
            {"retrieval_mode": "bm25"},
            {"retrieval_modes": ("semantic",)},
        ),
        ("rerank-not-semantic", {"search_type": "from_router", "rerank": "keyword"}, {}, {}),
        ("mode-not-supported", {}, {}, {"retrieval_modes": ("bm25", "semantic_rerank")}),
        ("mode-not-supported", {"rerank": "keyword"}, {}, {"retrieval_modes": ("semantic",)}),
        ("topk-unknown", {"topk": 3}, {}, {}),
    ],
)
def test_fails_fast(rule: str, raw: dict[str, JsonValue], fields: dict[str, str], settings: dict[str, Any]) -> None:
    retrieval = FakeRetrieval()
    state = make_state(**{"last_model_response": "tax", **fields})
    keys = {key: value for key, value in {"search_type": "semantic", **raw}.items() if value is not None}
    with pytest.raises(StepError) as caught:
        run_action(ACTION, keys, state, make_runtime(retrieval, **settings))
    assert caught.value.rule == rule
    assert retrieval.calls == []


def test_an_answer_from_another_index_than_the_pinned_one_fails() -> None:
    state = make_state(last_model_response="tax", active_index="2025-12-31_main")
    with pytest.raises(StepError) as caught:
        run_action(ACTION, {"search_type": "bm25"}, state, make_runtime(FakeRetrieval()))
    assert caught.value.rule == "index-changed"
    assert state.retrieval_seed_nodes == []


def test_what_does_not_fit_the_wire_fails_as_a_step() -> None:
    retrieval = FakeRetrieval(searches=[ValueError("surrogates not allowed")])
    with pytest.raises(StepError) as caught:
        run_action(ACTION, {"search_type": "bm25"}, make_state(last_model_response="\ud800"), make_runtime(retrieval))
    assert caught.value.rule == "request-unsendable"
