"""Who read what: a record for each call, whatever becomes of it, under load and on a full disk."""

import json
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import pytest

from groundwire.v1 import index_pb2, index_pb2_grpc, query_pb2, query_pb2_grpc, retrieval_pb2, retrieval_pb2_grpc
from groundwire.v1.scope_pb2 import IndexScope
from support.jsonl import edge, node
from support.program import Server, run_ok, write_jsonl
from support.token_issuer import SigningKey, bearer, token_environment

KEY = SigningKey.ec("key")
MAPPING = """
tenants: {claims: [{claim: tenant}]}
acl_tags: {claims: [{claim: groups}]}
scopes: {always: ["shop::*"]}
administration: {claims: [{claim: groups, values: {admins: ["shop::main"]}}]}
"""
SHOP = IndexScope(repository="shop", branch="main")
CALLERS, CALLS = 8, 50
LOG_SECONDS = 300
SECRET = "secret-words-of-a-text"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with two nodes and an edge."""
    folder = tmp_path_factory.mktemp("audited")
    nodes = [node(name, f"void {SECRET} {name}", None) for name in "AB"]
    where = ("--repository", "shop", "--branch", "main", "--data", folder / "data")
    for version in ("v1", "v2"):
        source = write_jsonl(folder / "nodes.jsonl", [*nodes, edge("cs::A", "cs::B", "Calls")])
        run_ok("index", source, *where, "--embedder", "none", "--version", version)
    return folder / "data"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A server that demands tokens and records calls to `tmp_path / "audit.jsonl"`."""
    return {
        **token_environment(tmp_path, KEY, MAPPING),
        "GROUNDWIRE_ALLOW_ADMIN": "true",
        "GROUNDWIRE_AUDIT": "required",
        "GROUNDWIRE_AUDIT_FILE": str(tmp_path / "audit.jsonl"),
    }


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def lines_with(server: Server, event: str) -> int:
    """How many lines of a server that has ended tell of an event."""
    assert server.log_ended.wait(LOG_SECONDS)
    return sum(event in line for line in server.log)


def searched(channel: grpc.Channel, subject: str, **claims: Any) -> grpc.StatusCode:
    request = retrieval_pb2.SearchNodesRequest(
        scope=SHOP, search_type=retrieval_pb2.SEARCH_TYPE_BM25, query="void", top_k=5
    )
    return ended(retrieval_pb2_grpc.RetrievalServiceStub(channel).SearchNodes, request, subject, **claims)


def ended(method: Any, request: Any, subject: str, **claims: Any) -> grpc.StatusCode:
    """How a call ends that a subject makes; "" brings no token."""
    try:
        method(request, timeout=300, metadata=bearer(KEY.token(sub=subject, **claims)) if subject else ())
    except grpc.RpcError as error:
        return error.code()
    return grpc.StatusCode.OK


def test_a_record_says_who_read_what_and_never_what_it_says(
    data: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    with (
        Server(data, "--embedder", "none", environment=environment) as server,
        grpc.insecure_channel(server.address) as channel,
    ):
        retrieval, indexes = retrieval_pb2_grpc.RetrievalServiceStub(channel), index_pb2_grpc.IndexServiceStub(channel)
        assert searched(channel, "alice", groups=["dev"]) is grpc.StatusCode.OK
        fetch = retrieval_pb2.FetchNodeTextsRequest(scope=SHOP, seed_ids=["shop::main::cs::A"], budget_tokens=99)
        assert ended(retrieval.FetchNodeTexts, fetch, "alice") is grpc.StatusCode.OK
        query = query_pb2.QueryRequest(scope=SHOP, query=SECRET, hybrid=query_pb2.HybridParameters())
        assert ended(query_pb2_grpc.QueryServiceStub(channel).Query, query, "bob") is grpc.StatusCode.OK
        assert ended(indexes.ListIndexes, index_pb2.ListIndexesRequest(), "bob") is grpc.StatusCode.OK
        elsewhere = retrieval_pb2.FetchNodeTextsRequest(scope=IndexScope(repository="bank", branch="main"))
        assert ended(retrieval.FetchNodeTexts, elsewhere, "bob") is grpc.StatusCode.PERMISSION_DENIED
        assert searched(channel, "") is grpc.StatusCode.UNAUTHENTICATED
        pinned = IndexScope(repository="shop", branch="main", active_index="v1")
        activate = index_pb2.ActivateIndexRequest(scope=pinned)
        assert ended(indexes.ActivateIndex, activate, "root", groups=["admins"]) is grpc.StatusCode.OK
        delete = index_pb2.DeleteIndexRequest(scope=pinned)
        assert ended(indexes.DeleteIndex, delete, "root", groups=["admins"]) is grpc.StatusCode.FAILED_PRECONDITION
    written = records(tmp_path / "audit.jsonl")
    facts = [
        (r["method"].rpartition("/")[2], r["subject"], r["code"], r.get("index"), r.get("counts")) for r in written
    ]
    assert facts == [
        ("SearchNodes", "alice", "OK", "v2", {"hits": 2}),
        ("FetchNodeTexts", "alice", "OK", "v2", {"texts": 1}),
        ("Query", "bob", "OK", "v2", {"matches": 2, "parents": 0}),
        ("ListIndexes", "bob", "OK", "", {"indexes": 2}),
        ("FetchNodeTexts", "bob", "PERMISSION_DENIED", None, None),
        ("SearchNodes", "", "UNAUTHENTICATED", None, None),
        ("ActivateIndex", "root", "BEGUN", None, None),
        ("ActivateIndex", "root", "OK", "", {}),
        ("DeleteIndex", "root", "BEGUN", None, None),
        ("DeleteIndex", "root", "FAILED_PRECONDITION", None, None),
    ]
    assert written[0]["access"] == {
        "tenant_id": "",
        "acl_tags": ["dev"],
        "acl_tags_count": 1,
        "classification_labels": [],
        "classification_labels_count": 0,
        "clearance_level": 0,
    }
    assert (written[0]["repository"], written[0]["branch"], written[0]["active_index"]) == ("shop", "main", "")
    assert (written[4]["repository"], written[4]["reason"]) == ("bank", "ERROR_REASON_SCOPE_NOT_GRANTED")
    assert written[6]["active_index"] == "v1"
    assert all(record["peer"] and record["time"] and record["request_id"] for record in written)
    content = (tmp_path / "audit.jsonl").read_text(encoding="utf-8")
    assert SECRET not in content
    assert "Bearer" not in content
    assert "cs::A" not in content
    assert (tmp_path / "audit.jsonl").stat().st_mode & 0o777 == 0o600


def test_ids_are_told_where_the_settings_ask_for_them(data: Path, tmp_path: Path, environment: dict[str, str]) -> None:
    with (
        Server(data, "--embedder", "none", environment={**environment, "GROUNDWIRE_AUDIT_IDS": "true"}) as server,
        grpc.insecure_channel(server.address) as channel,
    ):
        assert searched(channel, "alice") is grpc.StatusCode.OK
    (record,) = records(tmp_path / "audit.jsonl")
    assert sorted(record["ids"]) == ["shop::main::cs::A", "shop::main::cs::B"]


def test_of_many_callers_at_once_through_workers_and_rotations_no_call_is_missing_and_no_line_torn(
    data: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    made: Counter[tuple[str, str]] = Counter()
    lock = threading.Lock()

    def ask(caller: int) -> None:
        for number in range(CALLS):
            subject = f"caller-{caller}"
            with grpc.insecure_channel(server.address, [("grpc.use_local_subchannel_pool", 1)]) as channel:
                code = searched(channel, subject, **({"exp": 1} if number % 5 == 0 else {}))
            with lock:
                made["" if code is grpc.StatusCode.UNAUTHENTICATED else subject, code.name] += 1
            if caller == 0 and number % 10 == 5:
                (tmp_path / "audit.jsonl").rename(tmp_path / f"audit.{number}.jsonl")

    with (
        Server(data, "--embedder", "none", "--workers", "2", environment=environment) as server,
        ThreadPoolExecutor(CALLERS) as threads,
    ):
        list(threads.map(ask, range(CALLERS)))
    audited = [record for file in tmp_path.glob("audit*.jsonl") for record in records(file)]
    assert Counter((record["subject"], record["code"]) for record in audited) == made
    assert len({record["request_id"] for record in audited}) == CALLERS * CALLS
    assert len(list(tmp_path.glob("audit*.jsonl"))) > 2


@pytest.fixture
def full(tmp_path: Path, environment: dict[str, str]) -> dict[str, str]:
    """The environment of a server whose audit goes to a disk that is full."""
    (tmp_path / "audit.jsonl").symlink_to("/dev/full")
    return environment


def test_where_records_are_required_a_full_disk_withholds_answers_and_changes_nothing(
    data: Path, full: dict[str, str]
) -> None:
    with (
        Server(data, "--embedder", "none", environment=full) as server,
        grpc.insecure_channel(server.address) as channel,
    ):
        indexes = index_pb2_grpc.IndexServiceStub(channel)
        assert searched(channel, "alice") is grpc.StatusCode.UNAVAILABLE
        assert searched(channel, "") is grpc.StatusCode.UNAUTHENTICATED
        pinned = IndexScope(repository="shop", branch="main", active_index="v1")
        before = run_ok("indexes", "--data", data, "--json")
        activate = index_pb2.ActivateIndexRequest(scope=pinned)
        assert ended(indexes.ActivateIndex, activate, "root", groups=["admins"]) is grpc.StatusCode.UNAVAILABLE
        assert run_ok("indexes", "--data", data, "--json") == before
    assert lines_with(server, "calls cannot be recorded") == 1


def test_a_disk_that_has_room_again_is_told_and_answers_go_on(data: Path, tmp_path: Path, full: dict[str, str]) -> None:
    with (
        Server(data, "--embedder", "none", environment=full) as server,
        grpc.insecure_channel(server.address) as channel,
    ):
        assert searched(channel, "alice") is grpc.StatusCode.UNAVAILABLE
        (tmp_path / "audit.jsonl").unlink()
        assert searched(channel, "alice") is grpc.StatusCode.OK
    assert lines_with(server, "calls can be recorded again") == 1
    (record,) = records(tmp_path / "audit.jsonl")
    assert record["code"] == "OK"


def test_where_records_are_not_required_a_full_disk_is_told_and_answers_go_on(data: Path, full: dict[str, str]) -> None:
    environment = {**full, "GROUNDWIRE_AUDIT": "on"}
    with (
        Server(data, "--embedder", "none", environment=environment) as server,
        grpc.insecure_channel(server.address) as channel,
    ):
        assert [searched(channel, "alice") for _ in range(3)] == [grpc.StatusCode.OK] * 3
    assert lines_with(server, "calls cannot be recorded") == 1
