"""`describe_index`: the router is offered what the index has."""

from typing import Any

import pytest

from groundwire_client import GetIndexResponse, IndexScope, IndexVersion
from groundwire_pipelines.actions.describe_index import ACTION
from groundwire_pipelines.actions.prompt_values import prompt_values
from support.retrieval import FakeRetrieval, make_runtime, make_state, run_action


class OneIndex(FakeRetrieval):
    """A server with an index that has vectors, words, or both."""

    dimension, lexical = 0, False

    async def get_index(self, scope: IndexScope, **_: Any) -> GetIndexResponse:
        version = IndexVersion(version="v1", dimension=self.dimension, lexical=self.lexical)
        return GetIndexResponse(index=version, kinds=["cs"])


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
    assert outcome.detail == {"kinds": 1, "languages": 0}
    assert state.active_index == "v1"
    assert prompt_values(["modes"], state, runtime)["modes"] == offered


def test_of_several_indexes_nothing_is_told() -> None:
    state = make_state(scopes=[IndexScope(repository="a", branch="main"), IndexScope(repository="b", branch="main")])
    run_action(ACTION, {}, state, make_runtime(OneIndex()))
    assert (state.index_kinds, state.modes_without_data) == ([], [])
