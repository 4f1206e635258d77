"""The names of boxes differ from each other, as far as there is room."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_explore.box_names import distinct_names, fitted


@pytest.mark.parametrize(
    ("nodes", "names"),
    [
        (
            [("Shop.Invoice.Create(int)", "a/Invoice.cs"), ("Shop.Order.Create(int)", "a/Order.cs"), ("X", "b.cs")],
            ["Invoice.Create", "Order.Create", "X"],
        ),
        (
            [("Shop.Invoice.Create(int)", "a/Invoice.cs"), ("Shop.Invoice.Create(Tax.Rate)", "a/Invoice.cs")],
            ["Create(int)", "Create(Tax.Rate)"],
        ),
        ([("index.ts", "a/x/index.ts"), ("index.ts", "a/y/index.ts")], ["x/index.ts", "y/index.ts"]),
        ([("a/x/index.ts", "a/x/index.ts"), ("a/y/index.ts", "a/y/index.ts")], ["x/index.ts", "y/index.ts"]),
        ([("Install > With pip", "a.md"), ("Update > With pip", "a.md")], ["Install > With pip", "Update > With pip"]),
        ([("main", "cmd/a.go"), ("main", "cmd/b.go")], ["main · a.go", "main · b.go"]),
        ([("A.B.C.D", "a.cs"), ("X.B.C.D", "b.cs")], ["A.B.C.D", "X.B.C.D"]),
        ([("std::map::find", "a.cpp"), ("std::set::find", "a.cpp")], ["map::find", "set::find"]),
        ([("same", "a.py"), ("same", "a.py")], ["same", "same"]),
        ([("alone.Create", "a.cs")], ["Create"]),
    ],
)
def test_names_have_as_much_as_makes_them_differ(nodes: list[tuple[str, str]], names: list[str]) -> None:
    assert distinct_names(nodes) == names


def test_names_that_would_be_cut_alike_keep_what_differs() -> None:
    names = ["test_invoices_of_a_country_are_taxed", "test_invoices_of_a_country_are_sent", "short"]
    assert fitted(names, 120) == ["test_inv…e_taxed", "test_inv…re_sent", "short"]
    names = ["a_long_name_of_a_thing_1x", "a_long_name_of_b_thing_1x"]
    assert fitted(names, 120) == ["…e_of_a_thing_1x", "…e_of_b_thing_1x"]


@given(st.lists(st.text("ab.(/", max_size=30), max_size=6), st.sampled_from([10.0, 40.0, 120.0]))
def test_no_name_is_wider_than_its_box(names: list[str], room: float) -> None:
    for name, shown in zip(names, fitted(names, room), strict=True):
        assert len(shown) <= max(int(room / 7.3), 0)
        assert shown == name or not shown or "…" in shown


@given(st.lists(st.tuples(st.text("aB.:(/ >", max_size=12), st.sampled_from(["", "a.cs", "x/a.cs"])), max_size=6))
def test_any_full_name_has_a_name(nodes: list[tuple[str, str]]) -> None:
    names = distinct_names(nodes)
    assert len(names) == len(nodes)
