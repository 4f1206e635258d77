"""Walks of the graph and searches for paths, over the wire, on one small shop."""

import pytest

from groundwire.v1 import retrieval_pb2 as messages
from groundwire.v1 import retrieval_pb2_grpc
from groundwire.v1.scope_pb2 import AccessContext, IndexScope, NodeFilter

MAIN = IndexScope(repository="shop", branch="main")
CREATE, TOTAL, TAX, MARGIN = (
    f"shop::main::cs::{name}" for name in ("Invoice.Create", "Invoice.Total", "Tax.Rate", "Secret.Margin")
)
PROC, TABLE = "shop::main::sql::dbo.Invoice_Create|PROC", "shop::main::sql::dbo.Invoice|TABLE"
FINANCE = AccessContext(acl_tags_any=["finance"])
Retrieval = retrieval_pb2_grpc.RetrievalServiceStub


def _expand(stub: Retrieval, *seeds: str, depth: int = 2, **fields: object) -> messages.ExpandDependencyTreeResponse:
    request = messages.ExpandDependencyTreeRequest(
        scope=MAIN, seed_ids=seeds, max_depth=depth, max_nodes=10, edge_allowlist=["*"]
    )
    for name in fields:
        request.ClearField(name)
    request.MergeFrom(messages.ExpandDependencyTreeRequest(**fields))
    return stub.ExpandDependencyTree(request, timeout=300)


def test_expansion_walks_breadth_first_and_not_through_hidden_nodes(retrieval: Retrieval) -> None:
    response = _expand(retrieval, CREATE, depth=4)
    assert [(node.id, node.depth, node.parent_id) for node in response.nodes] == [
        (CREATE, 0, ""),
        (TOTAL, 1, CREATE),
        (PROC, 1, CREATE),
        (TABLE, 2, PROC),
    ]
    assert [(edge.from_id, edge.to_id, edge.edge_type) for edge in response.edges] == [
        (CREATE, TOTAL, "Calls"),
        (CREATE, PROC, "Executes"),
        (PROC, TABLE, "WritesTo"),
    ]
    assert (response.debug.seed_count, response.debug.expanded_count, response.debug.edges_count) == (1, 4, 3)
    assert (response.debug.truncated, response.debug.reason, response.index) == (False, "ok", "v1")
    reached = {node.id for node in _expand(retrieval, CREATE, depth=4, access=FINANCE).nodes}
    assert {MARGIN, TAX} <= reached


def test_expansion_limits_directions_and_edge_types(retrieval: Retrieval) -> None:
    limited = _expand(retrieval, CREATE, max_nodes=2)
    assert [node.id for node in limited.nodes] == [CREATE, TOTAL]
    assert (limited.debug.truncated, limited.debug.reason) == (True, "limit_reached")
    incoming = _expand(retrieval, TABLE, direction=2)
    assert [node.id for node in incoming.nodes] == [TABLE, PROC, CREATE]
    both = _expand(retrieval, PROC, depth=1, direction=3)
    assert [node.id for node in both.nodes] == [PROC, CREATE, TABLE]
    typed = _expand(retrieval, CREATE, edge_allowlist=["executes"])
    assert [node.id for node in typed.nodes] == [CREATE, PROC]
    assert [node.id for node in _expand(retrieval, CREATE, depth=0).nodes] == [CREATE]


def test_an_expansion_tells_where_edges_stand_and_what_is_test_or_generated(retrieval: Retrieval) -> None:
    response = _expand(retrieval, CREATE)
    assert [(node.id, node.is_test, node.is_generated) for node in response.nodes] == [
        (CREATE, False, False),
        (TOTAL, True, False),
        (PROC, False, False),
        (TABLE, False, True),
    ]
    assert [(edge.edge_type, edge.confidence, edge.line) for edge in response.edges] == [
        ("Calls", pytest.approx(0.8), 6),
        ("Executes", 1.0, 5),
        ("WritesTo", 1.0, 0),
    ]


def test_an_expansion_leaves_out_what_does_not_pass_the_filter(retrieval: Retrieval) -> None:
    def reached(filter_: NodeFilter, *seeds: str, **fields: object) -> list[str]:
        return [node.id for node in _expand(retrieval, *seeds, depth=4, filter=filter_, **fields).nodes]

    assert reached(NodeFilter(is_test=False), CREATE) == [CREATE, PROC, TABLE]
    assert reached(NodeFilter(kinds=["cs"]), CREATE) == [CREATE, TOTAL]
    assert reached(NodeFilter(path_prefixes=["src/", "db/Invoice.sql"]), CREATE) == [CREATE, TOTAL]
    assert reached(NodeFilter(is_test=False), TOTAL, CREATE, access=FINANCE) == [CREATE, PROC, TABLE]
    filtered, unknown = (
        _expand(retrieval, seed, filter=NodeFilter(is_test=False)) for seed in (TOTAL, "shop::main::cs::No.Such")
    )
    assert filtered.SerializeToString(deterministic=True) == unknown.SerializeToString(deterministic=True)


@pytest.mark.parametrize(("least", "reached"), [(0.0, [TOTAL, PROC]), (0.8, [TOTAL, PROC]), (0.81, [PROC])], ids=str)
def test_edges_that_are_not_sure_enough_are_not_followed(
    retrieval: Retrieval, least: float, reached: list[str]
) -> None:
    response = _expand(retrieval, CREATE, depth=1, min_confidence=least)
    assert [node.id for node in response.nodes] == [CREATE, *reached]
    assert [edge.to_id for edge in response.edges] == reached


def test_hidden_and_unknown_seeds_look_the_same(retrieval: Retrieval) -> None:
    hidden, unknown = _expand(retrieval, MARGIN), _expand(retrieval, "shop::main::cs::No.Such")
    assert hidden.SerializeToString(deterministic=True) == unknown.SerializeToString(deterministic=True)
    assert hidden.debug.reason == "no_seeds"


def _paths(stub: Retrieval, from_id: str, to_id: str, **fields: object) -> messages.FindPathsResponse:
    request = messages.FindPathsRequest(
        scope=MAIN, from_ids=[from_id], to_ids=[to_id], max_hops=4, max_paths=5, max_nodes=10, edge_allowlist=["*"]
    )
    for name in fields:
        request.ClearField(name)
    request.MergeFrom(messages.FindPathsRequest(**fields))
    return stub.FindPaths(request, timeout=300)


def test_paths_tell_each_hop_and_lead_through_no_hidden_node(retrieval: Retrieval) -> None:
    response = _paths(retrieval, CREATE, TABLE)
    (path,) = response.paths
    assert list(path.node_ids) == [CREATE, PROC, TABLE]
    assert [(hop.from_id, hop.to_id, hop.edge_type, hop.line) for hop in path.hops] == [
        (CREATE, PROC, "Executes", 5),
        (PROC, TABLE, "WritesTo", 0),
    ]
    assert path.confidence == 1.0
    assert [(node.id, node.is_generated) for node in response.nodes] == [(CREATE, False), (PROC, False), (TABLE, True)]
    assert (response.debug.from_count, response.debug.to_count, response.debug.reached_count) == (1, 1, 2)
    assert (response.debug.searched_hops, response.debug.truncated, response.debug.reason) == (4, False, "ok")
    assert response.index == "v1"
    assert not _paths(retrieval, CREATE, TAX).paths
    (longer,) = _paths(retrieval, CREATE, TAX, access=FINANCE).paths
    assert list(longer.node_ids) == [CREATE, TOTAL, MARGIN, TAX]
    assert longer.confidence == pytest.approx(0.8)


def test_paths_obey_direction_edge_types_filter_confidence_and_limits(retrieval: Retrieval) -> None:
    def ways(*ends: str, **fields: object) -> list[list[str]]:
        return [list(path.node_ids) for path in _paths(retrieval, *ends, **fields).paths]

    assert ways(TABLE, CREATE) == []
    assert ways(TABLE, CREATE, direction=2) == [[TABLE, PROC, CREATE]]
    assert ways(TOTAL, TABLE, direction=3) == [[TOTAL, CREATE, PROC, TABLE]]
    assert ways(TOTAL, TABLE, direction=3, min_confidence=0.9) == []
    assert ways(CREATE, TABLE, edge_allowlist=["executes"]) == []
    assert ways(CREATE, TABLE, filter=NodeFilter(is_generated=False)) == []
    assert ways(CREATE, TABLE, max_hops=1) == []
    limited = _paths(retrieval, CREATE, TABLE, max_paths=1)
    assert (len(limited.paths), limited.debug.truncated, limited.debug.reason) == (1, True, "path_limit")
    assert limited.debug.searched_hops == 2


def test_hidden_and_unknown_ends_look_the_same(retrieval: Retrieval) -> None:
    for swap in (False, True):
        hidden, unknown = (
            _paths(retrieval, *((end, CREATE) if swap else (CREATE, end)))
            for end in (MARGIN, "shop::main::cs::No.Such")
        )
        assert hidden.SerializeToString(deterministic=True) == unknown.SerializeToString(deterministic=True)
        assert (hidden.debug.reason, hidden.debug.truncated) == ("no_ends", False)
