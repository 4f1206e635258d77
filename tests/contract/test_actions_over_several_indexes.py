"""Walks, paths and texts of several indexes are those of one index of all their nodes."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.v1 import retrieval_pb2 as messages
from groundwire.v1 import retrieval_pb2_grpc
from groundwire.v1.scope_pb2 import AccessContext, IndexScope, NodeFilter
from support.jsonl import edge, node
from support.program import write_jsonl
from support.properties import costly
from support.refusals import INVALID, NOT_FOUND, Row, check_refused
from support.several_indexes import ALL_PARTS, PARTS, WHOLE, as_of_whole, records_of
from support.storage import NewStorage

Retrieval = retrieval_pb2_grpc.RetrievalServiceStub
Response = TypeVar(
    "Response",
    messages.ResolveNodesResponse,
    messages.ExpandDependencyTreeResponse,
    messages.FindPathsResponse,
    messages.FetchNodeTextsResponse,
)
RECORDS = {name: records_of(name, seed) for seed, name in enumerate(PARTS)}
LOCAL_IDS = [
    (name, str(record["local_id"]))
    for name, records in RECORDS.items()
    for record in records
    if record["type"] == "node"
]
FOREIGN = "foreign::main::cs::x"
ANSWERED = [IndexScope(repository=name, branch="main", active_index="v1") for name in PARTS]


@pytest.fixture(scope="module")
def retrieval(new_storage: NewStorage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Retrieval]:
    """A server over the parts, the whole of them, and an index that most callers do not see."""
    folder = tmp_path_factory.mktemp("actions-over-several")
    storage = new_storage(folder / "data")
    indexes = {
        **RECORDS,
        "whole": [record for records in RECORDS.values() for record in records],
        "team-vault": [
            *(node(f"team-vault/{name}", "invoice", [1.0, 0.0, 0.0, 0.0], acl_tags=["vault"]) for name in "ab"),
            edge("cs::team-vault/a", "cs::team-vault/b", "Calls"),
        ],
    }
    for name, records in indexes.items():
        source = write_jsonl(folder / f"{name}.jsonl", records)
        storage.run_ok("index", source, "-r", name, "-b", "main", "--version", "v1", "--embedder", "none")
    with storage.server("--embedder", "none") as server, grpc.insecure_channel(server.address) as channel:
        yield Retrieval(channel)


def id_in(part: str, local_id: str) -> str:
    return f"{part}::main::cs::{local_id}"


def in_whole(ids: Sequence[str]) -> list[str]:
    """The same nodes as the index of all has them; a foreign id stays one."""
    return [id_ if id_ == FOREIGN else f"whole::{id_.split('::', 1)[1]}" for id_ in ids]


def without_versions(response: Response) -> Response:
    response.ClearField("scopes")
    response.ClearField("index")
    return response


tags = st.lists(st.just("finance"), max_size=1).map(lambda held: AccessContext(acl_tags_any=held))
filters = st.sampled_from([None, NodeFilter(is_test=False), NodeFilter(corpus_types=["CODE_LOGIC", "DOC_README"])])
ids_of_nodes = st.sampled_from(
    [*(id_in(*part_and_id) for part_and_id in LOCAL_IDS), "team-a::main::cs::absent", "foreign::main::cs::x"]
)
some_ids = st.lists(ids_of_nodes, min_size=1, max_size=8)
edge_types = st.sampled_from([["*"], ["calls"], ["Contains", "Absent"]])
directions = st.sampled_from(messages.EdgeDirection.values())


@costly()
@given(
    seeds=some_ids,
    max_depth=st.integers(0, 4),
    max_nodes=st.sampled_from([1, 3, 7, 100]),
    allowlist=edge_types,
    direction=directions,
    least=st.sampled_from([0.0, 0.9]),
    access=tags,
    filter_=filters,
)
def test_a_walk_over_the_parts_equals_one_over_the_whole(
    retrieval: Retrieval,
    seeds: list[str],
    max_depth: int,
    max_nodes: int,
    allowlist: list[str],
    direction: messages.EdgeDirection.ValueType,
    least: float,
    access: AccessContext,
    filter_: NodeFilter | None,
) -> None:
    common = messages.ExpandDependencyTreeRequest(
        max_depth=max_depth, max_nodes=max_nodes, edge_allowlist=allowlist, direction=direction, min_confidence=least,
        access=access, filter=filter_,
    )  # fmt: skip
    several = messages.ExpandDependencyTreeRequest(scopes=ALL_PARTS, seed_ids=seeds)
    whole = messages.ExpandDependencyTreeRequest(scope=WHOLE, seed_ids=in_whole(seeds))
    several.MergeFrom(common)
    whole.MergeFrom(common)
    actual = retrieval.ExpandDependencyTree(several, timeout=300)
    expected = retrieval.ExpandDependencyTree(whole, timeout=300)
    assert (list(actual.scopes), actual.index) == (ANSWERED, "")
    assert as_of_whole(without_versions(actual)) == as_of_whole(without_versions(expected))


@costly()
@given(
    starts=some_ids,
    ends=some_ids,
    max_hops=st.integers(1, 5),
    max_paths=st.sampled_from([1, 2, 20]),
    max_nodes=st.sampled_from([1, 4, 100]),
    allowlist=edge_types,
    direction=directions,
    access=tags,
    filter_=filters,
)
def test_paths_over_the_parts_equal_those_over_the_whole(
    retrieval: Retrieval,
    starts: list[str],
    ends: list[str],
    max_hops: int,
    max_paths: int,
    max_nodes: int,
    allowlist: list[str],
    direction: messages.EdgeDirection.ValueType,
    access: AccessContext,
    filter_: NodeFilter | None,
) -> None:
    common = messages.FindPathsRequest(
        max_hops=max_hops, max_paths=max_paths, max_nodes=max_nodes, edge_allowlist=allowlist, direction=direction,
        access=access, filter=filter_,
    )  # fmt: skip
    several = messages.FindPathsRequest(scopes=ALL_PARTS, from_ids=starts, to_ids=ends)
    whole = messages.FindPathsRequest(scope=WHOLE, from_ids=in_whole(starts), to_ids=in_whole(ends))
    several.MergeFrom(common)
    whole.MergeFrom(common)
    actual, expected = retrieval.FindPaths(several, timeout=300), retrieval.FindPaths(whole, timeout=300)
    assert list(actual.scopes) == ANSWERED
    assert as_of_whole(without_versions(actual)) == as_of_whole(without_versions(expected))


@costly()
@given(
    seeds=st.lists(ids_of_nodes, max_size=5),
    reached=st.lists(st.tuples(ids_of_nodes, st.integers(1, 3), ids_of_nodes), min_size=1, max_size=10),
    mode=st.sampled_from(messages.PrioritizationMode.values()),
    budget=st.sampled_from([{"budget_tokens": 10}, {"budget_tokens": 40}, {"max_chars": 150}, {"max_chars": 9_999}]),
    access=tags,
    filter_=filters,
)
def test_texts_of_the_parts_are_packed_as_those_of_the_whole(
    retrieval: Retrieval,
    seeds: list[str],
    reached: list[tuple[str, int, str]],
    mode: messages.PrioritizationMode.ValueType,
    budget: dict[str, int],
    access: AccessContext,
    filter_: NodeFilter | None,
) -> None:
    nodes = list({node_id: (node_id, depth, parent) for node_id, depth, parent in reached}.values())
    common = messages.FetchNodeTextsRequest(prioritization_mode=mode, access=access, filter=filter_, **budget)
    several = messages.FetchNodeTextsRequest(
        scopes=ALL_PARTS,
        seed_ids=seeds,
        nodes=[messages.ReachedNode(id=node_id, depth=depth, parent_id=parent) for node_id, depth, parent in nodes],
    )
    whole = messages.FetchNodeTextsRequest(
        scope=WHOLE,
        seed_ids=in_whole(seeds),
        nodes=[
            messages.ReachedNode(id=in_whole([node_id])[0], depth=depth, parent_id=in_whole([parent])[0])
            for node_id, depth, parent in nodes
        ],
    )
    several.MergeFrom(common)
    whole.MergeFrom(common)
    actual, expected = retrieval.FetchNodeTexts(several, timeout=300), retrieval.FetchNodeTexts(whole, timeout=300)
    assert list(actual.scopes) == ANSWERED
    assert as_of_whole(without_versions(actual)) == as_of_whole(without_versions(expected))


@costly()
@given(
    names=st.lists(
        ids_of_nodes | st.sampled_from(["Tax", "team-b/y.cs:3", "the Tax", "billing.invoice", "Own1", "getUserByIds"]),
        min_size=1,
        max_size=4,
    ),
    max_nodes=st.sampled_from([1, 5, 200]),
    access=tags,
    filter_=filters,
)
def test_names_over_the_parts_mean_what_they_mean_over_the_whole(
    retrieval: Retrieval, names: list[str], max_nodes: int, access: AccessContext, filter_: NodeFilter | None
) -> None:
    common = messages.ResolveNodesRequest(max_nodes=max_nodes, access=access, filter=filter_)
    several = messages.ResolveNodesRequest(scopes=ALL_PARTS, names=names)
    of_whole = [in_whole([name])[0] if "::main::" in name else name for name in names]
    whole = messages.ResolveNodesRequest(scope=WHOLE, names=of_whole)
    several.MergeFrom(common)
    whole.MergeFrom(common)
    actual, expected = retrieval.ResolveNodes(several, timeout=300), retrieval.ResolveNodes(whole, timeout=300)
    assert list(actual.scopes) == ANSWERED
    for name in actual.names:
        for bearer in (*name.nodes, *name.similar):
            assert bearer.id.startswith(f"{bearer.scope.repository}::main::")
            bearer.ClearField("scope")
    assert as_of_whole(without_versions(actual)) == as_of_whole(without_versions(expected))


def test_a_hidden_index_that_a_pattern_matches_changes_no_walk_and_no_text(retrieval: Retrieval) -> None:
    """Its ids are as absent, and it does not answer."""
    seeds = [id_in("team-vault", "team-vault/a"), *(id_in(*part_and_id) for part_and_id in LOCAL_IDS[:3])]
    pattern, named = [IndexScope(repository="team-*", branch="*")], ALL_PARTS
    walks = [
        retrieval.ExpandDependencyTree(
            messages.ExpandDependencyTreeRequest(
                scopes=scopes, seed_ids=seeds, max_depth=2, max_nodes=9, edge_allowlist=["*"]
            ),
            timeout=300,
        )
        for scopes in (pattern, named)
    ]
    texts = [
        retrieval.FetchNodeTexts(
            messages.FetchNodeTextsRequest(scopes=scopes, seed_ids=seeds, budget_tokens=100), timeout=300
        )
        for scopes in (pattern, named)
    ]
    assert walks[0] == walks[1]
    assert texts[0] == texts[1]
    assert texts[0].skipped[0] == messages.SkippedNode(id=seeds[0], reason=messages.SKIP_REASON_UNAVAILABLE)


def test_of_more_seeds_than_nodes_may_be_returned_all_are_counted(retrieval: Retrieval) -> None:
    seeds = [id_in(part, local_id) for part, local_id in LOCAL_IDS]
    request = messages.ExpandDependencyTreeRequest(
        scopes=ALL_PARTS, seed_ids=seeds, max_depth=0, max_nodes=2, edge_allowlist=["*"]
    )
    ample = messages.ExpandDependencyTreeRequest()
    ample.CopyFrom(request)
    ample.max_nodes = 2_000
    cut, whole = (
        retrieval.ExpandDependencyTree(request, timeout=300),
        retrieval.ExpandDependencyTree(ample, timeout=300),
    )
    assert len(cut.seed_ids) == 2
    assert cut.debug.seed_count == whole.debug.seed_count == len(whole.seed_ids) > 2


def scoped(*names: str) -> list[IndexScope]:
    return [IndexScope(repository=name, branch="main") for name in names]


def walking(**fields: object) -> messages.ExpandDependencyTreeRequest:
    return messages.ExpandDependencyTreeRequest(
        seed_ids=["a"], max_depth=1, max_nodes=1, edge_allowlist=["*"], **fields
    )


def pathing(**fields: object) -> messages.FindPathsRequest:
    return messages.FindPathsRequest(
        from_ids=["a"], to_ids=["b"], max_hops=1, max_paths=1, max_nodes=1, edge_allowlist=["*"], **fields
    )


def fetching(**fields: object) -> messages.FetchNodeTextsRequest:
    return messages.FetchNodeTextsRequest(seed_ids=["a"], budget_tokens=1, **fields)


CALLS = (("ExpandDependencyTree", walking), ("FindPaths", pathing), ("FetchNodeTexts", fetching))
REFUSED = [
    (method, row)
    for method, asking in CALLS
    for row in (
        Row(f"{method}: an absent index", asking(scopes=scoped("team-a", "absent")), NOT_FOUND, "SCOPE_NOT_FOUND"),
        Row(f"{method}: a hidden index", asking(scopes=scoped("team-a", "team-vault")), NOT_FOUND, "SCOPE_NOT_FOUND"),
        Row(f"{method}: a scope and several", asking(scope=WHOLE, scopes=scoped("team-a")),
            INVALID, "FIELDS_CONFLICT", "scope"),
        Row(f"{method}: neither", asking(), INVALID, "FIELD_REQUIRED", "scope"),
        Row(f"{method}: twice", asking(scopes=scoped("team-a", "team-a")), INVALID, "FIELDS_CONFLICT", "scopes[1]"),
        Row(f"{method}: too many", asking(scopes=scoped(*(f"r{number}" for number in range(201)))),
            INVALID, "VALUE_OUT_OF_RANGE", "scopes"),
    )
]  # fmt: skip


@pytest.mark.parametrize(("method", "row"), REFUSED, ids=[row.rule for _, row in REFUSED])
def test_what_is_refused(retrieval: Retrieval, method: str, row: Row) -> None:
    check_refused(row, getattr(retrieval, method))
