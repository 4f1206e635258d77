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


def lines_of(command: Sequence[str | Path], asked: str = "") -> list[str]:
    done = subprocess.run(
        command, input=asked, capture_output=True, text=True, encoding="utf-8", env=INVARIANT, timeout=300, check=True
    )
    return done.stdout.splitlines()


def in_python(raw: Mapping[str, object], context: Mapping[str, object]) -> NodeFilter | None:
    try:
        return node_filter(raw, **context)
    except (TypeError, ValueError):
        return None


def test_filters_are_those_of_the_python_client(checks: Sequence[str | Path]) -> None:
    asked = "".join(json.dumps(case) + "\n" for case in CASES)
    outcomes = lines_of([*checks, "filters"], asked)
    made = [None if line.startswith("refused: ") else Parse(line, NodeFilter()) for line in outcomes]
    assert made == [in_python(*case) for case in CASES]
    for line, (raw, context) in zip(outcomes, CASES, strict=True):
        if line.startswith("refused: "):
            (first, *_) = (name for name in (*raw, *context))
            assert first in line or "metadata" in line


def test_evidence_fetches_what_its_response_had_no_room_for_and_cites_texts(checks: Sequence[str | Path]) -> None:
    *requests, told = (json.loads(line) for line in lines_of([*checks, "evidence"]))
    common = {"filter": {"languages": ["csharp"]}}
    query = {"scope": {"repository": "shop", "branch": "main"}, "query": "vat?", "topK": 60, "capTopK": True}
    pinned = {"repository": "shop", "branch": "main", "activeIndex": "v1"}
    fetch = {"scope": pinned, "prioritizationMode": "PRIORITIZATION_MODE_SEED_FIRST", **common}
    assert requests == [
        {**query, **common, "includeParents": False, "budgetTokens": 100},
        {**fetch, "seedIds": ["b", "d"], "budgetTokens": 90},
        {**fetch, "seedIds": ["d"], "budgetTokens": 70},
    ]
    found = [(text["Id"], text["Rank"], text["Text"], text["Symbol"], text["Citation"]) for text in told["Texts"]]
    assert found == [("a", 1, "A", "A.f", "a.cs:3-9"), ("b", 2, "B", "", "b"), ("d", 4, "D", "", "d")]
    skipped = [(text["Id"], text["Rank"], text["Symbol"], text["Citation"]) for text in told["Skipped"]]
    assert skipped == [("c", 3, "Tax > Rates", "c.md:3-9")]
    assert (told["Citations"], told["UsedTokens"], told["Index"]) == (["a.cs:3-9", "b", "d"], 50, "v1")


def test_evidence_of_several_scopes_fetches_each_text_from_its_own(checks: Sequence[str | Path]) -> None:
    query, *fetches, told = (json.loads(line) for line in lines_of([*checks, "scopes"]))
    assert "scope" not in query
    assert query["scopes"] == [{"repository": "shop", "branch": "main"}, {"repository": "team-*", "branch": "*"}]
    asked = [(fetch["scope"]["repository"], fetch["scope"]["activeIndex"], fetch["seedIds"]) for fetch in fetches]
    assert asked == [("shop", "v1", ["b"]), ("team-b", "v2", ["d"])]
    assert [(text["Id"], text["Scope"]["Repository"]) for text in told["Texts"]] == [
        ("a", "shop"),
        ("b", "shop"),
        ("d", "team-b"),
    ]
    assert [scope["ActiveIndex"] for scope in told["Scopes"]] == ["v1", "v2"]


def test_a_cancelled_call_throws_what_cancellation_throws(checks: Sequence[str | Path]) -> None:
    assert lines_of([*checks, "cancel"]) == ["OperationCanceledException"]


def test_options_that_break_a_rule_are_refused(checks: Sequence[str | Path]) -> None:
    outcomes = lines_of([*checks, "options"])
    refused = ["Address: ''", "Address: 'localhost:1'", "BudgetTokens: 0", "Timeout: 00:00:00", "TokenProvider: "]
    for line, beginning in zip(outcomes, refused, strict=False):
        assert line.startswith(f"refused: {beginning}")
    assert outcomes[len(refused) :] == ["valid", "valid"]
