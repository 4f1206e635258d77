"""What a filter takes, and what loose values become."""

from typing import Any

import pytest

from groundwire_client import NodeFilter, metadata_of, node_filter
from groundwire_client._filters import TEXT_FIELDS

FLAGS = ("is_latest", "is_test", "is_generated")
LISTS = [field.name for field in NodeFilter.DESCRIPTOR.fields if field.name not in (*FLAGS, "metadata")]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({}, NodeFilter()),
        ({"tenant_id": "acme"}, NodeFilter(tenant_ids=("acme",))),
        ({"case_id": "c1"}, NodeFilter(case_ids=("c1",))),
        ({"collection_id": "k1"}, NodeFilter(collection_ids=("k1",))),
        ({"collection_ids": ["k1", "k2"]}, NodeFilter(collection_ids=("k1", "k2"))),
        ({"collection_ids": ("k1",)}, NodeFilter(collection_ids=("k1",))),
        ({"document_id": "d1"}, NodeFilter(document_ids=("d1",))),
        ({"document_version_id": "v1"}, NodeFilter(document_version_ids=("v1",))),
        ({"is_latest": True}, NodeFilter(is_latest=True)),
        ({"is_latest": False}, NodeFilter(is_latest=False)),
        ({"is_test": False, "is_generated": True}, NodeFilter(is_test=False, is_generated=True)),
        ({"metadata": {"team": "tax"}}, node_filter({}, metadata={"team": "tax"})),
        ({"team": "tax"}, node_filter({}, metadata={"team": "tax"})),
        ({"team": "tax", "metadata": {"open": True}}, node_filter({}, metadata={"team": "tax", "open": True})),
        ({"workflow_id": "w1", "priority": 2}, node_filter({}, metadata={"workflow_id": "w1", "priority": 2})),
        ({"severity": [1, 2]}, node_filter({}, metadata={"severity": [1, 2]})),
        ({"metadata": {"closed_by": None}}, node_filter({}, metadata={"closed_by": None})),
        ({"kind": "cs", "path_prefix": "src/"}, NodeFilter(kinds=("cs",), path_prefixes=("src/",))),
        ({"tenant_id": None, "is_latest": None, "metadata": None, "team": None}, NodeFilter()),
        ({"collection_id": "k1", "collection_ids": None}, NodeFilter(collection_ids=("k1",))),
        ({"collection_id": "k1", "collection_ids": []}, NodeFilter(collection_ids=("k1",))),
    ],
)
def test_loose_values_become_fields_and_metadata(raw: dict[str, object], expected: NodeFilter) -> None:
    assert node_filter(raw) == expected


def test_singular_and_plural_together_are_alternatives() -> None:
    given = node_filter({"collection_id": "a", "collection_ids": ["b", "a"], "kinds": ["cs"], "kind": "sql"})
    assert given == NodeFilter(collection_ids=["a", "b"], kinds=["cs", "sql"])


@pytest.mark.parametrize("field", LISTS)
def test_every_list_has_a_singular_and_a_plural_name(field: str) -> None:
    names = [name for name, meant in TEXT_FIELDS.items() if meant == field]
    assert len(names) == 2
    assert field in names
    for name in names:
        for value in ("one", ["one"]):
            assert node_filter({name: value}) == node_filter({}, **{field: ("one",)})


@pytest.mark.parametrize(
    ("raw", "context", "expected"),
    [
        ({"document_id": "asked"}, {"document_id": "known"}, NodeFilter(document_ids=("known",))),
        ({"document_ids": ["asked", "too"]}, {"document_id": "known"}, NodeFilter(document_ids=("known",))),
        ({"is_latest": True}, {"is_latest": False}, NodeFilter(is_latest=False)),
        ({"is_latest": True}, {"is_latest": None}, NodeFilter(is_latest=True)),
        ({"tenant_id": "asked"}, {"tenant_id": None}, NodeFilter(tenant_ids=("asked",))),
        ({"tenant_ids": ["asked"]}, {"tenant_ids": []}, NodeFilter(tenant_ids=("asked",))),
        ({"case_id": "asked"}, {"tenant_id": "known"}, NodeFilter(case_ids=("asked",), tenant_ids=("known",))),
        ({"workflow_id": "asked", "team": "tax"}, {"workflow_id": "known"}, {"workflow_id": "known", "team": "tax"}),
        ({"team": "asked"}, {"metadata": {"team": "known"}}, {"team": "known"}),
    ],
)
def test_what_the_caller_knows_wins(raw: dict[str, object], context: dict[str, object], expected: object) -> None:
    wanted = expected if isinstance(expected, NodeFilter) else node_filter({}, metadata=expected)
    assert node_filter(raw, **context) == wanted


@pytest.mark.parametrize(
    ("raw", "kind", "message"),
    [
        ({"tenant_id": 7}, TypeError, "tenant_id: 7 must be a string or a list of strings"),
        ({"collection_ids": ["a", 7]}, TypeError, "collection_ids: ['a', 7] must be a string or a list of strings"),
        ({"collection_ids": {"a"}}, TypeError, "collection_ids: {'a'} must be a string or a list of strings"),
        (
            {"document_id": ""},
            ValueError,
            "document_id: '' must hold no empty string: leave the name out to allow every value",
        ),
        ({"case_ids": ["a", ""]}, ValueError, "case_ids: ['a', ''] must hold no empty string"),
        ({"is_latest": "true"}, TypeError, "is_latest: 'true' must be True, False or None"),
        ({"is_latest": 1}, TypeError, "is_latest: 1 must be True, False or None"),
        ({"is_test": "no"}, TypeError, "is_test: 'no' must be True, False or None"),
        ({"metadata": "team"}, TypeError, "metadata: 'team' must be a mapping"),
        ({"metadata": {7: "x"}}, TypeError, "metadata: the key 7 must be a string"),
        ({7: "x"}, TypeError, "metadata: the key 7 must be a string"),
        ({"team": {"name": "tax"}}, TypeError, "metadata['team']: {'name': 'tax'} must be a string, a number"),
        ({"team": [["tax"]]}, TypeError, "metadata['team']: ['tax'] must be a string, a number"),
        ({"number": 2**53 + 1}, ValueError, "metadata['number']: 9007199254740993 is beyond 2**53"),
        ({"team": "a", "metadata": {"team": "b"}}, ValueError, "team: 'a' is given besides another value of metadata"),
        ({"langauge": "csharp"}, ValueError, "langauge: is no field of a filter; did you mean language?"),
        ({"is_tests": True}, ValueError, "is_tests: is no field of a filter; did you mean is_test?"),
        ({"isTest": True}, ValueError, "isTest: is no field of a filter; did you mean is_test?"),
        ({"lang": "go"}, ValueError, "lang: is no field of a filter; did you mean language?"),
        ({"langs": "go"}, ValueError, "langs: is no field of a filter; did you mean language?"),
        ({"path": "src"}, ValueError, "path: is no field of a filter; did you mean path_prefix?"),
    ],
)
@pytest.mark.parametrize("as_context", [False, True])
def test_a_wrong_value_is_named_with_its_rule(
    raw: dict[Any, object], kind: type[Exception], message: str, as_context: bool
) -> None:
    if as_context and any(not isinstance(name, str) for name in raw):
        raw = {"metadata": raw}
    with pytest.raises(kind) as raised:
        node_filter({}, **raw) if as_context else node_filter(raw)
    assert str(raised.value).startswith(message)


def test_a_filter_holds_every_field_that_it_is_given() -> None:
    whole = node_filter(
        {
            **{key: ["a", "b"] for key in LISTS},
            **dict.fromkeys(FLAGS, False),
            "metadata": {"team": ["tax", "vat"], "open": False, "size": 3, "share": 0.5, "closed_by": None},
        }
    )
    assert {field.name for field, _ in whole.ListFields()} == set(NodeFilter.DESCRIPTOR.fields_by_name)
    assert metadata_of(whole) == {"team": ("tax", "vat"), "open": False, "size": 3, "share": 0.5, "closed_by": None}


@pytest.mark.parametrize("largest", [2**53, -(2**53), 1.5e300, True])
def test_numbers_that_the_wire_holds_are_taken(largest: float) -> None:
    assert metadata_of(node_filter({"number": largest})) == {"number": largest}
