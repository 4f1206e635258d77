"""Pipelines against a real server: over two collections, and over an index without vectors."""

import asyncio
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext

import pytest
from pydantic import JsonValue

from groundwire.tokens import TokenCounter
from groundwire_client import AsyncGroundwireClient, NodeFilter
from groundwire_index.progress import ProgressCallback
from groundwire_index.scope import Scope
from groundwire_ingest.build.build import BuildOptions, build_index
from groundwire_ingest.jsonl.jsonl import JsonlSource
from groundwire_pipelines import ModelEndpoint, OpenAIModel, Pipeline, PipelineResult, StepEnded, StepError
from support.openai_server import Reply, scripted_server
from support.program import Server, write_jsonl

ANSWERED = ("[BM25:] invoice tax", "[Requesting data on:] the tax of an invoice", "[Answer:] It is computed there.")
SCRIPTS: dict[str, tuple[str, ...]] = {
    "evidence": (),
    "quick_evidence": (),
    "trace": (),
    "rag_code_base": ANSWERED,
    "rag_code_deep_graph": ANSWERED,
}
BM25: dict[str, JsonValue] = {"retrieval_modes": ["bm25"]}


class NoProgress:
    def stage(self, name: str, unit: str, price: float = 0.0) -> AbstractContextManager[ProgressCallback]:
        return nullcontext(lambda done, total: None)


def records() -> Iterator[dict[str, object]]:
    """Six functions in each of two collections, each of which calls the next, one of the other collection.

    Besides, two that were deleted, of which the first called the second.
    """
    for number in range(14):
        collection = ("billing", "audit")[number % 2] if number < 12 else "retired"
        yield {
            "type": "node",
            "kind": "py",
            "local_id": f"n{number:02}",
            "text": f"def invoice{number}():\n    return {collection}_tax({number})",
            "symbol": f"invoice{number}",
            "path": f"src/{collection}{number}.py",
            "start_line": 1,
            "end_line": 2,
            "collection_id": collection,
            "deleted": number >= 12,
        }
    for number in (*range(11), 12):
        yield {"type": "edge", "from": f"py::n{number:02}", "to": f"py::n{number + 1:02}", "edge_type": "Calls"}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server over an index without vectors."""
    folder = tmp_path_factory.mktemp("collections")
    source = write_jsonl(folder / "nodes.jsonl", list(records()))
    build_index(
        JsonlSource(source), BuildOptions(folder / "data", Scope("shop", "main", "v1"), embedder=None), NoProgress()
    )
    leave = {"GROUNDWIRE_LIFECYCLE_OVERRIDE_ACL_TAGS": "*"}
    with Server(folder / "data", "--embedder", "none", environment=leave) as server:
        yield server.address


def run(
    address: str, name: str, settings: dict[str, JsonValue], script: tuple[str, ...], narrowed: NodeFilter
) -> PipelineResult:
    async def answered() -> PipelineResult:
        with scripted_server([Reply(reply) for reply in script]) as models:
            model = OpenAIModel(ModelEndpoint(models.url, "scripted", retries=0), TokenCounter())
            async with AsyncGroundwireClient(address, timeout=300) as client:
                return await Pipeline.load(name, **settings).arun(
                    "from invoice to tax", client=client, repository="shop", branch="main", model=model, filter=narrowed
                )

    return asyncio.run(answered())


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize("by_setting", [False, True])
def test_a_run_of_one_collection_sees_nothing_of_another(address: str, name: str, by_setting: bool) -> None:
    settings = BM25 if SCRIPTS[name] else {}
    if by_setting:
        of_pipeline: dict[str, JsonValue] = {"filter": {"collection_ids": ["billing"]}}
        result = run(address, name, {**settings, **of_pipeline}, SCRIPTS[name], NodeFilter())
    else:
        result = run(address, name, settings, SCRIPTS[name], NodeFilter(collection_ids=("billing",)))
    state = result.state
    billing = {f"shop::main::py::n{number:02}" for number in range(0, 12, 2)}
    assert state.retrieval_seed_nodes
    assert {*(text.id for text in state.node_texts), *(shown.node.id for shown in result.evidence)} <= billing
    assert {*state.retrieval_seed_nodes, *(node.id for node in state.graph_expanded_nodes)} <= billing
    assert all({edge.from_id, edge.to_id} <= billing for edge in state.graph_edges)
    assert "billing_tax" in "".join(shown.text for shown in result.evidence)
    assert "audit" not in repr((result.answer, state.context_blocks, state.node_texts, state.graph_edges))


def test_without_a_filter_both_collections_are_seen(address: str) -> None:
    result = run(address, "evidence", {}, (), NodeFilter())
    assert "audit_tax" in result.answer
    assert "billing_tax" in result.answer


@pytest.mark.parametrize("name", ["evidence", "trace", "rag_code_base"])
def test_a_run_about_deleted_nodes_walks_to_them_and_fetches_them(address: str, name: str) -> None:
    settings = BM25 if SCRIPTS[name] else {}
    result = run(address, name, {**settings, "lifecycle": "deleted"}, SCRIPTS[name], NodeFilter())
    state = result.state
    assert {shown.node.id for shown in result.evidence} == {"shop::main::py::n12", "shop::main::py::n13"}
    assert {edge.edge_type for edge in result.graph.edges} == {"Calls"}
    assert "retired_tax(12)" in "".join(shown.text for shown in result.evidence)
    assert "audit" not in repr((result.answer, state.context_blocks))


def test_a_child_of_bm25_alone_runs_on_an_index_without_vectors(address: str) -> None:
    result = run(address, "rag_code_base", BM25, ANSWERED, NodeFilter())
    assert result.answer == "It is computed there."
    steps = [event for event in result.trace if isinstance(event, StepEnded)]
    assert sum(step.action == "gather_evidence" for step in steps) == 2
    assert result.evidence


def test_a_child_of_semantic_alone_says_what_an_index_without_vectors_lacks(address: str) -> None:
    with pytest.raises(StepError) as caught:
        run(address, "rag_code_base", {"retrieval_modes": ["semantic"]}, ("[SEMANTIC:] tax",), NodeFilter())
    assert caught.value.rule.startswith("server-")
    assert caught.value.step_id == "gather"
