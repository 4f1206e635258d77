"""YAML documents as values: what counts, what is resolved, and what is refused before it grows."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from groundwire_ingest.tree.services.yaml_values import MAX_EXPANSION, YamlValue, below, plain_name, yaml_values
from groundwire_ingest.tree.yaml_tree import YamlError, yaml_documents
from support.growth import check_linear


def _value(text: str) -> YamlValue:
    return yaml_values(yaml_documents(text))[0]


def test_every_scalar_is_the_text_that_it_is_written_as() -> None:
    assert _value("a: 8080\nb: yes\nc: ~\nd:\ne: 2024-01-01\nf: '1'\ng: [1.0, x]\n") == {
        "a": "8080",
        "b": "yes",
        "c": "~",
        "d": "",
        "e": "2024-01-01",
        "f": "1",
        "g": ["1.0", "x"],
    }


def test_tags_are_passed_over() -> None:
    assert _value("a: !!python/object/apply:os.system ['exit 1']\nb: !reset null\n") == {"a": ["exit 1"], "b": "null"}


def test_only_the_wanted_documents_are_built() -> None:
    first, _, third = yaml_documents("a: 1\n---\nb: 2\n---\nc: 3\n")
    assert yaml_values((first, third)) == [{"a": "1"}, {"c": "3"}]
    assert yaml_values(yaml_documents("")) == []
    assert yaml_values(yaml_documents("---\n")) == [""]


def test_keys_that_are_no_scalars_are_left_out_and_the_last_of_equal_ones_counts() -> None:
    assert _value("[a]: 1\n? {b: 1}\n: 2\nc: 1\nc: 2\n") == {"c": "2"}


def test_aliases_and_merge_keys_are_resolved() -> None:
    text = """\
base: &base {a: 1, b: 1}
other: &other {b: 2, c: 2}
list: &list [x]
merged:
  b: own
  <<: [*base, *other]
first: {<<: [*base, *other]}
one: {<<: *other, '<<': quoted}
again: *list
none: {<<: text, d: 1}
"""
    value = _value(text)
    assert below(value, "merged") == {"a": "1", "b": "own", "c": "2"}
    assert below(value, "first") == {"a": "1", "b": "1", "c": "2"}
    assert below(value, "one") == {"b": "2", "c": "2", "<<": "quoted"}
    assert below(value, "again") == ["x"]
    assert below(value, "none") == {"d": "1"}


def test_an_anchor_may_be_set_again_but_holds_for_its_document_alone() -> None:
    assert _value("a: &x 1\nb: &x 2\nc: *x\n") == {"a": "1", "b": "2", "c": "2"}
    with pytest.raises(YamlError, match=r"alias \*x names no anchor") as caught:
        yaml_values(yaml_documents("a: &x 1\n---\nb: 1\nc: *x\n"))
    assert caught.value.line == 4


def test_an_alias_inside_of_its_own_anchor_is_refused() -> None:
    with pytest.raises(YamlError, match="names no anchor that ends before it"):
        _value("a: &x 1\nb: &x [*x]\n")


@pytest.mark.parametrize("leaf", ["x", "a: 1"])
def test_aliases_that_multiply_are_refused_in_no_time(leaf: str) -> None:
    merge = leaf.startswith("a")

    def read(depth: int) -> None:
        levels = [f"a0: &a0 {{{leaf}}}" if merge else f"a0: &a0 [{leaf}]"]
        for number in range(1, depth):
            aliases = ", ".join([f"*a{number - 1}"] * 10)
            levels.append(f"a{number}: &a{number} " + (f"{{<<: [{aliases}]}}" if merge else f"[{aliases}]"))
        with pytest.raises(YamlError, match=f"more than {MAX_EXPANSION} values"):
            _value("\n".join(levels))

    check_linear(read, 10)


def test_long_texts_that_aliases_repeat_count_by_their_length() -> None:
    text = f"a: &a {'x' * 100_000}\nb: [{', '.join(['*a'] * 100)}]\n"
    with pytest.raises(YamlError) as caught:
        _value(text)
    assert caught.value.line == 2
    assert len(_value(text.replace("*a, ", "", 2))) == 2


def test_values_of_the_wrong_shape_hold_nothing() -> None:
    assert below({"a": {"b": "c"}}, "a", "b") == "c"
    assert below({"a": ["b"]}, "a", "b") == below("a", "a") == below({}, "a") == ""
    assert plain_name("orders-2.a_b") == "orders-2.a_b"
    nameless: list[YamlValue] = ["", "a b", "{{ x }}", "-a", "a" * 201, ["a"]]
    assert [plain_name(value) for value in nameless] == [""] * 6


_texts = st.text(st.sampled_from("ab1:-\n '#é"), max_size=6)
_values = st.recursive(
    _texts, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3), max_leaves=12
)


@given(_values, st.booleans())
def test_what_yaml_writes_comes_back(value: YamlValue, flow: bool) -> None:
    assert _value(yaml.safe_dump(value, default_flow_style=flow, allow_unicode=True)) == value
