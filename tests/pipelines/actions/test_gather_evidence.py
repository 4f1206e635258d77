"""`gather_evidence`: what the server is asked, and what is kept of its answer."""

import pytest
from pydantic import JsonValue

from groundwire_client import Retriever
from groundwire_pipelines.actions.gather_evidence import ACTION
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.state import SearchReport
from support.gathered import INDEX, gathered, passage
from support.retrieval import FakeRetrieval, depends, make_runtime, make_state, run_action

DENSE = [Retriever.RETRIEVER_DENSE]
LEXICAL = [Retriever.RETRIEVER_BM25_CODE, Retriever.RETRIEVER_BM25_PROSE, Retriever.RETRIEVER_TRIGRAM]


def test_it_keeps_passages_and_the_graph_around_them() -> None:
    edge = depends("a", "b", "ReadsFrom", line=3)
    answer = gathered(passage("a", "def a(): ..."), passage("b", reached_by=edge), named=["c"])
    state = make_state()
    outcome = run_action(ACTION, {}, state, make_runtime(FakeRetrieval(gatherings=[answer])))
    assert [
        (source.handle, source.node.id, source.node.depth, source.text, source.is_whole) for source in state.shown
    ] == [(1, "a", 0, "def a(): ...", True), (2, "b", 1, "source", True)]
    assert state.retrieval_seed_nodes == ["a"]
    assert [(node.id, node.depth, node.parent_id) for node in state.graph_expanded_nodes] == [
        ("a", 0, ""),
        ("b", 1, "a"),
        ("c", 0, ""),
    ]
    assert list(state.graph_edges) == [edge]
    assert state.context_blocks[0].startswith("src/a.py\n[1] ")
    assert state.active_index == INDEX
    assert state.search_report == SearchReport(hits=3)
    assert outcome.detail == {
        "passages": 2,
        "from_graph": 1,
        "named": 1,
        "tokens": len(state.rendered.split()),
        "phrasings": 0,
        "weak": False,
    }


@pytest.mark.parametrize(
    ("raw", "mode", "modes", "retrievers"),
    [
        ({}, "bm25", ("semantic", "bm25"), []),
        ({}, "", ("semantic", "semantic_rerank"), DENSE),
        ({}, "", ("bm25",), LEXICAL),
        ({"retrievers": "from_router"}, "bm25", ("semantic", "bm25"), LEXICAL),
        ({"retrievers": "from_router"}, "semantic_rerank", ("semantic", "semantic_rerank", "bm25"), DENSE),
        ({"retrievers": "from_router"}, "hybrid", ("hybrid",), []),
        ({"retrievers": "from_router"}, "direct", ("hybrid",), []),
        ({"retrievers": ["trigram"]}, "semantic", ("semantic",), [Retriever.RETRIEVER_TRIGRAM]),
    ],
)
def test_the_retrievers_are_those_of_the_mode(
    raw: dict[str, JsonValue], mode: str, modes: tuple[str, ...], retrievers: list[Retriever.ValueType]
) -> None:
    retrieval = FakeRetrieval()
    run_action(ACTION, raw, make_state(retrieval_mode=mode), make_runtime(retrieval, retrieval_modes=modes))
    assert list(retrieval.calls[0].arguments["retrievers"]) == retrievers


@pytest.mark.parametrize(
    ("written", "phrasings"),
    [
        ("vat rate", ["vat rate"]),
        ('{"query": "vat rate", "phrasings": "Rates"}', ["vat rate", "Rates"]),
        ('{"query": "vat rate", "phrasings": ["Rates", "", "vat rate", "Rates"]}', ["vat rate", "Rates"]),
        ('{"query": "q", "phrasings": ["1","2","3","4","5","6","7","8","9"]}', ["q", *"1234567"]),
        (f'{{"query": "q", "phrasings": ["{"x" * 8_000}", "{"y" * 200}", "z"]}}', ["q", "x" * 8_000, "z"]),
    ],
)
def test_phrasings_are_as_many_and_as_long_as_the_server_takes(written: str, phrasings: list[str]) -> None:
    retrieval = FakeRetrieval()
    state = make_state(last_model_response=written)
    raw: dict[str, JsonValue] = {"phrased_from": "last_model_response", "query_parser": "jsonish"}
    run_action(ACTION, raw, state, make_runtime(retrieval))
    (call,) = retrieval.calls
    assert (call.arguments["question"], list(call.arguments["phrasings"])) == ("where is VAT computed?", phrasings)


def test_of_a_question_that_is_too_long_the_query_of_the_router_is_searched_for() -> None:
    retrieval = FakeRetrieval()
    state = make_state(user_question="x" * 9_000, last_model_response="vat rate")
    run_action(ACTION, {"phrased_from": "last_model_response"}, state, make_runtime(retrieval))
    assert retrieval.calls[0].arguments["question"] == "vat rate"


@pytest.mark.parametrize(("budget", "requested"), [(5, 200), (1_000, 1_000), (500_000, 100_000)])
def test_a_budget_beyond_what_the_server_takes_is_kept_nevertheless(budget: int, requested: int) -> None:
    retrieval = FakeRetrieval()
    state, runtime = make_state(), make_runtime(retrieval, max_context_tokens=budget)
    run_action(ACTION, {}, state, runtime)
    assert retrieval.calls[0].arguments["budget_tokens"] == requested
    assert runtime.counter.count("\n\n".join(state.context_blocks)) <= budget


def test_what_the_server_says_of_weak_evidence_is_kept() -> None:
    answer = gathered(passage("a"), weak="nothing is like it")
    state = make_state()
    outcome = run_action(ACTION, {}, state, make_runtime(FakeRetrieval(gatherings=[answer])))
    assert outcome.detail["weak"] is True
    report = state.search_report
    assert report is not None
    assert (report.is_weak, report.weakness, report.similarity) == (True, "nothing is like it", 0.2)


def test_a_filter_of_a_query_without_effect_is_told_below_the_evidence() -> None:
    state = make_state(last_model_response='{"query": "vat", "filters": {"directory": "src/"}}')
    raw: dict[str, JsonValue] = {"query_from": "last_model_response", "query_parser": "jsonish"}
    run_action(ACTION, raw, state, make_runtime(FakeRetrieval()))
    assert state.context_blocks[-1].startswith("A part of the query had no effect: the filter ")


@pytest.mark.parametrize(
    ("raw", "fields", "rule"),
    [
        ({}, {"user_question": " "}, "query-empty"),
        ({}, {"repository": ""}, "repository-required"),
        ({"retrievers": ["dense", "dense"]}, {}, "retriever-repeated"),
        ({"retrievers": ["telepathy"]}, {}, "retrievers-malformed"),
        ({"phrased_from": "plan.query"}, {}, "output-missing"),
    ],
)
def test_a_broken_rule_has_its_name(raw: dict[str, JsonValue], fields: dict[str, object], rule: str) -> None:
    with pytest.raises(StepError) as caught:
        run_action(ACTION, raw, make_state(**fields), make_runtime(FakeRetrieval()))
    assert caught.value.rule == rule
