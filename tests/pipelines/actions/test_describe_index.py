"""`describe_index`: the router is offered what the index has."""

from collections.abc import Sequence
from typing import Any

import pytest

from groundwire_client import GetIndexResponse, IndexScope, IndexVersion, ListIndexesResponse
from groundwire_pipelines.action_parts.prompt_values import prompt_values
from groundwire_pipelines.actions.describe_index import ACTION
from support.retrieval import FakeRetrieval, make_runtime, make_state, run_action


class OneIndex(FakeRetrieval):
    """A server with an index that has vectors, words, or both."""

    dimension, lexical = 0, False

    async def get_index(self, scope: IndexScope, **_: Any) -> GetIndexResponse:
        version = IndexVersion(version="v1", dimension=self.dimension, lexical=self.lexical)
        return GetIndexResponse(index=version, kinds=["cs"], folders=["src/api/"])


class SeveralIndexes(FakeRetrieval):
    """A server with an index for each of some repositories: `b` has no vectors, `c` no folders, or too many."""

    repositories: Sequence[str] = "abc"

    async def list_indexes(self, **_: Any) -> ListIndexesResponse:
        listed = [IndexVersion(repository=name, branch="main", active=True) for name in self.repositories]
        return ListIndexesResponse(indexes=[*listed, IndexVersion(repository="a", branch="main", version="v0")])

    async def get_index(self, scope: IndexScope, **_: Any) -> GetIndexResponse:
        name = scope.repository
        version = IndexVersion(version="v1", dimension=0 if name == "b" else 2, lexical=True)
        folders = [] if name == "c" else [f"src/{name}/"]
        return GetIndexResponse(index=version, kinds=["cs", name], languages=["csharp"], folders=folders)


@pytest.mark.parametrize(
    ("dimension", "lexical", "offered"),
    [
        (2, True, "[SEMANTIC:]\n[SEMANTIC_RERANK:]\n[BM25:]\n[HYBRID:]\n[DIRECT:]"),
        (0, True, "[BM25:]\n[HYBRID:]\n[DIRECT:]"),
        (2, False, "[SEMANTIC:]\n[SEMANTIC_RERANK:]\n[DIRECT:]"),
        (0, False, "[SEMANTIC:]\n[SEMANTIC_RERANK:]\n[BM25:]\n[HYBRID:]\n[DIRECT:]"),
    ],
)
def test_modes_are_those_that_the_index_has_data_for(dimension: int, *, lexical: bool, offered: str) -> None:
    retrieval = OneIndex()
    retrieval.dimension, retrieval.lexical = dimension, lexical
    state, runtime = make_state(), make_runtime(retrieval)
    outcome = run_action(ACTION, {}, state, runtime)
    assert outcome.detail == {"kinds": 1, "languages": 0, "folders": 1}
    assert state.active_index == "v1"
    assert prompt_values(["modes"], state, runtime)["modes"] == offered


def test_the_filters_name_what_the_index_has() -> None:
    state, runtime = make_state(), make_runtime(OneIndex())
    run_action(ACTION, {}, state, runtime)
    filters = prompt_values(["filters"], state, runtime)["filters"]
    assert "- kinds: cs\npath_prefixes may begin with its folders: src/api/.\n" in filters


def of_main(*repositories: str) -> list[IndexScope]:
    return [IndexScope(repository=repository, branch="main") for repository in repositories]


@pytest.mark.parametrize(
    ("repositories", "kinds", "folders", "without_data"),
    [
        (["a", "b"], ["a", "b", "cs"], ["src/a/", "src/b/"], []),
        (["b", "b"], ["b", "cs"], ["src/b/"], ["semantic", "semantic_rerank"]),
        (["a", "c"], ["a", "c", "cs"], ["src/a/"], []),
        (["*"], ["a", "b", "c", "cs"], ["src/a/", "src/b/"], []),
        (["x", "y"], [], [], []),
    ],
)
def test_of_several_indexes_all_that_they_have_is_told(
    repositories: list[str], kinds: list[str], folders: list[str], without_data: list[str]
) -> None:
    state = make_state(scopes=of_main(*repositories))
    run_action(ACTION, {}, state, make_runtime(SeveralIndexes()))
    assert (state.index_kinds, state.index_folders, state.modes_without_data) == (kinds, folders, without_data)
    assert state.active_index == ""


def test_of_very_many_indexes_nothing_is_told() -> None:
    retrieval = SeveralIndexes()
    retrieval.repositories = [f"r{number}" for number in range(21)]
    state = make_state(scopes=of_main("r*", "b"))
    run_action(ACTION, {}, state, make_runtime(retrieval))
    assert (state.index_kinds, state.index_folders, state.modes_without_data) == ([], [], [])
