"""The .NET client by itself: filters are those of the Python client, cancelled calls end, options are checked."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from google.protobuf.json_format import Parse

from groundwire_client import NodeFilter, node_filter
from support.dotnet_toolchain import INVARIANT, STAND_INS, Dotnet

pytestmark = pytest.mark.slow

LISTS = [field.name for field in NodeFilter.DESCRIPTOR.fields if field.is_repeated]
CASES: list[tuple[Mapping[str, object], Mapping[str, object]]] = [
    ({}, {}),
    *(({name: ["a", "b"]}, {}) for name in LISTS),
    *(({name.removesuffix("es" if name == "path_prefixes" else "s"): "a"}, {}) for name in LISTS),
    *(({name: flag}, {}) for name in ("is_latest", "is_test", "is_generated") for flag in (True, False, None)),
    ({"metadata": {"team": "tax", "open": True, "size": 3, "share": 0.5, "closed_by": None}}, {}),
    ({"team": "tax", "metadata": {"open": True}}, {}),
    ({"severity": [1, 2.0, "3", None, False]}, {}),
    ({"severity": []}, {}),
    ({"number": 2**53}, {}),
    ({"number": -(2**53)}, {}),
    ({"number": 1e300}, {}),
    ({"collection_id": "k1", "collection_ids": []}, {}),
    ({"collection_id": "k1", "collection_ids": None}, {}),
    ({"tenant_id": None, "metadata": None, "team": None}, {}),
    ({"document_id": "asked"}, {"document_ids": ["known"]}),
    ({"is_latest": True}, {"is_latest": False}),
    ({"is_latest": True}, {"is_latest": None}),
    ({"tenant_ids": ["asked"]}, {"tenant_ids": []}),
    ({"workflow_id": "asked", "team": "tax"}, {"workflow_id": "known"}),
    ({"team": "asked"}, {"metadata": {"team": "known"}}),
    # Refused by both.
    ({"tenant_id": 7}, {}),
    ({"collection_ids": ["a", 7]}, {}),
    ({"collection_ids": ["a", None]}, {}),
    ({"collection_ids": {"a": 1}}, {}),
    ({"document_id": ""}, {}),
    ({}, {"case_ids": ["a", ""]}),
    ({"is_latest": "true"}, {}),
    ({"is_test": 1}, {}),
    ({"metadata": "team"}, {}),
    ({"metadata": []}, {}),
    ({"team": {"name": "tax"}}, {}),
    ({"team": [["tax"]]}, {}),
    ({"number": 2**53 + 1}, {}),
    ({"number": -(2**53) - 1}, {}),
    ({"number": [2**70]}, {}),
    ({"kind": "cs", "kinds": ["sql"]}, {}),
    ({"team": "a", "metadata": {"team": "b"}}, {}),
    *(({name: "a"}, {}) for name in ("langauge", "lang", "langs", "path", "kinde", "isTest", "collectionId", "meta")),
]


@pytest.fixture(scope="module")
def checks(dotnet: Dotnet, tmp_path_factory: pytest.TempPathFactory) -> Sequence[str | Path]:
    """The command of the program that checks the client."""
    return dotnet.program(tmp_path_factory.mktemp("checks") / "checks.dll", [STAND_INS / "programs" / "Checks.cs"])


def lines_of(command: Sequence[str | Path], lines: str = "") -> list[str]:
    done = subprocess.run(
        command, input=lines, capture_output=True, text=True, encoding="utf-8", env=INVARIANT, timeout=300, check=True
    )
    return done.stdout.splitlines()


def in_python(raw: Mapping[str, object], context: Mapping[str, object]) -> NodeFilter | None:
    try:
        return node_filter(raw, **context)
    except (TypeError, ValueError):
        return None


def test_filters_are_those_of_the_python_client(checks: Sequence[str | Path]) -> None:
    cases = "".join(json.dumps(case) + "\n" for case in CASES)
    outcomes = lines_of([*checks, "filters"], cases)
    made = [None if line.startswith("refused: ") else Parse(line, NodeFilter()) for line in outcomes]
    assert made == [in_python(*case) for case in CASES]
    for line, (raw, context) in zip(outcomes, CASES, strict=True):
        if line.startswith("refused: "):
            (first, *_) = (name for name in (*raw, *context))
            assert first in line or "metadata" in line


def test_evidence_is_one_call_and_cites_passages(checks: Sequence[str | Path]) -> None:
    request, evidence = (json.loads(line) for line in lines_of([*checks, "evidence"]))
    assert request == {
        "scope": {"repository": "shop", "branch": "main"},
        "filter": {"languages": ["csharp"]},
        "question": "vat?",
        "phrasings": ["tax rate", "GetRate VatRate"],
        "phrase": True,
        "shownIds": ["z"],
        "budgetTokens": 300,
    }
    first, second = evidence["Texts"]
    assert (first["Id"], first["Number"], first["Citation"], first["Symbol"]) == ("a", 2, "a.cs:3-9", "A.f")
    assert (first["Path"], first["StartLine"], first["EndLine"], first["Kind"]) == ("a.cs", 3, 9, "cs")
    assert first["Parts"] == [{"StartLine": 3, "Text": "A"}, {"StartLine": 9, "Text": "}"}]
    assert (first["Text"], first["TokenCount"], first["NodeTokenCount"]) == ("A\n…\n}", 20, 90)
    assert (first["IsMatch"], first["Score"]) == (True, 2)
    assert (second["Text"], second["Path"], second["StartLine"]) == ("B", "", 0)
    assert (second["IsMatch"], second["Score"]) == (False, 0)
    (named,) = evidence["Named"]
    assert (named["Id"], named["Number"], named["Symbol"]) == ("z", 1, "Tax > Rates")
    assert (named["Citation"], named["NodeTokenCount"]) == ("c.md:3-9", 5000)
    assert (evidence["Citations"], evidence["Ids"]) == (["a.cs:3-9", "b"], ["a", "b"])
    assert (evidence["UsedTokens"], evidence["Index"], evidence["Scopes"]) == (50, "v1", [])
    assert (evidence["Rendered"], evidence["Weak"]) == ("[2] a.cs:3-9 A.f\n...", "no passage has the word vat")
    assert evidence["Phrasings"] == ["tax rate", "GetRate VatRate", "value added tax"]


def test_evidence_of_several_scopes_says_where_each_passage_is(checks: Sequence[str | Path]) -> None:
    request, evidence = (json.loads(line) for line in lines_of([*checks, "scopes"]))
    assert "scope" not in request
    assert request["scopes"] == [{"repository": "shop", "branch": "main"}, {"repository": "team-*", "branch": "*"}]
    assert [(text["Id"], text["Scope"]["Repository"]) for text in evidence["Texts"]] == [("a", "shop"), ("b", "team-b")]
    assert [scope["ActiveIndex"] for scope in evidence["Scopes"]] == ["v1", "v2"]
    assert evidence["Index"] == ""


def test_a_kind_that_the_index_does_not_have_is_logged(checks: Sequence[str | Path]) -> None:
    (line,) = lines_of([*checks, "nothing"])
    assert line.startswith("Warning: ")
    assert "csharp" in line
    assert "cs, sql" in line


def test_a_cancelled_call_throws_what_cancellation_throws(checks: Sequence[str | Path]) -> None:
    assert lines_of([*checks, "cancel"]) == ["OperationCanceledException"]


def test_options_that_break_a_rule_are_refused(checks: Sequence[str | Path]) -> None:
    outcomes = lines_of([*checks, "options"])
    refused = ["Address: ''", "Address: 'localhost:1'", "BudgetTokens: 0", "Timeout: 00:00:00", "TokenProvider: "]
    for line, beginning in zip(outcomes, refused, strict=False):
        assert line.startswith(f"refused: {beginning}")
    assert outcomes[len(refused) :] == ["valid", "valid"]
