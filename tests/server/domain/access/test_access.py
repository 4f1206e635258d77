"""Who may see what, against a table of the rules evaluated row by row."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.nodes.node import NodeAccess
from groundwire_index.nodes.policies import intern, visible_classes
from groundwire_server.domain.access.access import AccessContext, may_see

NAMES = ["a", "b", "c"]
names = st.lists(st.sampled_from(NAMES), max_size=4)

nodes = st.builds(
    NodeAccess,
    tenant_id=st.sampled_from(["", "t1", "t2"]),
    acl_tags=names.map(tuple),
    classification_labels=names.map(tuple),
    clearance_level=st.integers(0, 3),
)
callers = st.builds(
    AccessContext,
    tenant_id=st.sampled_from(["", "t1", "t2"]),
    acl_tags_any=names.map(frozenset),
    classification_labels_all=names.map(frozenset),
    clearance_level=st.integers(0, 3),
)


def oracle(node: NodeAccess, caller: AccessContext) -> bool:
    if node.tenant_id != "" and node.tenant_id != caller.tenant_id:
        return False
    if len(node.acl_tags) > 0:
        shared = [tag for tag in node.acl_tags if tag in caller.acl_tags_any]
        if len(shared) == 0:
            return False
    for label in node.classification_labels:
        if label not in caller.classification_labels_all:
            return False
    return not node.clearance_level > caller.clearance_level


@given(node=nodes, caller=callers)
def test_may_see_equals_the_table(node: NodeAccess, caller: AccessContext) -> None:
    assert may_see(node, caller) is oracle(node, caller)


@given(demands=st.lists(nodes, min_size=1, max_size=30), caller=callers)
def test_visibility_by_class_equals_visibility_by_node(demands: list[NodeAccess], caller: AccessContext) -> None:
    classes, codes = intern(demands)
    assert len(set(classes)) == len(classes)
    visible = visible_classes(classes, lambda demand: may_see(demand, caller))
    assert visible.dtype == np.bool_
    assert [classes[code] for code in codes] == demands
    assert visible[codes].tolist() == [oracle(demand, caller) for demand in demands]


@given(demands=st.lists(nodes, min_size=1, max_size=10), data=st.data())
def test_classes_do_not_depend_on_the_order_of_nodes(demands: list[NodeAccess], data: st.DataObject) -> None:
    assert intern(demands)[0] == intern(data.draw(st.permutations(demands)))[0]


@pytest.mark.parametrize(
    ("node", "caller", "visible"),
    [
        pytest.param(NodeAccess(), AccessContext(), True, id="public to nobody in particular"),
        pytest.param(NodeAccess(tenant_id="t"), AccessContext(), False, id="tenant node, caller of none"),
        pytest.param(NodeAccess(), AccessContext(tenant_id="t"), True, id="node of no tenant, caller of one"),
        pytest.param(NodeAccess(tenant_id="t"), AccessContext(tenant_id="T"), False, id="tenants are case-sensitive"),
        pytest.param(NodeAccess(acl_tags=("x",)), AccessContext(), False, id="tagged node, caller without tags"),
        pytest.param(
            NodeAccess(acl_tags=("x", "y")),
            AccessContext(acl_tags_any=frozenset({"y", "z"})),
            True,
            id="any tag suffices",
        ),
        pytest.param(
            NodeAccess(classification_labels=("x", "y")),
            AccessContext(classification_labels_all=frozenset({"x"})),
            False,
            id="every label is needed",
        ),
        pytest.param(NodeAccess(clearance_level=2), AccessContext(clearance_level=1), False, id="level below"),
        pytest.param(NodeAccess(clearance_level=2), AccessContext(clearance_level=2), True, id="level equal"),
    ],
)
def test_known_cases(node: NodeAccess, caller: AccessContext, visible: bool) -> None:
    assert may_see(node, caller) is visible


BREAKERS: list[Callable[[], tuple[NodeAccess, AccessContext]]] = [
    lambda: (NodeAccess("t", ("a",), ("b",), 1), AccessContext("u", frozenset("a"), frozenset("b"), 1)),
    lambda: (NodeAccess("t", ("a",), ("b",), 1), AccessContext("t", frozenset("z"), frozenset("b"), 1)),
    lambda: (NodeAccess("t", ("a",), ("b",), 1), AccessContext("t", frozenset("a"), frozenset("z"), 1)),
    lambda: (NodeAccess("t", ("a",), ("b",), 1), AccessContext("t", frozenset("a"), frozenset("b"), 0)),
]


@pytest.mark.parametrize("breaker", BREAKERS, ids=["tenant", "tags", "labels", "clearance"])
def test_each_rule_alone_hides_a_node(breaker: Callable[[], tuple[NodeAccess, AccessContext]]) -> None:
    node, caller = breaker()
    assert not may_see(node, caller)
    assert may_see(node, AccessContext("t", frozenset("a"), frozenset("b"), 1))


def test_equal_demands_compare_equal_however_they_are_written() -> None:
    assert NodeAccess(acl_tags=("b", "a", "b")) == NodeAccess(acl_tags=("a", "b"))
    assert NodeAccess(classification_labels=("b", "a", "b")) == NodeAccess(classification_labels=("a", "b"))
