from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_client import NodeFilter, metadata_of, node_filter
from groundwire_pipelines.parsing.filters import EXCLUSIVE, FILTER_NAMES, NOT_COMBINABLE, merged, why_none_passes

PATHS = ["", "s", "src", "src/", "src/a", "src/b/c", "lib/"]
WORDS = ["cs", "sql", "py"]
VALUES = ["tax", True, 1, 2.5, None]
FLAGS = ("is_latest", "is_test", "is_generated")
LISTS = [field.name for field in NodeFilter.DESCRIPTOR.fields if field.name not in (*FLAGS, "metadata")]


def values(field: str) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(PATHS if field == "path_prefixes" else WORDS), max_size=3).map(tuple)


def made(metadata: dict[str, Any], **fields: Any) -> NodeFilter:
    """A filter of these fields, empty strings among them."""
    narrowing = node_filter({"metadata": metadata})
    narrowing.MergeFrom(NodeFilter(**fields))
    return narrowing


FILTERS = st.builds(
    made,
    is_latest=st.sampled_from([None, True, False]),
    is_test=st.sampled_from([None, True, False]),
    is_generated=st.sampled_from([None, True, False]),
    metadata=st.dictionaries(
        st.sampled_from(["team", "open"]),
        st.sampled_from(VALUES) | st.lists(st.sampled_from(VALUES), min_size=1, max_size=3),
        max_size=2,
    ),
    **{field: values(field) for field in LISTS},
)
NODES = st.fixed_dictionaries(
    {field: st.sampled_from([*PATHS, "src/b/c.py"] if field == "path_prefixes" else [*WORDS, ""]) for field in LISTS}
    | {flag: st.booleans() for flag in FLAGS}
    | {"team": st.sampled_from([*VALUES, "absent"]), "open": st.sampled_from(VALUES)}
)


def admits(narrowing: NodeFilter, node: dict[str, Any]) -> bool:
    """The contract's rule for a node with one value of each key: any value of a field, all fields."""
    lists = all(
        not wanted
        or (any(node[name].startswith(value) for value in wanted) if name == "path_prefixes" else node[name] in wanted)
        for name in LISTS
        for wanted in [getattr(narrowing, name)]
    )
    metadata = all(
        any(
            node[key] == alternative and isinstance(node[key], bool) == isinstance(alternative, bool)
            for alternative in alternatives
        )
        for key, value in metadata_of(narrowing).items()
        for alternatives in [value if isinstance(value, tuple) else (value,)]
    )
    given = {field.name: value for field, value in narrowing.ListFields()}
    return lists and metadata and all(given.get(flag, node[flag]) == node[flag] for flag in FLAGS)


@given(FILTERS, FILTERS, NODES)
def test_admits_exactly_what_both_admit(base: NodeFilter, added: NodeFilter, node: dict[str, Any]) -> None:
    both = merged(base, added)
    assert admits(both, node) == (admits(base, node) and admits(added, node))


@given(FILTERS)
def test_adding_nothing_changes_nothing_that_is_admitted(base: NodeFilter) -> None:
    both = merged(base, NodeFilter())
    assert both == base
    assert merged(NodeFilter(), base) == base


def test_names_every_field_that_a_query_may_narrow() -> None:
    assert set(FILTER_NAMES.values()) == {*LISTS, *FLAGS} - {"tenant_ids"}


def test_metadata_of_a_node_with_several_values_is_never_widened() -> None:
    """A node with both teams passes either filter and not the merged one, as no filter says "one of each"."""
    neither = merged(node_filter({}, metadata={"team": "tax"}), node_filter({}, metadata={"team": "vat"}))
    assert why_none_passes(neither) == NOT_COMBINABLE
    both = merged(
        node_filter({}, metadata={"team": ["tax", "vat"]}), node_filter({}, metadata={"team": ["vat", "toll"]})
    )
    assert both == node_filter({}, metadata={"team": ["vat"]})


@given(FILTERS, FILTERS, FILTERS)
def test_what_no_node_passes_stays_so(base: NodeFilter, added: NodeFilter, more: NodeFilter) -> None:
    both = merged(base, added)
    if reason := why_none_passes(both):
        assert why_none_passes(merged(both, more)) == why_none_passes(merged(more, both)) == reason


@pytest.mark.parametrize(
    ("base", "added", "reason"),
    [
        (NodeFilter(kinds=["cs"]), NodeFilter(kinds=["sql"]), EXCLUSIVE),
        (NodeFilter(path_prefixes=["src/a"]), NodeFilter(path_prefixes=["src/b"]), EXCLUSIVE),
        (NodeFilter(is_test=True), NodeFilter(is_test=False), EXCLUSIVE),
        (node_filter({}, kind="cs", team="tax"), node_filter({}, kind="sql", team="vat"), EXCLUSIVE),
        (node_filter({}, team="tax"), node_filter({}, team="vat"), NOT_COMBINABLE),
        (node_filter({}, team="tax"), node_filter({}, team=["vat", "tax"]), ""),
    ],
)
def test_only_filters_that_no_node_can_pass_are_said_to_exclude_each_other(
    base: NodeFilter, added: NodeFilter, reason: str
) -> None:
    """Of the metadata a node may have both values, in a list."""
    assert why_none_passes(merged(base, added)) == reason


def test_keeps_the_callers_order_without_repeats() -> None:
    both = merged(NodeFilter(kinds=("py", "cs", "py")), NodeFilter(kinds=("cs", "py", "sql")))
    assert both == NodeFilter(kinds=("py", "cs"))
