"""Every field of a filter against its definition, one node at a time."""

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.nodes.node import JsonValue, Node, NodeAccess
from groundwire_server.backends.embedded.visibility.row_selection import RowFilter
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.search.search import Filter, MetadataCondition
from support.chunks import SCOPE, Corpus, MakeNode, OpenBackend, corpora, filters, serving
from support.filter_oracle import COLUMNS, passes

ALL_SEEING = AccessContext("t", frozenset("ab"), frozenset("xy"), 2)


def mask_of(nodes: list[Node], filter_: Filter, open_backend: OpenBackend) -> list[bool]:
    with serving(Corpus(nodes), open_backend) as backend:
        kept: list[bool] = backend.open(SCOPE, ALL_SEEING, Lifecycle.ALL, filter_).selection.mask.tolist()
        return kept


@given(data=st.data())
def test_a_filter_equals_its_definition(data: st.DataObject, make_node: MakeNode, shared_backend: OpenBackend) -> None:
    corpus = data.draw(corpora(make_node))
    with serving(corpus, shared_backend) as backend:
        view = backend.open(SCOPE, ALL_SEEING, Lifecycle.ALL).view
        for _ in range(5):
            filter_ = data.draw(filters(most_fields=4))
            expected = [passes(node, filter_) for node in corpus.nodes]
            assert backend.open(SCOPE, ALL_SEEING, Lifecycle.ALL, filter_).selection.mask.tolist() == expected
            reached = np.asarray(data.draw(st.permutations(range(len(corpus.nodes))))[:5], dtype=np.int32)
            assert RowFilter(view.index, filter_).passing(reached).tolist() == [expected[row] for row in reached]


def test_no_field_of_a_filter_is_forgotten() -> None:
    """The definition, and with it the property test, speaks of every field there is."""
    others = {"path_prefixes", "tenant_ids", "is_latest", "is_test", "is_generated", "metadata"}
    assert {field.name for field in fields(Filter)} == set(COLUMNS) | others


@pytest.mark.parametrize("field", sorted(COLUMNS))
def test_each_column_filters_by_itself(field: str, make_node: MakeNode, open_backend: OpenBackend) -> None:
    column = COLUMNS[field]
    nodes = [make_node(local_id, **{column: value}) for local_id, value in zip("ABC", ("x", "y", "x"), strict=True)]
    nodes = sorted(nodes, key=lambda node: node.id)
    expected = [getattr(node, column) == "y" for node in nodes]
    assert sum(expected) == 1
    for wanted, passing in ((("y", "absent"), expected), (("absent",), [False] * 3)):
        values: dict[str, Any] = {field: wanted}
        assert mask_of(nodes, Filter(**values), open_backend) == passing


def test_all_conditions_of_the_metadata_must_hold_and_one_value_of_each(
    make_node: MakeNode, open_backend: OpenBackend
) -> None:
    metadata: list[dict[str, JsonValue]] = [
        {"team": "tax", "level": 1},
        {"team": ["tax", "users"], "level": 2},
        {"team": "users", "level": "1"},
        {"level": 1},
    ]
    nodes = [make_node(f"N{number}", metadata=values) for number, values in enumerate(metadata)]

    def kept(*conditions: MetadataCondition) -> list[int]:
        return [row for row, keep in enumerate(mask_of(nodes, Filter(metadata=conditions), open_backend)) if keep]

    assert kept(MetadataCondition("team", ("tax",))) == [0, 1]
    assert kept(MetadataCondition("team", ("users",))) == [1, 2]
    assert kept(MetadataCondition("team", ("tax", "users"))) == [0, 1, 2]
    assert kept(MetadataCondition("team", ("tax",)), MetadataCondition("level", (1.0,))) == [0]
    assert kept(MetadataCondition("team", ("tax",)), MetadataCondition("team", ("users",))) == [1]
    assert kept(MetadataCondition("level", (True,))) == []


def test_a_tenant_filter_can_only_narrow(make_node: MakeNode, open_backend: OpenBackend) -> None:
    nodes = [make_node("A", access=NodeAccess(tenant_id="t")), make_node("B"), make_node("C")]
    with serving(Corpus(nodes), open_backend) as backend:

        def seen(tenant_id: str, *tenant_ids: str) -> list[bool]:
            access, filter_ = AccessContext(tenant_id=tenant_id), Filter(tenant_ids=tenant_ids)
            mask: list[bool] = backend.open(SCOPE, access, filter_=filter_).selection.mask.tolist()
            return mask

        assert seen("u", "t") == [False] * 3
        assert seen("u", "t", "") == [False, True, True]
        assert seen("t", "t") == [True, False, False]
