"""Filters of the pipeline, the run and a step: a node must pass all, and nothing widens another."""

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest
from pydantic import JsonValue

from groundwire.v1 import query_pb2, scope_pb2
from groundwire_client import (
    AsyncGroundwireClient,
    GroundwireClient,
    IndexScope,
    Lifecycle,
    NodeFilter,
    SkippedNode,
    SkipReason,
    node_filter,
)
from groundwire_pipelines import DefinitionError, Pipeline, PipelineResult
from groundwire_pipelines.action_definition import Action
from groundwire_pipelines.action_parts.evidence_text import evidence_or_reason
from groundwire_pipelines.action_parts.query_settings import QuerySettings
from groundwire_pipelines.actions import (
    expand_dependency_tree,
    fetch_node_texts,
    find_paths,
    gather_evidence,
    query,
    search_nodes,
)
from groundwire_pipelines.filter_keys import FilterKeys
from groundwire_pipelines.parsing.filters import filters_in_words, merged, why_none_passes
from groundwire_pipelines.state import SearchReport
from support.gathered import gathered
from support.jsonl import node
from support.program import Server, run_ok, write_jsonl
from support.retrieval import FakeRetrieval, fetched, make_runtime, make_state, run_action

OF_RUN = NodeFilter(collection_ids=("billing", "audit"), is_test=False)
LIMITS: dict[str, JsonValue] = {"max_depth": 1, "max_nodes": 9, "edge_allowlist": ["*"]}
PATHS = {"max_hops": 3, "max_paths": 2, "graph_max_nodes": 9, "graph_edge_allowlist": ("*",)}
STEPS: dict[str, tuple[Action[Any], dict[str, JsonValue], dict[str, Any]]] = {
    "search_nodes": (search_nodes.ACTION, {"search_type": "bm25", "query_from": "question"}, {}),
    "query": (query.ACTION, {"query_from": "question"}, {}),
    "gather_evidence": (gather_evidence.ACTION, {}, {}),
    "expand_dependency_tree": (expand_dependency_tree.ACTION, LIMITS, {}),
    "fetch_node_texts": (fetch_node_texts.ACTION, {}, {}),
    "find_paths": (find_paths.ACTION, {}, PATHS),
}


def run_with(name: str, narrowing: JsonValue) -> tuple[FakeRetrieval, dict[str, Any]]:
    """What a step with a filter of its own asks, and what its trace tells."""
    action, keys, settings = STEPS[name]
    retrieval = FakeRetrieval()
    state = make_state(
        user_question="from a to b", retrieval_filter=OF_RUN, retrieval_seed_nodes=["a"], graph_seed_nodes=["a"]
    )
    outcome = run_action(action, {**keys, "filter": narrowing}, state, make_runtime(retrieval, **settings))
    return retrieval, dict(outcome.detail)


def test_the_keys_are_the_fields_of_the_wire() -> None:
    assert set(FilterKeys.model_fields) == set(scope_pb2.NodeFilter.DESCRIPTOR.fields_by_name)


def test_a_filter_of_a_file_has_the_names_of_one_in_python() -> None:
    """Singular or plural, and any other name is one of the metadata."""
    loose: dict[str, JsonValue] = {"collection_id": "a", "collection_ids": ["b"], "is_test": False, "team": ["tax", 1]}
    retrieval = FakeRetrieval(gatherings=[gathered()])
    run(retrieval, loose, NodeFilter())
    assert retrieval.calls[0].arguments["filter"] == node_filter(loose)
    with pytest.raises(DefinitionError, match="langauge: is no field of a filter; did you mean language"):
        Pipeline.load("evidence", filter={"langauge": "cs"})


@pytest.mark.parametrize("name", STEPS)
def test_a_step_narrows_the_filter_of_the_run(name: str) -> None:
    retrieval, _ = run_with(name, {"collection_ids": ["audit", "secret"], "kinds": ["cs"]})
    wanted = NodeFilter(collection_ids=("audit",), kinds=("cs",), is_test=False)
    assert retrieval.calls
    assert all(call.arguments["filter"] == wanted for call in retrieval.calls)


@pytest.mark.parametrize("name", STEPS)
def test_a_step_that_excludes_the_filter_of_the_run_asks_once_for_nothing(name: str) -> None:
    retrieval, detail = run_with(name, {"collection_ids": ["secret"]})
    assert all(why_none_passes(call.arguments["filter"]) for call in retrieval.calls)
    assert len(retrieval.calls) == (0 if name == "find_paths" else 1)  # names are not recorded, and not searched for
    assert detail["reason"] == "filters_exclude_each_other"


def run(retrieval: FakeRetrieval, setting: dict[str, JsonValue], given: NodeFilter) -> PipelineResult:
    pipeline = Pipeline.load("evidence", filter=setting)
    client = cast("AsyncGroundwireClient", retrieval)
    return asyncio.run(pipeline.arun("tax", client=client, repository="shop", branch="main", filter=given))


def test_the_setting_and_the_filter_of_the_run_both_hold_in_every_call() -> None:
    retrieval = FakeRetrieval()
    run(retrieval, {"collection_ids": ["billing", "secret"], "metadata": {"team": "pay"}}, OF_RUN)
    wanted = node_filter({}, collection_ids=("billing",), is_test=False, metadata={"team": "pay"})
    assert retrieval.methods == ["evidence"]
    assert [call.arguments["filter"] for call in retrieval.calls] == [wanted]


def test_texts_that_the_filters_of_a_fetch_exclude_are_told_as_not_there() -> None:
    state = make_state(retrieval_filter=OF_RUN, retrieval_seed_nodes=["a"], search_report=SearchReport(1))
    left = SkippedNode(id="a", reason=SkipReason.SKIP_REASON_UNAVAILABLE)
    runtime = make_runtime(FakeRetrieval(fetches=[fetched([], [left])]))
    run_action(fetch_node_texts.ACTION, {"filter": {"collection_ids": ["secret"]}}, state, runtime)
    note = (
        "Nodes found in shop (main): 1. The texts that were asked for are not there, or not for this caller and filter:"
    )
    assert evidence_or_reason(state, runtime) == f"{note}\n- a"


@pytest.mark.parametrize("name", STEPS)
def test_every_call_asks_with_the_lifecycle_of_the_pipeline(name: str) -> None:
    action, keys, settings = STEPS[name]
    retrieval = FakeRetrieval()
    state = make_state(user_question="from a to b", retrieval_seed_nodes=["a"], graph_seed_nodes=["a"])
    run_action(action, keys, state, make_runtime(retrieval, lifecycle="deleted", **settings))
    assert {call.arguments["lifecycle"] for call in retrieval.calls} == {Lifecycle.LIFECYCLE_DELETED}


def test_an_unknown_lifecycle_is_refused_when_the_pipeline_is_loaded() -> None:
    with pytest.raises(
        DefinitionError, match=r"settings\.lifecycle: must be 'active', 'all' or 'deleted', not \"hidden\""
    ):
        Pipeline.load("evidence", lifecycle="hidden")


@pytest.mark.parametrize(
    ("setting", "given", "note"),
    [
        ({"collection_ids": ["secret"]}, OF_RUN, "no node can pass both of its filters"),
        ({"metadata": {"team": "a"}}, node_filter({}, team="b"), "want different values of one key of the metadata"),
    ],
)
def test_a_setting_and_a_filter_that_exclude_each_other_find_nothing(
    setting: dict[str, JsonValue], given: NodeFilter, note: str
) -> None:
    """One call, which the server answers with nothing: asked of a real one in `test_no_node_passes_what_excludes`."""
    retrieval = FakeRetrieval(gatherings=[gathered()])
    result = run(retrieval, setting, given)
    assert retrieval.methods == ["evidence"]
    assert note in result.answer


def test_no_node_passes_what_excludes(tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "nodes.jsonl", [node("a", "invoice", None, metadata={"team": ["a", "b"]})])
    run_ok("index", source, "-r", "shop", "-b", "main", "--embedder", "none", "--data", tmp_path / "data")
    with Server(tmp_path / "data", "--embedder", "none") as server, GroundwireClient(server.address) as client:
        scope = IndexScope(repository="shop", branch="main")
        for first, second in (({"kind": "cs"}, {"kind": "sql"}), ({"team": "a"}, {"team": "b"})):
            both = merged(node_filter(first), node_filter(second))
            assert client.query(scope, "invoice", filter=node_filter({"team": "a"})).matches
            assert not client.query(scope, "invoice", filter=both).matches


# What the run has once for all steps, and what a file has no use for.
NOT_OF_A_STEP = {"scope", "scopes", "access", "lifecycle", "query", "hybrid", "now", "query_vector"}


def test_a_query_step_has_every_field_of_the_request() -> None:
    request = {*query_pb2.QueryRequest.DESCRIPTOR.fields_by_name} - NOT_OF_A_STEP
    hybrid = {*query_pb2.HybridParameters.DESCRIPTOR.fields_by_name}
    assert (request | hybrid) - set(QuerySettings.model_fields) == set()


def test_the_prompt_of_a_router_tells_what_searches_are_restricted_to() -> None:
    words = filters_in_words(node_filter({}, collection_ids=("billing",), is_test=False, metadata={"team": "pay"}))
    assert '- collection_ids: ["billing"]\n- is_test: false\n- metadata: {"team": "pay"}\n' in words
    assert "kinds, data_types, corpus_types, languages, path_prefixes, document_ids" in words
    assert "tenant_ids" not in words
    assert filters_in_words(NodeFilter()).startswith("Searches are not restricted.")


def test_of_an_index_that_is_known_only_filters_are_offered_whose_values_can_be_known() -> None:
    words = filters_in_words(NodeFilter(languages=("sql",)), ["cs", "sql"], ["csharp", "sql"])
    assert "\nkinds, path_prefixes, is_test, is_generated.\n" in words
    assert "The index has these values, and no others:\n- kinds: cs, sql\nEach" in words
    many = filters_in_words(NodeFilter(), [f"k{number:02}" for number in range(50)])
    assert "k39, and 10 more" in many
