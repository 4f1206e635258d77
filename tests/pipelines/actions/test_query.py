from typing import Any

import pytest
from pydantic import JsonValue

from groundwire_client import (
    AccessContext,
    ExpandDebug,
    FusionMode,
    GraphEdge,
    HybridParameters,
    IndexScope,
    Lifecycle,
    NodeFilter,
    NodeText,
    ReachedNode,
    Retriever,
    SearchHit,
    SkippedNode,
    SkipReason,
    SourceLocation,
    StageScores,
    node_filter,
)
from groundwire_pipelines.actions import check_context_budget, finalize, render_context_blocks
from groundwire_pipelines.actions.query import ACTION
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.state import SearchReport
from support.query_answers import match, parent, queried
from support.retrieval import INDEX, FakeRetrieval, changed, make_runtime, make_state, run_action, text

ACCESS = AccessContext(
    tenant_id="acme", acl_tags_any=("finance",), classification_labels_all=("internal",), clearance_level=2
)


def request_of(raw: dict[str, JsonValue] | None = None, **settings: Any) -> dict[str, Any]:
    """What a step of these keys asks the server."""
    retrieval = FakeRetrieval()
    run_action(ACTION, raw or {}, make_state(last_model_response="tax"), make_runtime(retrieval, **settings))
    return dict(retrieval.calls[0].arguments)


def test_asks_once_and_keeps_what_a_search_and_a_fetch_would() -> None:
    retrieval = FakeRetrieval(queries=[queried(match("b", 1, "x = 1", tokens=3), match("a", 2), index=INDEX)])
    state = make_state(
        last_model_response="  tax rules \n",
        retrieval_access=ACCESS,
        retrieval_filter=NodeFilter(languages=("python",)),
    )
    outcome = run_action(ACTION, {}, state, make_runtime(retrieval, top_k=7))
    (call,) = retrieval.calls
    assert (call.method, call.scope) == ("query", IndexScope(repository="shop", branch="main", active_index=""))
    assert call.arguments == {
        "query": "tax rules",
        "hybrid": HybridParameters(top_k=7),
        "filter": NodeFilter(languages=("python",)),
        "lifecycle": Lifecycle.LIFECYCLE_ACTIVE,
        "retrievers": [],
        "fusion": FusionMode.FUSION_MODE_UNSPECIFIED,
        "rrf_k": None,
        "rerank": False,
        "freshness_half_life_days": None,
        "freshness_weight": None,
        "include_parents": True,
        "include_neighbors": False,
        "expand_graph": False,
        "history": False,
        "not_found_when_empty": False,
        "process": "",
        "doc_class": "",
        "workflow_id": "",
        "cap_top_k": False,
        "budget_tokens": 700,
        "access": ACCESS,
    }
    assert state.retrieval_seed_nodes == ["b", "a"]
    assert state.retrieval_hits == [SearchHit(id="b", score=1.0, rank=1), SearchHit(id="a", score=0.5, rank=2)]
    assert state.node_texts == [
        NodeText(
            id="b",
            text="x = 1",
            is_seed=True,
            depth=0,
            parent_id="",
            token_count=3,
            location=SourceLocation(path="src/b.py", start_line=1, end_line=3, content_hash="00"),
            symbol="Symbol.b",
        ),
        NodeText(
            id="a",
            text="source",
            is_seed=True,
            depth=0,
            parent_id="",
            token_count=1,
            location=SourceLocation(path="src/a.py", start_line=1, end_line=3, content_hash="00"),
            symbol="Symbol.a",
        ),
    ]
    assert outcome.transition == "next"
    assert outcome.detail == {
        "top_k": 7,
        "budget": 700,
        "fusion": "adaptive",
        "query_class": "mixed",
        "matches": 2,
        "exact": True,
        "texts": 2,
        "tokens": 4,
        "skipped": 0,
    }


def test_every_key_of_the_step_reaches_the_server() -> None:
    hybrid = {"alpha": 0, "min_sim": 0.25, "vec_limit": 50, "lex_limit": 60, "trgm_limit": 1, "max_candidates": 70}
    arguments = request_of(
        {
            **hybrid,
            "diversify_strength": 0.5,
            "top_k": 3,
            "retrievers": ["trigram", "bm25_prose"],
            "fusion": "rrf",
            "rrf_k": 10,
            "rerank": True,
            "freshness_half_life_days": 30,
            "freshness_weight": 0.5,
            "include_parents": False,
            "include_neighbors": True,
        }
    )
    assert arguments["hybrid"] == HybridParameters(
        alpha=0.0,
        min_sim=0.25,
        top_k=3,
        vec_limit=50,
        lex_limit=60,
        trgm_limit=1.0,
        max_candidates=70,
        diversify_strength=0.5,
    )
    assert arguments["retrievers"] == [Retriever.RETRIEVER_TRIGRAM, Retriever.RETRIEVER_BM25_PROSE]
    assert (arguments["fusion"], arguments["rrf_k"], arguments["rerank"]) == (FusionMode.FUSION_MODE_RRF, 10, True)
    assert (arguments["freshness_half_life_days"], arguments["freshness_weight"]) == (30, 0.5)
    assert (arguments["include_parents"], arguments["include_neighbors"]) == (False, True)


@pytest.mark.parametrize(
    ("raw", "sent"), [({}, 30), ({"fusion": "rrf"}, 30), ({"fusion": "weighted"}, None), ({"fusion": "adaptive"}, None)]
)
def test_rrf_k_is_sent_unless_the_step_names_another_fusion(raw: dict[str, JsonValue], sent: int | None) -> None:
    """A routing rule of the server may fuse by ranks where the step names no fusion."""
    assert request_of({**raw, "rrf_k": 30})["rrf_k"] == sent


def test_the_pipelines_top_k_gives_way_to_the_candidates_of_a_step() -> None:
    assert request_of({"max_candidates": 3}, top_k=7)["hybrid"] == HybridParameters(top_k=3, max_candidates=3)
    assert request_of({"max_candidates": 9}, top_k=7)["hybrid"] == HybridParameters(top_k=7, max_candidates=9)


def test_matches_come_first_then_what_contains_them_then_what_is_beside_them() -> None:
    answer = queried(
        match("a", 1, parents=[parent("whole", "three words long")]),
        match("b", 2, symbol="", section="Tax > VAT", parents=[parent("whole", "three words long"), parent("a")]),
        match("next", 0, beside="a", parents=[parent("beside", "two words")]),
        index=INDEX,
    )
    state = make_state(last_model_response="tax")
    run_action(ACTION, {}, state, make_runtime(FakeRetrieval(queries=[answer])))
    seeds, others = state.node_texts[:2], state.node_texts[2:]
    assert [(node.id, node.is_seed, node.depth, node.parent_id) for node in seeds] == [
        ("a", True, 0, ""),
        ("b", True, 0, ""),
    ]
    assert seeds[1].symbol == "Tax > VAT"
    assert [(node.id, node.is_seed, node.depth, node.parent_id) for node in others] == [
        ("whole", False, 1, "a"),
        ("next", False, 1, "a"),
        ("beside", False, 2, "next"),
    ]
    assert (others[0].symbol, others[0].token_count, others[0].location.end_line) == ("Symbol.whole", 2, 9)
    assert state.retrieval_seed_nodes == ["a", "b"]
    assert [hit.id for hit in state.retrieval_hits] == ["a", "b"]


def test_what_the_server_packed_into_the_budget_is_kept_and_the_rest_is_told() -> None:
    answer = queried(
        match("a", 1, tokens=60),
        match("b", 2, tokens=50, omitted=True, parents=[parent("whole", "", omitted=True)]),
        match("c", 3, tokens=39),
        index=INDEX,
    )
    state = make_state(last_model_response="tax")
    retrieval = FakeRetrieval(queries=[answer])
    outcome = run_action(ACTION, {"budget_tokens": 100}, state, make_runtime(retrieval))
    assert retrieval.calls[0].arguments["budget_tokens"] == 100
    assert [node.id for node in state.node_texts] == ["a", "c"]
    assert (outcome.detail["texts"], outcome.detail["tokens"], outcome.detail["skipped"]) == (2, 99, 2)
    assert state.retrieval_seed_nodes == ["a", "b", "c"]
    assert state.skipped_texts == [
        SkippedNode(id=name, reason=SkipReason.SKIP_REASON_UNSPECIFIED) for name in ("b", "whole")
    ]


@pytest.mark.parametrize(
    ("scores", "similarity"),
    [([], None), ([(None, None)], None), ([(0.2, None), (0.4, None)], 0.4), ([(0.9, 0.1), (0.3, 0.2)], 0.2)],
)
def test_how_well_the_best_match_matches_is_told_where_that_means_the_same_for_every_query(
    scores: list[tuple[float | None, float | None]], similarity: float | None
) -> None:
    matches = [
        changed(
            match(f"m{number}", number),
            scores=StageScores(
                dense=dense,
                bm25_code=9.0,
                bm25_prose=9.0,
                trigram=0.9,
                fused=9.0,
                rerank=rerank,
                freshness=None,
                boost=1.0,
                final=9.0,
            ),
        )
        for number, (dense, rerank) in enumerate(scores, start=1)
    ]
    state = make_state(last_model_response="tax", retrieval_filter=NodeFilter(is_test=False))
    run_action(ACTION, {}, state, make_runtime(FakeRetrieval(queries=[queried(*matches, index=INDEX)])))
    words = 0.9 if scores else None
    assert state.search_report == SearchReport(len(scores), is_filtered=True, similarity=similarity, words=words)


@pytest.mark.parametrize(
    ("question", "words"),
    [("how is the VAT rate computed?", 2 / 3), ("compute it for an invoice", 0.5), ("why is it so", None)],
)
def test_the_most_words_of_the_question_in_one_match_are_told(question: str, words: float | None) -> None:
    """Neighbours do not count, and neither do words of questions."""
    matches = (
        match("a", 1, "decimal Rate()", symbol="VatService.Rate"),
        match("b", 2, "compute()"),
        match("c", 0, "invoice = compute(vat, rate)", beside="a"),
    )
    state = make_state(last_model_response=question)
    run_action(ACTION, {}, state, make_runtime(FakeRetrieval(queries=[queried(*matches, index=INDEX)])))
    assert state.search_report == SearchReport(2, words=words)


def test_a_budget_may_be_a_multiple_of_what_is_shown_in_the_end() -> None:
    assert request_of({"budget_factor": 4})["budget_tokens"] == 4000


def test_a_parent_that_the_response_left_out_is_told() -> None:
    answer = queried(match("a", 1, parents=[parent("whole", "", omitted=True)]), index=INDEX)
    state = make_state(last_model_response="tax")
    outcome = run_action(ACTION, {}, state, make_runtime(FakeRetrieval(queries=[answer])))
    assert [node.id for node in state.node_texts] == ["a"]
    assert outcome.detail["skipped"] == 1


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
        run_action(ACTION, {}, state, make_runtime(FakeRetrieval()))
    assert state == make_state()


@pytest.mark.parametrize("view", ["flat", "graph"])
def test_its_texts_are_evidence_for_the_steps_after_it(view: str) -> None:
    answer = queried(
        match("a", 1, "def vat(): ...", parents=[parent("whole", "class Tax: ...")]),
        match("next", 0, "def toll(): ...", beside="a"),
        index=INDEX,
    )
    runtime = make_runtime(FakeRetrieval(queries=[answer]))
    state = make_state(last_model_response="tax")
    run_action(ACTION, {}, state, runtime)
    run_action(render_context_blocks.ACTION, {"view": view}, state, runtime)
    outcome = run_action(check_context_budget.ACTION, {}, state, runtime)
    run_action(finalize.ACTION, {}, state, runtime)
    assert outcome.transition == "on_ok"
    assert all(part in state.final_answer for part in ("def vat()", "class Tax", "def toll()", "src/a.py\n[1] "))


@pytest.mark.parametrize(
    ("english", "query"), [("", "gdzie liczony jest VAT?"), ("where is VAT computed?", "where is VAT computed?")]
)
def test_query_can_be_the_question_in_english_where_there_is_one(english: str, query: str) -> None:
    retrieval = FakeRetrieval()
    state = make_state(user_question="gdzie liczony jest VAT?", user_question_en=english, last_model_response="other")
    run_action(ACTION, {"query_from": "question"}, state, make_runtime(retrieval))
    assert retrieval.calls[0].arguments["query"] == query


def test_parsed_filters_narrow_those_of_the_caller() -> None:
    retrieval = FakeRetrieval()
    state = make_state(
        last_model_response='{"query": "tax", "filters": {"service": "billing", "is_latest": true, "acl_tags": ["x"]}}',
        retrieval_filter=node_filter({}, languages=("tsql",), metadata={"team": "tax"}),
    )
    outcome = run_action(ACTION, {"query_parser": "jsonish"}, state, make_runtime(retrieval))
    assert retrieval.calls[0].arguments["query"] == "tax"
    assert retrieval.calls[0].arguments["filter"] == node_filter(
        {}, languages=("tsql",), service_names=("billing",), is_latest=True, metadata={"team": "tax"}
    )
    assert outcome.detail["dropped_filters"] == "acl_tags"


def test_the_first_answer_pins_the_index_for_the_next() -> None:
    retrieval = FakeRetrieval()
    state = make_state(last_model_response="tax")
    for _ in range(2):
        run_action(ACTION, {}, state, make_runtime(retrieval))
    assert [call.scope.active_index for call in retrieval.calls] == ["", INDEX]


def test_the_steps_own_limits_need_no_settings() -> None:
    arguments = request_of({"top_k": 3, "budget_tokens": 9}, top_k=None, max_context_tokens=None)
    assert arguments["hybrid"].top_k == 3
    needed = ACTION.settings_needed
    assert needed(ACTION.settings()) == ("top_k", "max_context_tokens")
    assert needed(ACTION.settings(top_k=3, budget_tokens=9)) == ()
