"""What a filter takes, and what loose values become."""

from dataclasses import asdict, fields
from typing import Any

import pytest

from groundwire_client import Filter
from groundwire_client._filters import TEXT_FIELDS

FLAGS = ("is_latest", "is_test", "is_generated")
LISTS = [field.name for field in fields(Filter) if field.name not in (*FLAGS, "metadata")]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({}, Filter()),
        ({"tenant_id": "acme"}, Filter(tenant_ids=("acme",))),
        ({"case_id": "c1"}, Filter(case_ids=("c1",))),
        ({"collection_id": "k1"}, Filter(collection_ids=("k1",))),
        ({"collection_ids": ["k1", "k2"]}, Filter(collection_ids=("k1", "k2"))),
        ({"collection_ids": ("k1",)}, Filter(collection_ids=("k1",))),
        ({"document_id": "d1"}, Filter(document_ids=("d1",))),
        ({"document_version_id": "v1"}, Filter(document_version_ids=("v1",))),
        ({"is_latest": True}, Filter(is_latest=True)),
        ({"is_latest": False}, Filter(is_latest=False)),
        ({"is_test": False, "is_generated": True}, Filter(is_test=False, is_generated=True)),
        ({"metadata": {"team": "tax"}}, Filter(metadata={"team": "tax"})),
        ({"team": "tax"}, Filter(metadata={"team": "tax"})),
        ({"team": "tax", "metadata": {"open": True}}, Filter(metadata={"team": "tax", "open": True})),
        ({"workflow_id": "w1", "priority": 2}, Filter(metadata={"workflow_id": "w1", "priority": 2})),
        ({"severity": [1, 2]}, Filter(metadata={"severity": (1, 2)})),
        ({"metadata": {"closed_by": None}}, Filter(metadata={"closed_by": None})),
        ({"kind": "cs", "path_prefix": "src/"}, Filter(kinds=("cs",), path_prefixes=("src/",))),
        ({"tenant_id": None, "is_latest": None, "metadata": None, "team": None}, Filter()),
        ({"collection_id": "k1", "collection_ids": None}, Filter(collection_ids=("k1",))),
        ({"collection_id": "k1", "collection_ids": []}, Filter(collection_ids=("k1",))),
    ],
)
def test_loose_values_become_fields_and_metadata(raw: dict[str, object], expected: Filter) -> None:
    assert Filter.from_mapping(raw) == expected


@pytest.mark.parametrize("field", LISTS)
def test_every_list_has_a_singular_and_a_plural_name(field: str) -> None:
    names = [name for name, meant in TEXT_FIELDS.items() if meant == field]
    assert len(names) == 2
    assert field in names
    for name in names:
        for value in ("one", ["one"]):
            assert Filter.from_mapping({name: value}) == Filter(**{field: ("one",)})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("raw", "context", "expected"),
    [
        ({"document_id": "asked"}, {"document_id": "known"}, Filter(document_ids=("known",))),
        ({"document_ids": ["asked", "too"]}, {"document_id": "known"}, Filter(document_ids=("known",))),
        ({"is_latest": True}, {"is_latest": False}, Filter(is_latest=False)),
        ({"is_latest": True}, {"is_latest": None}, Filter(is_latest=True)),
        ({"tenant_id": "asked"}, {"tenant_id": None}, Filter(tenant_ids=("asked",))),
        ({"tenant_ids": ["asked"]}, {"tenant_ids": []}, Filter(tenant_ids=("asked",))),
        ({"case_id": "asked"}, {"tenant_id": "known"}, Filter(case_ids=("asked",), tenant_ids=("known",))),
        ({"workflow_id": "asked", "team": "tax"}, {"workflow_id": "known"}, {"workflow_id": "known", "team": "tax"}),
        ({"team": "asked"}, {"metadata": {"team": "known"}}, {"team": "known"}),
    ],
)
def test_what_the_caller_knows_wins(raw: dict[str, object], context: dict[str, object], expected: object) -> None:
    wanted = expected if isinstance(expected, Filter) else Filter(metadata=expected)  # type: ignore[arg-type]
    assert Filter.from_mapping(raw, **context) == wanted


@pytest.mark.parametrize(
    ("raw", "kind", "message"),
    [
        ({"tenant_id": 7}, TypeError, "tenant_id: 7 must be a string or a list of strings"),
        ({"collection_ids": ["a", 7]}, TypeError, "collection_ids: ['a', 7] must be a string or a list of strings"),
        ({"collection_ids": {"a"}}, TypeError, "collection_ids: {'a'} must be a string or a list of strings"),
        ({"document_id": ""}, ValueError, "document_id: '' must hold no empty string: leave the name out to admit all"),
        ({"case_ids": ["a", ""]}, ValueError, "case_ids: ['a', ''] must hold no empty string"),
        ({"is_latest": "true"}, TypeError, "is_latest: 'true' must be True, False or None"),
        ({"is_latest": 1}, TypeError, "is_latest: 1 must be True, False or None"),
        ({"is_test": "no"}, TypeError, "is_test: 'no' must be True, False or None"),
        ({"metadata": "team"}, TypeError, "metadata: 'team' must be a mapping"),
        ({"metadata": {7: "x"}}, TypeError, "metadata: the key 7 must be a string"),
        ({7: "x"}, TypeError, "metadata: the key 7 must be a string"),
        ({"team": {"name": "tax"}}, TypeError, "metadata['team']: {'name': 'tax'} must be a string, a number"),
        ({"team": [["tax"]]}, TypeError, "metadata['team']: ['tax'] must be a string, a number"),
        ({"number": 2**53 + 1}, ValueError, "metadata['number']: 9007199254740993 lies beyond 2**53"),
        ({"kind": "cs", "kinds": ["sql"]}, ValueError, "kinds: ['sql'] comes besides another value of kinds"),
        ({"team": "a", "metadata": {"team": "b"}}, ValueError, "team: 'a' comes besides another value of metadata"),
    ],
)
@pytest.mark.parametrize("as_context", [False, True])
def test_a_wrong_value_is_named_with_its_rule(
    raw: dict[Any, object], kind: type[Exception], message: str, as_context: bool
) -> None:
    if as_context and any(not isinstance(name, str) for name in raw):
        raw = {"metadata": raw}
    with pytest.raises(kind) as raised:
        Filter.from_mapping({}, **raw) if as_context else Filter.from_mapping(raw)
    assert str(raised.value).startswith(message)


def test_a_filter_as_a_mapping_is_that_filter() -> None:
    whole = Filter(
        **dict.fromkeys(LISTS, ("a", "b")),
        is_latest=True,
        is_test=False,
        is_generated=True,
        metadata={"team": ("tax", "vat"), "open": False},
    )
    assert Filter.from_mapping(asdict(whole)) == whole
    assert Filter.from_mapping(asdict(Filter())) == Filter()


def test_a_filter_does_not_change_with_the_mapping_it_was_made_of() -> None:
    severities, metadata = [1], {}
    metadata["severity"] = severities
    narrowing = Filter(metadata=metadata)
    severities.append(2)
    metadata["severity"] = [3]
    assert narrowing == Filter(metadata={"severity": (1,)})


def test_equal_filters_have_equal_hashes() -> None:
    assert len({Filter(metadata={"team": "tax"}), Filter(metadata={"team": "tax"}), Filter()}) == 2


@pytest.mark.parametrize("largest", [2**53, -(2**53), 1.5e300, True])
def test_numbers_that_the_wire_holds_are_taken(largest: float) -> None:
    assert Filter(metadata={"number": largest}).metadata == {"number": largest}
