"""The file of records: whatever becomes of the disk, it holds whole lines alone."""

import fcntl
import json
from pathlib import Path

import pytest
from google.protobuf.message import Message

from groundwire.v1 import evidence_pb2, retrieval_pb2
from groundwire.v1.retrieval_pb2 import SearchNodesResponse
from groundwire.v1.scope_pb2 import IndexScope
from groundwire_index.scope import Scope
from groundwire_server.config import Settings
from groundwire_server.domain.access.access import AccessContext, Bounds
from groundwire_server.domain.access.grants import Caller, Grant
from groundwire_server.domain.access.name_sets import Names
from groundwire_server.domain.errors import AuditUnavailableError
from groundwire_server.rpc.audit import AuditLog
from groundwire_server.rpc.telemetry.call_record import CallRecord, read_headers
from support import programs

ANSWER = SearchNodesResponse()


def test_what_does_not_fit_is_taken_back_whoever_writes_next(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    assert json.loads(programs.output("fill_audit", path)) == [
        "written",
        "written",
        "failed",
        "failed",
        "failed",
        "written",
        "written",
    ]
    assert [json.loads(line)["number"] for line in path.read_text(encoding="utf-8").splitlines()] == [0, 1, 5, 6]


def of(subject: str, access: AccessContext | None = None) -> CallRecord:
    call = CallRecord("groundwire.v1.QueryService/Query", read_headers(None))
    call.caller, call.access = Caller(subject, Grant()), access
    return call


@pytest.fixture
def log(tmp_path: Path) -> AuditLog:
    """An audit that is required."""
    return AuditLog(Settings(audit="required", audit_file=tmp_path / "audit.jsonl"))


def test_a_file_that_somebody_else_has_locked_is_not_waited_for(tmp_path: Path, log: AuditLog) -> None:
    with (tmp_path / "audit.jsonl").open() as reader:
        fcntl.flock(reader, fcntl.LOCK_SH)
        with pytest.raises(AuditUnavailableError):
            log.answered(of("alice"), ANSWER)
    log.answered(of("alice"), ANSWER)
    assert len((tmp_path / "audit.jsonl").read_text(encoding="utf-8").splitlines()) == 1
    assert log.failures == 1


def test_a_question_to_several_indexes_names_those_asked_and_those_that_answered(tmp_path: Path, log: AuditLog) -> None:
    call = of("alice")
    call.scopes = Scope("team-*", "main"), Scope("shop", "main", "v1")
    answered = [IndexScope(repository=name, branch="main", active_index="v1") for name in ("shop", "team-a")]
    log.answered(call, SearchNodesResponse(scopes=answered))
    record = json.loads((tmp_path / "audit.jsonl").read_text(encoding="utf-8"))
    assert record["scopes"] == ["team-*::main::", "shop::main::v1"]
    assert record["indexes"] == ["shop::main::v1", "team-a::main::v1"]
    assert not {"repository", "branch", "active_index"} & set(record)


RESPONSES: dict[str, tuple[Message, dict[str, int], list[str]]] = {
    "hits": (retrieval_pb2.SearchNodesResponse(hits=[retrieval_pb2.SearchHit(id="a")]), {"hits": 1}, ["a"]),
    "lines": (
        retrieval_pb2.SearchTextResponse(
            matches=[retrieval_pb2.LineMatch(node_id="a", text="secret")] * 2,
            files=[retrieval_pb2.FileMatches(path="a.cs", line_count=2)],
        ),
        {"matches": 2},
        ["a", "a"],
    ),
    "evidence": (
        evidence_pb2.GatherEvidenceResponse(
            passages=[evidence_pb2.Passage(id="a")], named=[evidence_pb2.NamedNode(id="b")], rendered="secret"
        ),
        {"passages": 1, "named": 1},
        ["a", "b"],
    ),
    "texts": (retrieval_pb2.FetchNodeTextsResponse(texts=[retrieval_pb2.NodeText(id="a")]), {"texts": 1}, ["a"]),
    "nodes": (
        retrieval_pb2.ExpandDependencyTreeResponse(nodes=[retrieval_pb2.ReachedNode(id="a")]),
        {"nodes": 1},
        ["a"],
    ),
    "paths": (retrieval_pb2.FindPathsResponse(nodes=[retrieval_pb2.PathNode(id="a")]), {"nodes": 1}, ["a"]),
}


@pytest.mark.parametrize("kind", RESPONSES)
def test_a_record_counts_and_names_what_was_read(tmp_path: Path, kind: str) -> None:
    response, counts, ids = RESPONSES[kind]
    AuditLog(Settings(audit="on", audit_file=tmp_path / "audit.jsonl", audit_ids=True)).answered(of("ann"), response)
    (line,) = (tmp_path / "audit.jsonl").read_text(encoding="utf-8").splitlines()
    record = json.loads(line)
    assert (record["counts"], record["ids"]) == (counts, ids)
    assert "secret" not in line


def test_no_name_breaks_a_line_and_no_access_makes_it_long(tmp_path: Path, log: AuditLog) -> None:
    odd = "line\nbreak, \u2028, \0, \ud800 and \U0001f600"
    names = frozenset(f"{number:04}" + "\U0001f600" * 252 for number in range(1_024))
    bounds = Bounds(cases=Names(names), workflows=Names(frozenset({"w"}), ("a",)))
    log.answered(of(odd, AccessContext("t", names, names, 1, bounds)), ANSWER)
    content = (tmp_path / "audit.jsonl").read_bytes()
    assert content.count(b"\n") == 1
    assert len(content) < 150_000
    record = json.loads(content)
    assert record["subject"] == odd
    assert record["access"]["acl_tags"] == sorted(names)[:32]
    assert (record["access"]["cases"], record["access"]["cases_count"]) == (sorted(names)[:32], 1_024)
    assert (record["access"]["workflows"], record["access"]["workflows_count"]) == (["a*", "w"], 2)
    assert not {"collections", "documents"} & set(record["access"])
    assert record["access"]["acl_tags_count"] == record["access"]["classification_labels_count"] == 1_024
