"""Whatever a model writes, a search sees no more than its caller admits."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from groundwire_client import AccessContext, IndexScope, NodeFilter, metadata_of, node_filter
from groundwire_pipelines.action_definition import Action
from groundwire_pipelines.actions import query, search_nodes
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.parsing.filters import CALLER_NAMES, FILTER_NAMES
from support.retrieval import FakeRetrieval, make_runtime, make_state, run_action

PATHS = ["src/", "src/a/", "lib/"]
WORDS = ["cs", "sql", "*", ""]
FLAGS = ("is_latest", "is_test", "is_generated")
FIELDS = [field.name for field in NodeFilter.DESCRIPTOR.fields if field.name not in (*FLAGS, "metadata")]

ACCESSES = st.builds(
    AccessContext, tenant_id=st.sampled_from(["", "acme"]), acl_tags_any=st.sampled_from([(), ("finance",)])
)
CALLER_FILTERS = st.builds(
    node_filter,
    st.just({}),
    is_latest=st.sampled_from([None, True, False]),
    is_test=st.sampled_from([None, True, False]),
    is_generated=st.sampled_from([None, True, False]),
    metadata=st.just({}) | st.just({"team": "tax"}),
    **{
        field: st.lists(st.sampled_from(PATHS if field == "path_prefixes" else WORDS[:2]), max_size=2).map(tuple)
        for field in FIELDS
    },
)
NODES = st.fixed_dictionaries(
    {field: st.sampled_from(["src/a/x.cs", "src/y", "z"] if field == "path_prefixes" else WORDS) for field in FIELDS}
    | {flag: st.booleans() for flag in FLAGS}
    | {"team": st.sampled_from(["tax", "vat"])}
)
NAMES = st.sampled_from([*FILTER_NAMES, *sorted(CALLER_NAMES)])
VALUES = (
    st.sampled_from([*WORDS, *PATHS, "true"])
    | st.booleans()
    | st.lists(st.sampled_from([*WORDS, *PATHS, None]), max_size=3)
    | st.none()
)
PAYLOADS = st.builds(
    lambda query, beside, inside: json.dumps({"query": query, **beside, "filters": inside}),
    st.text(min_size=1),
    st.dictionaries(NAMES, VALUES, max_size=2),
    st.dictionaries(NAMES, VALUES, max_size=3) | st.none(),
)
WRITTEN = PAYLOADS | st.text() | st.text(alphabet="{}[]\"',: acl_tagsbrnh*")


def admits(narrowing: NodeFilter, node: dict[str, Any]) -> bool:
    """The contract's rule: any value of a field, all fields."""
    for name in FIELDS:
        wanted: tuple[str, ...] = getattr(narrowing, name)
        prefix = name == "path_prefixes"
        if wanted and not any(node[name].startswith(value) if prefix else node[name] == value for value in wanted):
            return False
    flags = all(
        {field.name: given for field, given in narrowing.ListFields()}.get(flag, node[flag]) == node[flag]
        for flag in FLAGS
    )
    return flags and metadata_of(narrowing).get("team", node["team"]) == node["team"]


@pytest.mark.parametrize(("action", "keys"), [(search_nodes.ACTION, {"search_type": "bm25"}), (query.ACTION, {})])
@given(written=WRITTEN, access=ACCESSES, caller=CALLER_FILTERS, nodes=st.lists(NODES, min_size=1, max_size=20))
def test_a_model_widens_neither_access_nor_scope_nor_filter(
    action: Action[Any],
    keys: dict[str, JsonValue],
    written: str,
    access: AccessContext,
    caller: NodeFilter,
    nodes: list[dict[str, Any]],
) -> None:
    retrieval = FakeRetrieval()
    state = make_state(last_model_response=written, retrieval_access=access, retrieval_filter=caller)
    try:
        run_action(action, {**keys, "query_parser": "jsonish"}, state, make_runtime(retrieval))
    except StepError:
        assert retrieval.calls == []
    for call in retrieval.calls:
        assert call.scope == IndexScope(repository="shop", branch="main", active_index="")
        assert call.arguments["access"] == access
        assert all(admits(caller, node) for node in nodes if admits(call.arguments["filter"], node))
    assert (state.repository, state.branch) == ("shop", "main")
    assert state.retrieval_access == access
    assert state.retrieval_filter == caller
