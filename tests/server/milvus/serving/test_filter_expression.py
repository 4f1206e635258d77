"""Expressions hold no text of a request: strings stand in them as hexadecimal."""

import re

from hypothesis import given
from hypothesis import strategies as st

from groundwire_milvus.serving.filter_expression import NO_ROW, bounds_expression, class_expression, filter_expression
from groundwire_server.domain.access.access import UNBOUND, Bounds
from groundwire_server.domain.access.name_sets import NO_NAMES, Names
from groundwire_server.domain.search.search import Filter, MetadataCondition

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=5) | st.sampled_from(['") or row >= 0', "%", "\\"])
lists = st.lists(texts, max_size=3).map(tuple)
names = st.none() | st.builds(Names, st.frozensets(texts, max_size=3), lists)


conditions = st.lists(st.builds(MetadataCondition, texts, lists), max_size=2).map(tuple)


@given(
    filter_=st.builds(Filter, kinds=lists, path_prefixes=lists, metadata=conditions),
    bounds=st.builds(Bounds, names, names, names, names),
)
def test_quoted_is_hexadecimal_alone(filter_: Filter, bounds: Bounds) -> None:
    for expression in (filter_expression(filter_), bounds_expression(bounds)):
        quoted = re.findall(r'"([^"]*)"', expression)
        assert all(re.fullmatch(r"%?\|?[0-9a-f]*\|?%?", literal) for literal in quoted)
        assert re.fullmatch(r"[a-z_ =!,><0-9()\[\]\"%|]*", expression)


def test_what_narrows_nothing_is_no_expression() -> None:
    assert filter_expression(Filter()) == bounds_expression(UNBOUND) == ""
    assert filter_expression(Filter(path_prefixes=("", "src/"))) == ""


def test_a_bound_without_names_leaves_nothing() -> None:
    assert bounds_expression(Bounds(cases=NO_NAMES)) == NO_ROW
    assert bounds_expression(Bounds(workflows=Names(frozenset({""})))) == NO_ROW


def test_classes_are_told_by_the_fewer() -> None:
    assert class_expression([]) == class_expression([False, False]) == NO_ROW
    assert class_expression([True, True]) == ""
    assert class_expression([False, True, False]) == "class in [1]"
    assert class_expression([True, False, True]) == "class not in [1]"
