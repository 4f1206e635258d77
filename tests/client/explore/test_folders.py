"""Folders that are too large to be read whole."""

import pytest

from client.explore.conftest import Get
from groundwire_explore import folders
from groundwire_explore.folders import counts_by_path


def test_a_large_folder_is_counted_exactly_and_read_in_part(get: Get, monkeypatch: pytest.MonkeyPatch) -> None:
    for limit, value in (("_MOST_HITS", 3), ("_MOST_READ", 1), ("_LEAST_HITS", 1)):
        monkeypatch.setattr(folders, limit, value)
    shown = get("/map")
    assert "src/ 3 tests/ 1" in shown.text
    assert "Counts of nodes are exact; lines are of 3 nodes that were read." in shown.text
    versions = get("/versions?scope=shop::main::v2")
    assert "src/ 4 3" in versions.text
    assert "Choose a folder with fewer nodes to see which ones were added, removed or changed." in versions.text


def test_a_walk_that_leaves_edges_out_is_told(get: Get, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "_MOST_SEEDS", 1)
    monkeypatch.setattr(folders, "_MOST_REACHED", 1)
    assert "Some edges were left out, as there are very many." in get("/map").text


def test_counts_by_prefix_become_counts_by_path() -> None:
    counted = {"a.js": 10, "a.json": 4, "a.jsonl": 1, "a/": 5, "b.js": 2}
    assert counts_by_path(counted) == {"a.js": 6, "a.json": 3, "a.jsonl": 1, "a/": 5, "b.js": 2}
