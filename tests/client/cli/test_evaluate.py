"""`evaluate`: measures of known answers, and files that are no questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from groundwire.v1 import evidence_pb2, query_pb2

if TYPE_CHECKING:
    from pathlib import Path

    from client.cli.conftest import Run
    from client.conftest import FakeServer


def test_measures_are_those_of_the_places_that_come_back(
    server: FakeServer, run: Run, query_answer: query_pb2.QueryResponse, tmp_path: Path
) -> None:
    """`Invoice.Create` has rank 1 and is shown; nothing else of the places is there."""
    server.answer(query_answer)
    match = query_answer.matches[0]
    passage = evidence_pb2.Passage(id=match.id, symbol=match.symbol, location=match.location)
    server.answer(evidence_pb2.GatherEvidenceResponse(passages=[passage], index="v7"))
    file = tmp_path / "questions.tsv"
    file.write_text(
        "where is an invoice made?\tsrc/Tax.cs#Rate|src/Invoice.cs#Create;src/Invoice.cs#Delete\n"
        "where is it paid?\tsrc/Invoice.cs#Pay\n"
        "which file has invoices?\tInvoice.cs#\n"
        "which other file ends alike?\tvoice.cs#\n"
    )
    done = run("evaluate", str(file), "--against", "v0")
    assert done.code == 0
    rows = [line.split() for line in done.stdout.splitlines() if line.strip().startswith(("active", "v0"))]
    assert [(row[0], row[1], row[4], row[7]) for row in rows] == [
        ("active", "0.500", "0.500", "0.375"),
        ("v0", "0.500", "0.500", "0.375"),
    ]
    assert rows[0][2:4] == ["[0.000,", "1.000]"]
    assert "4 questions" in done.stdout
    requests = [attempt.request for attempt in server.attempts]
    versions = [request.scope.active_index for request in requests if isinstance(request, query_pb2.QueryRequest)]
    assert versions == [""] * 4 + ["v0"] * 4


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "has no line"),
        (b"a question without places\n", "line 1: must be a question, a tab, and places"),
        (b"q\tsrc/a.py#run\nq\tsrc/a.py\n", "line 2: must be"),
        (b"\tsrc/a.py#run\n", "line 1: must be"),
        (b"\xff", "can't decode byte 0xff"),
    ],
)
def test_files_that_are_no_questions(run: Run, tmp_path: Path, content: bytes, problem: str) -> None:
    file = tmp_path / "questions.tsv"
    file.write_bytes(content)
    done = run("evaluate", str(file))
    assert done.code == 2
    assert problem in " ".join(done.stderr.replace("│", " ").split())
