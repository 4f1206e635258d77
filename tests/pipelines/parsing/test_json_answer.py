"""Answers in JSON, by a schema: what a model may send, and what its check may cost."""

import json

import pytest
from pydantic import JsonValue

from groundwire_pipelines.errors import StepError
from groundwire_pipelines.parsing.json_answer import MAX_NESTING, MAX_REFERENCES, read_structured, schema_problem
from support.growth import check_linear

NESTED: dict[str, JsonValue] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "anyOf": [{"type": "array", "items": {"$ref": "#"}}, {"type": "array", "items": {"$ref": "#"}}, {"type": "string"}],
}


def refused(text: str, schema: dict[str, JsonValue], max_references: int = MAX_REFERENCES) -> StepError:
    with pytest.raises(StepError) as caught:
        read_structured(text, schema, max_references)
    return caught.value


def test_an_answer_is_nested_as_deep_as_it_may_be_and_no_deeper() -> None:
    assert read_structured("[" * MAX_NESTING + "]" * MAX_NESTING, {}) is not None
    for levels in (MAX_NESTING + 1, 900, 200_000):
        error = refused("[" * levels + "]" * levels, {})
        assert (error.rule, f"at most {MAX_NESTING} levels" in error.message) == ("response-malformed", True)


def test_alternatives_that_refer_to_their_own_schema_end() -> None:
    assert read_structured('[["a"], []]', NESTED) == [["a"], []]
    error = refused("[" * 40 + "1" + "]" * 40, NESTED, max_references=500)
    assert (error.rule, "after 500 references" in error.message) == ("response-mismatched", True)


def test_items_are_compared_in_a_time_that_grows_with_their_number() -> None:
    def read(count: int) -> None:
        assert read_structured(json.dumps([{"id": number} for number in range(count)]), {"uniqueItems": True})

    check_linear(read, 1_000)


@pytest.mark.parametrize(
    ("items", "are_unique"),
    [
        ([1, True, "1", [1], {"a": 1}, None, 0, False, [True]], True),
        ([1, 2, 1.0], False),
        ([{"a": 1, "b": [2]}, {"b": [2.0], "a": 1}], False),
        ([[], []], False),
        ([[], {}], True),
        (["list", ["list"]], True),
    ],
)
def test_items_are_equal_as_json(items: list[JsonValue], are_unique: bool) -> None:
    if are_unique:
        assert read_structured(json.dumps(items), {"uniqueItems": True}) == items
    else:
        assert refused(json.dumps(items), {"uniqueItems": True}).rule == "response-mismatched"
    assert read_structured(json.dumps(items), {"uniqueItems": False}) == items


def test_half_of_a_surrogate_pair_is_no_text() -> None:
    assert refused(r'{"query": "\ud800"}', {}).rule == "response-malformed"
    assert read_structured(r'"\ud83d\ude00"', {}) == "\U0001f600"


def test_a_long_place_is_cut() -> None:
    error = refused(json.dumps({"k" * 100_000: 1}), {"additionalProperties": {"type": "string"}})
    assert len(error.message) < 1000


def test_numbers_that_no_computer_number_holds_are_refused() -> None:
    assert refused("1e400", {}).rule == "response-malformed"
    assert refused("1" + "0" * 400, {"multipleOf": 0.01}).rule == "response-mismatched"
    assert read_structured("1e300", {"type": "number"}) == 1e300


def test_an_address_that_is_none_is_a_problem_of_a_schema() -> None:
    assert schema_problem({"$id": "http://[", "$ref": "a"})
