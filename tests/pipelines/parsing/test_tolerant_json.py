import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_pipelines.parsing.tolerant_json import MalformedError, Tolerated, read_object

VALUES = st.recursive(
    st.none() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.text(), VALUES, max_size=4), st.booleans(), st.sampled_from([None, 2]))
def test_reads_all_json_of_texts_lists_and_objects(
    value: dict[str, Tolerated], ascii_only: bool, indent: int | None
) -> None:
    assert read_object(json.dumps(value, ensure_ascii=ascii_only, indent=indent)) == value


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("{}", {}),
        (" {\n} ", {}),
        ('{"a": "b",}', {"a": "b"}),
        ('{"a": ["b", "c",],}', {"a": ["b", "c"]}),
        ("{'a': 'b'}", {"a": "b"}),
        ("""{'a': "it's"}""", {"a": "it's"}),
        (r"""{'a': 'it\'s'}""", {"a": "it's"}),
        ('{"a": "two\nlines"}', {"a": "two\nlines"}),
        ("{a: b}", {"a": "b"}),
        ("{path: src/Billing/, n: 12, t: true}", {"path": "src/Billing/", "n": "12", "t": "true"}),
        ('{"a": null, "b": None, "c": "null"}', {"a": None, "b": None, "c": "null"}),
        (r'{"a": "\ud83d\ude00 \u00e9\n\/"}', {"a": "😀 é\n/"}),
        ('{"a": {"b": {"c": []}}}', {"a": {"b": {"c": []}}}),
    ],
)
def test_reads_what_models_write_for_json(written: str, value: object) -> None:
    assert read_object(written) == value


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("", "expected '{' at character 1, found ''"),
        ("[]", "expected '{' at character 1, found '[]'"),
        ("{", "expected a string or a word at character 2, found ''"),
        ('{"a"}', "expected ':' at character 5, found '}'"),
        ('{"a": }', "expected a string or a word at character 7, found '}'"),
        ('{"a": "b" "c": "d"}', "expected ',' or '}' at character 11, found '\"c\": \"d\"}'"),
        ('{"a": ["b"}', "expected ',' or ']' at character 11, found '}'"),
        ('{"a": "b', "expected the closing \" at character 9, found ''"),
        ("{'a': 'b\\", "expected an escape of JSON at character 10, found ''"),
        (r'{"a": "\x41"}', r"expected an escape of JSON at character 9, found 'x41" + '"}' + "'"),
        (r'{"a": "\u12"}', r"expected an escape of JSON at character 9, found 'u12" + '"}' + "'"),
        (r'{"a": "\ud800"}', "a \\u escape is half of a surrogate pair"),
        ("{,}", "expected a string or a word at character 2, found ',}'"),
        ("{a: b} c", "expected nothing more at character 8, found 'c'"),
        ("{a: b, a: c}", "the key 'a' is given twice"),
        ("{a: " + "[" * 5000, "values are nested more than 8 deep"),
        ("{a: " * 5000, "values are nested more than 8 deep"),
    ],
)
def test_refuses_what_it_cannot_read_and_says_where(written: str, message: str) -> None:
    with pytest.raises(MalformedError) as caught:
        read_object(written)
    assert str(caught.value) == message
