"""Arguments of a wrong type are told before a call: which, what it is, and what it must be."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

import pytest

from groundwire.v1 import query_pb2, retrieval_pb2
from groundwire_client import AsyncGroundwireClient, GroundwireClient, IndexScope, NodeFilter, ReachedNode

if TYPE_CHECKING:
    from collections.abc import Callable

    from client.conftest import Caller, FakeServer

SCOPE = IndexScope(repository="shop", branch="main")
WRONG: list[tuple[Callable[[Any], Any], str]] = [
    (lambda client: client.search("shop", "vat"), "scope must be of type IndexScope, not str 'shop'"),
    (lambda client: client.search(None, "vat"), "scope must be of type IndexScope, not None"),
    (lambda client: client.search(SCOPE, 5), "query must be a string, not int 5"),
    (lambda client: client.search(SCOPE, "vat", top_k="5"), "top_k must be a whole number, not str '5'"),
    (lambda client: client.search(SCOPE, "vat", top_k=2.5), "top_k must be a whole number, not float 2.5"),
    (lambda client: client.search(SCOPE, "vat", top_k=True), "top_k must be a whole number, not bool True"),
    (lambda client: client.search(SCOPE, "vat", explain=1), "explain must be True or False, not int 1"),
    (
        lambda client: client.search(SCOPE, "vat", search_type="bm25"),
        "search_type must be a value of SearchType, such as SearchType.SEARCH_TYPE_BM25, not str 'bm25'",
    ),
    (
        lambda client: client.search(SCOPE, "vat", search_type="words"),
        "search_type must be a value of SearchType, such as SearchType.SEARCH_TYPE_SEMANTIC, not str 'words'",
    ),
    (lambda client: client.search(SCOPE, "vat", filter=["cs"]), "filter must be a NodeFilter, or a mapping"),
    (lambda client: client.search(SCOPE, "vat", filter={"kind": 3}), "kind: 3 must be a string or a list of strings"),
    (lambda client: client.search(SCOPE, "vat", access="acme"), "access must be of type AccessContext, not str 'acme'"),
    (lambda client: client.search(SCOPE, "vat", timeout="5"), "timeout must be a number of seconds, not str '5'"),
    (lambda client: client.search(SCOPE, query_vector=[1, "2"]), r"query_vector\[1\] must be a number, not str '2'"),
    (lambda client: client.query(SCOPE, "vat", now="today"), "now must be a datetime, not str 'today'"),
    (lambda client: client.query(SCOPE, "vat", hybrid={}), "hybrid must be of type HybridParameters, not dict {}"),
    (lambda client: client.query(SCOPE, "vat", retrievers="dense"), "retrievers must be a sequence of values"),
    (lambda client: client.expand(SCOPE, "a"), "seed_ids must be a sequence of strings, not str 'a'"),
    (lambda client: client.expand(SCOPE, ["a", None]), r"seed_ids\[1\] must be a string, not None"),
    (lambda client: client.expand(SCOPE, ["a"], edge_allowlist="*"), "edge_allowlist must be a sequence of strings"),
    (lambda client: client.expand(SCOPE, ["a"], min_confidence="1"), "min_confidence must be a number, not str '1'"),
    (lambda client: client.find_paths(SCOPE, ["a"], 7), "to_ids must be a sequence of strings, not int 7"),
    (lambda client: client.fetch(SCOPE, ["a"], ["b"]), r"nodes\[0\] must be of type ReachedNode, not str 'b'"),
    (lambda client: client.evidence(SCOPE, None), "question must be a string, not None"),
    (lambda client: client.evidence(SCOPE, "vat", "4"), "budget_tokens must be a whole number, not str '4'"),
    (lambda client: client.list_indexes(7), "repository must be a string, not int 7"),
    (lambda client: client.activate_index("v1"), "scope must be of type IndexScope, not str 'v1'"),
    (lambda client: client.search(), "missing a required argument: 'scope'"),
]  # fmt: skip


@pytest.mark.parametrize(("action", "message"), WRONG, ids=[message for _, message in WRONG])
def test_a_wrong_type_is_told_before_any_call(
    server: FakeServer, call: Caller, action: Callable[[Any], Any], message: str
) -> None:
    with pytest.raises(TypeError, match=rf"^((Async)?GroundwireClient\.[a-z_]+: )?{message}"):
        call(server.target, action)
    assert server.attempts == []


def test_an_unknown_argument_is_told_with_its_method() -> None:
    with GroundwireClient("localhost:1") as client, pytest.raises(TypeError) as caught:
        client.query(SCOPE, "vat", topk=5)  # type: ignore[call-arg]
    assert str(caught.value) == "GroundwireClient.query: got an unexpected keyword argument 'topk'"


@pytest.mark.parametrize("kind", [GroundwireClient, AsyncGroundwireClient])
def test_an_unknown_argument_of_a_client_is_told_with_those_that_it_takes(kind: Any) -> None:
    takes = "; it takes target, and by name credentials, timeout, metadata, token, "
    with pytest.raises(TypeError, match=f"^{kind.__name__}: got an unexpected keyword argument 'tls'{takes}"):
        kind("localhost:1", tls=True)
    with pytest.raises(TypeError, match=f"^{kind.__name__}: too many positional arguments{takes}"):
        kind("localhost", 50051)


NO_ADDRESSES = (
    "http://localhost:50051 HTTP://localhost:1 grpc://localhost:1 ftp://localhost:1 localhost localhost: "
    "localhost:http localhost:0 localhost:99999 :50051 ::1 ::1:50051 [::1] [::1]: localhost:50051/ /localhost:50051"
).split()


@pytest.mark.parametrize("target", [*NO_ADDRESSES, " ", " localhost:50051", "local host:50051", "localhost:50051\n"])
def test_an_address_of_another_form_is_told(target: str) -> None:
    message = (
        f"server: {target!r} is no address: give host and port alone, such as 'localhost:50051' or '[::1]:50051'; "
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        GroundwireClient(target)


@pytest.mark.parametrize("target", ["a.example:1", "[::1]:65535", "dns:///a:1", "unix:/tmp/a", "ipv4:127.0.0.1:1"])
def test_an_address_of_gRPC_is_taken(target: str) -> None:
    GroundwireClient(target).close()


def test_a_closed_client_says_so(server: FakeServer) -> None:
    with GroundwireClient(server.target) as client:
        pass
    with pytest.raises(
        ValueError, match=r"^GroundwireClient.query: this GroundwireClient is closed: call within its `with` block"
    ):
        client.query(SCOPE, "vat")

    async def call_it() -> None:
        async with AsyncGroundwireClient(server.target) as other:
            pass
        await other.query(SCOPE, "vat")

    with pytest.raises(ValueError, match=r"^AsyncGroundwireClient.query: this AsyncGroundwireClient is closed"):
        asyncio.run(call_it())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"target": 50051}, "target must be an address such as 'localhost:50051', not int 50051"),
        ({"credentials": "ca.pem"}, "credentials must be of type TLS, not str 'ca.pem'"),
        ({"token": 7}, "token must be a string or a function that returns one, not int"),
        ({"access": "acme"}, "access must be of type AccessContext, not str 'acme'"),
        ({"timeout": "5"}, "timeout must be a number of seconds, not str '5'"),
        ({"metadata": {"a": "b"}}, "metadata must be a list of pairs, .*"),
        ({"metadata": [("a", 1)]}, "metadata must be a list of pairs, .*"),
        ({"metadata": [("A", "b")]}, "metadata must be a list of pairs, .*"),
        ({"metadata": [("a", "b", "c")]}, "metadata must be a list of pairs, .*"),
    ],
)
def test_a_client_of_wrong_types_is_not_made(given: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=f"^{message}$"):
        GroundwireClient(**{"target": "localhost:1", **given})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"top_k": 2**31}, "top_k must fit 32 bits; out of range is 2147483648"),
        ({"query": "\udcff"}, "query must have no surrogates"),
    ],
)
def test_what_protobuf_cannot_carry_is_a_value_error(
    server: FakeServer, call: Caller, arguments: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        call(server.target, lambda client: client.search(SCOPE, **arguments))
    assert server.attempts == []


def test_iterables_are_read_once(server: FakeServer, call: Caller) -> None:
    call(
        server.target,
        lambda client: client.fetch(SCOPE, (id_ for id_ in "ab"), (ReachedNode(id=id_, depth=1) for id_ in "cd")),
    )
    request = server.attempts[0].request
    assert isinstance(request, retrieval_pb2.FetchNodeTextsRequest)
    assert (list(request.seed_ids), [node.id for node in request.nodes]) == (["a", "b"], ["c", "d"])


def test_a_filter_may_be_a_mapping(server: FakeServer, call: Caller) -> None:
    loose = {"language": "csharp", "is_test": False, "team": "tax"}
    call(server.target, lambda client: client.query(SCOPE, "vat", filter=loose))
    request = server.attempts[0].request
    assert isinstance(request, query_pb2.QueryRequest)
    expected = NodeFilter(languages=["csharp"], is_test=False)
    expected.metadata.update({"team": "tax"})
    assert request.filter == expected
