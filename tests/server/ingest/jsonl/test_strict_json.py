"""The items of a list, one at a time, are those of the list as a whole, and so are the errors."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.jsonl.strict_json import json_items, parse_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=()), max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=12,
)
SPACE = st.sampled_from(["", " ", "\n", "\t\r ", "\f", "\xa0"])


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Lists, other values, and both with something cut out or put in, between spaces of all kinds."""
    text = json.dumps(draw(st.lists(VALUES, max_size=4) | VALUES), separators=(draw(SPACE) + ",", ":"))
    text = draw(SPACE) + text + draw(SPACE)
    at, to = sorted(draw(st.integers(0, len(text))) for _ in range(2))
    return draw(
        st.sampled_from([text, text[:at] + text[to:], text[:at] + draw(st.sampled_from("[],{}\"'1")) + text[at:]])
    )


def outcome(read: object) -> object:
    """The repr, for which NaN is itself; or that it was refused, and how."""
    try:
        return repr(read() if callable(read) else None)
    except IngestError as error:
        return f"refused: {error}"


@given(text=texts())
@example("")
@example("[1,]")
@example("[,1]")
@example("[1 2]")
@example("[1]]")
@example("[1")
@example("[")
@example('[{"a": 1, "a": 2}]')
@example('["\\ud800"]')
@example("[NaN]")
@example("[1e999]")
@example("[" * 100_000)
def test_items_one_by_one_are_those_of_the_list(text: str) -> None:
    whole = outcome(lambda: parse_json(text, "a.json"))
    items = outcome(lambda: list(json_items(text, "a.json")))
    if str(whole).startswith("refused") or str(whole).startswith("["):
        # What is wrong is told alike; where two things are, the first is told.
        assert items == whole or (str(whole).startswith("refused") and str(items).startswith("refused"))
    else:
        assert items == "refused: a.json: is no JSON list"


def test_items_before_one_that_is_wrong_are_there() -> None:
    items = json_items('[{"a": 1}, {"a": NaN}]', "a.json")
    assert next(items) == {"a": 1}
    with pytest.raises(IngestError, match=r"a\.json: is not valid JSON \(NaN is no JSON number\)"):
        next(items)


def test_a_key_given_twice_among_very_many_is_found_in_one_pass() -> None:
    keys = [f'"{number}": 0' for number in range(300_000)]
    with pytest.raises(IngestError, match="key '299999' is given twice"):
        parse_json("{" + ", ".join([*keys, keys[-1]]) + "}", "a.json")
