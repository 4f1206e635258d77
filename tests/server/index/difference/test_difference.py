"""The difference of two versions, compared with what their nodes and edges say one by one."""

import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

import pytest

from groundwire_index.difference.difference import CHANGES, FIELDS, Difference, EdgeChange, NodeChange
from groundwire_index.nodes.node import Node
from groundwire_index.scope import Scope
from groundwire_index.store.loaded import LoadedIndex
from groundwire_ingest.records import SourceEdge, SourceNode, SourceRecord, StatedAccess
from support.builds import V1, V2, build, edge, index_of, node
from support.program import run, run_ok
from support.varied_records import varied_records

SHOP = ("--repository", "shop", "--branch", "main")
OTHER_VALUES = {
    "text": "another text",
    "access": StatedAccess("t", ("x",), (), 9),
    "start_line": 77,
    "path": "elsewhere.cs",
    "chunk_index": 50,
    "timestamp": None,
    "deleted": True,
    "section_path": "elsewhere",
    "symbol": "Other.Symbol",
    "metadata": {"other": 1},
}


def varied(seed: int) -> Iterator[SourceRecord]:
    """Records of which the seed decides which are there, and what they say."""
    rng = random.Random(seed)
    records = list(varied_records(120))
    gone = {record.key for record in records if isinstance(record, SourceNode) and rng.random() < 0.1}
    for record in records:
        if isinstance(record, SourceNode) and record.key not in gone:
            chosen = rng.sample(sorted(OTHER_VALUES), rng.choice((0, 0, 1, 2)))
            yield replace(record, **{name: OTHER_VALUES[name] for name in chosen})  # type: ignore[arg-type]
        elif (
            isinstance(record, SourceEdge) and gone.isdisjoint((record.from_key, record.to_key)) and rng.random() > 0.1
        ):
            yield replace(record, confidence=rng.choice((1.0, 1.0, 0.5)), line=rng.choice((1, 1, 2)))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    for scope, seed in ((V1, 1), (V2, 2), (Scope("shop", "feature", "v1"), 2)):
        build(folder, list(varied(seed)), scope)
    return folder


def key(id_: str) -> str:
    """What follows repository and branch."""
    return id_.split("::", 2)[2]


def nodes_of(index: LoadedIndex) -> dict[str, Node]:
    nodes = (index.nodes.node(row, index.policies.of(row)) for row in range(len(index.nodes.ids)))
    return {key(each.id): each for each in nodes}


def differing(old: Node, new: Node) -> set[str]:
    names = {each.name for each in fields(Node)} - {"id", "kind", "local_id", "text", "token_count", "location"}
    differences = {name for name in names if getattr(old, name) != getattr(new, name)}
    before, after = old.location, new.location
    if before.content_hash != after.content_hash:
        differences.add("text")
    if replace(before, content_hash="") != replace(after, content_hash=""):
        differences.add("location")
    return differences


def edges_of(index: LoadedIndex) -> dict[tuple[str, str, str], tuple[float, int]]:
    edges, ids = index.edges, index.nodes.ids
    return {
        (key(ids[edges.from_rows[at]]), key(ids[edges.to_rows[at]]), index.manifest.edge_types[edges.types[at]]): (
            float(edges.confidences[at]),
            int(edges.lines[at]),
        )
        for at in range(len(edges))
    }


@pytest.mark.parametrize("newer", [V2, Scope("shop", "feature", "v1")])
def test_every_node_and_edge_that_differs_is_told_with_what_differs(data: Path, newer: Scope) -> None:
    old, new = index_of(data, V1), index_of(data, newer)
    difference = Difference(old, new)

    before, after = nodes_of(old), nodes_of(new)
    expected = {
        **{name: ("removed", frozenset[str]()) for name in before.keys() - after.keys()},
        **{name: ("added", frozenset[str]()) for name in after.keys() - before.keys()},
        **{
            name: ("changed", frozenset(differences))
            for name in before.keys() & after.keys()
            if (differences := differing(before[name], after[name]))
        },
    }
    nodes = list(difference.node_changes())
    assert {key(each.id): (each.change, frozenset(each.fields)) for each in nodes} == expected
    assert len(nodes) == len(expected)
    for each in nodes:
        named = (after if each.change != "removed" else before)[key(each.id)]
        assert (each.id, each.kind, each.path) == (named.id, named.kind, named.location.path)
        accesses = (before[key(each.id)].access, named.access) if "access" in each.fields else (None, None)
        assert (each.old_access, each.new_access) == accesses

    olds, news = edges_of(old), edges_of(new)
    edges = list(difference.edge_changes())
    wanted = {
        **dict.fromkeys(olds.keys() - news.keys(), ("removed", ())),
        **dict.fromkeys(news.keys() - olds.keys(), ("added", ())),
        **{
            ends: ("changed", tuple(n for n, a, b in zip(("confidence", "line"), x, y, strict=True) if a != b))
            for ends in olds.keys() & news.keys()
            if (x := olds[ends]) != (y := news[ends])
        },
    }
    found_edges = {(key(e.from_id), key(e.to_id), e.edge_type): (e.change, tuple(e.fields)) for e in edges}
    assert found_edges == wanted
    assert len(edges) == len(wanted)
    assert {each.change for each in nodes} == {each.change for each in edges} == set(CHANGES)
    counted(difference, nodes, edges)


def counted(difference: Difference, nodes: list[NodeChange], edges: list[EdgeChange]) -> None:
    counts = difference.node_counts()
    for change in CHANGES:
        chosen = [each for each in nodes if each.change == change]
        assert counts.by_kind[change] == Counter(each.kind for each in chosen)
        assert counts.by_path[change] == Counter(each.path for each in chosen)
        assert difference.edge_counts()[change] == Counter(e.edge_type for e in edges if e.change == change)
    assert counts.fields == Counter(name for each in nodes for name in each.fields)


def test_the_fields_that_are_compared_are_all_that_a_node_has() -> None:
    names = {each.name for each in fields(Node)} - {"id", "kind", "local_id", "token_count"}
    assert set(FIELDS) == names


def test_a_version_does_not_differ_from_an_equal_one(data: Path) -> None:
    difference = Difference(index_of(data, V1), index_of(data, V1))
    assert not [*difference.node_changes(), *difference.edge_changes()]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("small")
    kept = node("kept", path="a.cs", access=StatedAccess("", (), (), 0))
    build(data, [kept, node("gone", path="b.cs", access=kept.access), edge("kept", "gone")], V1)
    protected = replace(kept, access=StatedAccess("", ("finance",), (), 0), start_line=3)
    build(data, [protected, node("come", path="b.cs", access=kept.access), edge("kept", "come")], V2)
    return data


def test_the_command_prints_a_line_of_json_for_each_change(small: Path) -> None:
    lines = run_ok("diff", "v1", *SHOP, "--json", "--data", small).splitlines()
    public = {"tenant_id": "", "acl_tags": [], "classification_labels": [], "clearance_level": 0}
    prefix = "shop::main::cs::"
    removed = {"from_id": f"{prefix}kept", "to_id": f"{prefix}gone", "edge_type": "Calls"}
    assert [json.loads(line) for line in lines] == [
        {"type": "node", "change": "removed", "id": f"{prefix}gone", "kind": "cs", "path": "b.cs"},
        {"type": "node", "change": "added", "id": f"{prefix}come", "kind": "cs", "path": "b.cs"},
        {
            "type": "node",
            "change": "changed",
            "id": f"{prefix}kept",
            "kind": "cs",
            "path": "a.cs",
            "fields": ["access", "location"],
            "old_access": public,
            "new_access": public | {"acl_tags": ["finance"]},
        },
        {"type": "edge", "change": "removed", **removed},
        {"type": "edge", "change": "added", **removed, "to_id": f"{prefix}come"},
        {
            "type": "summary",
            "old": {"repository": "shop", "branch": "main", "active_index": "v1"},
            "new": {"repository": "shop", "branch": "main", "active_index": "v2"},
            "nodes": {"added": 1, "removed": 1, "changed": 1, "fields": {"access": 1, "location": 1}},
            "edges": {"added": 1, "removed": 1, "changed": 0},
        },
    ]


def test_the_command_prints_counts_by_kind_path_and_type(small: Path) -> None:
    shown = run_ok("diff", "v1", "v2", *SHOP, "--data", small)
    assert "shop: from main v1 to main v2" in shown
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in shown.splitlines() if line.startswith("│")]
    assert rows == [
        *(["cs", "1", "1", "1"], ["all", "1", "1", "1"]),
        *(["b.cs", "1", "1", "0"], ["a.cs", "0", "0", "1"], ["all", "1", "1", "1"]),
        *(["Calls", "1", "1", "0"], ["all", "1", "1", "0"]),
    ]
    assert "- shop::main::cs::gone\n+ shop::main::cs::come\n~ shop::main::cs::kept (access, location)\n" in shown


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("v2", *SHOP), 2, "both are v2 of shop main; name another OLD"),
        (("v9", *SHOP), 1, "there is no index 'v9' in this scope"),
        (("v1", *SHOP, "--to-branch", "feature"), 1, "shop feature has no active version in "),
        (("v/1", *SHOP), 2, "version 'v/1' must be 1 to 128 letters"),
    ],
)
def test_what_cannot_be_compared_is_told(small: Path, arguments: tuple[str, ...], code: int, message: str) -> None:
    ended = run("diff", *arguments, "--data", small)
    assert (ended.returncode, ended.stdout) == (code, "")
    assert message in ended.stderr
