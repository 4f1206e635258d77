"""What callers of each kind meet at Envoy: gRPC, gRPC-Web from browsers, JSON from curl."""

import base64
import json
import re
import ssl
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import grpc
import pytest
from google.protobuf import json_format
from google.rpc import error_details_pb2, status_pb2
from grpc_health.v1 import health_pb2

from groundwire.v1 import retrieval_pb2, retrieval_pb2_grpc
from groundwire.v1.scope_pb2 import IndexScope
from groundwire_client import TLS, GroundwireClient, SearchType
from support.certificates import Authority
from support.mesh import CALLER_URI, Mesh, secure_channel

pytestmark = pytest.mark.slow

if TYPE_CHECKING:
    from mesh.conftest import Post

SEARCH = "/groundwire.v1.RetrievalService/SearchNodes"
REQUEST = retrieval_pb2.SearchNodesRequest(
    scope=IndexScope(repository="shop", branch="main"),
    search_type=retrieval_pb2.SEARCH_TYPE_BM25,
    query="invoice",
    top_k=3,
)
AS_JSON = {
    "scope": {"repository": "shop", "branch": "main"},
    "searchType": "SEARCH_TYPE_BM25",
    "query": "invoice",
    "topK": 3,
}
TRAILERS = 0x80


def frame(message: bytes) -> bytes:
    return b"\0" + len(message).to_bytes(4, "big") + message


def text_decoded(body: bytes) -> bytes:
    """The bytes of a gRPC-Web text body, whose parts are encoded one by one."""
    return b"".join(map(base64.b64decode, re.findall(rb"[^=]+=*", body)))


def frames(body: bytes) -> dict[int, bytes]:
    """The frames of a gRPC-Web body, by their flags."""
    by_flags: dict[int, bytes] = {}
    while body:
        size = int.from_bytes(body[1:5], "big")
        by_flags[body[0]] = body[5 : 5 + size]
        body = body[5 + size :]
    return by_flags


def search(channel: grpc.Channel, request: retrieval_pb2.SearchNodesRequest = REQUEST, **options: object) -> bytes:
    call = retrieval_pb2_grpc.RetrievalServiceStub(channel).SearchNodes
    return call(request, timeout=300, **options).SerializeToString(deterministic=True)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def expected(mesh: Mesh) -> bytes:
    """What a server answers without Envoy between."""
    with secure_channel(mesh.addresses[0], mesh.identities.envoy) as channel:
        return search(channel)


def test_grpc_answers_as_the_server_itself_does(mesh: Mesh, expected: bytes) -> None:
    with mesh.channel() as channel:
        assert search(channel) == expected


def test_the_python_client_needs_only_addresses_and_files(mesh: Mesh) -> None:
    caller = mesh.identities.caller
    target = f"localhost:{mesh.envoy.address.rpartition(':')[2]}"
    with GroundwireClient(
        target, credentials=TLS(caller.authority, caller.certificate, caller.key), timeout=300
    ) as client:
        assert [index.version for index in client.list_indexes().indexes] == ["v1", "v2"]
        assert (
            client.search(
                IndexScope(repository="shop", branch="main"), "invoice", search_type=SearchType.SEARCH_TYPE_BM25
            ).index
            == "v2"
        )


def test_errors_keep_their_details(mesh: Mesh) -> None:
    with mesh.channel() as channel, pytest.raises(grpc.RpcError) as caught:
        search(channel, retrieval_pb2.SearchNodesRequest())
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    trailers = caught.value.trailing_metadata() or ()
    (details,) = (each.value for each in trailers if each.key == "grpc-status-details-bin")
    assert isinstance(details, bytes)
    info, bad_request = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    packed_info, packed_request = status_pb2.Status.FromString(details).details
    assert packed_info.Unpack(info)
    assert packed_request.Unpack(bad_request)
    assert (info.reason, info.domain) == ("ERROR_REASON_FIELD_REQUIRED", "groundwire")
    assert [violation.field for violation in bad_request.field_violations] == ["scope", "top_k", "query"]


@pytest.mark.parametrize("content_type", ["application/grpc-web+proto", "application/grpc-web-text"])
def test_grpc_web_answers_in_one_body(post: "Post", expected: bytes, content_type: str) -> None:
    text = content_type.endswith("text")
    sent = frame(REQUEST.SerializeToString())
    answer = post(SEARCH, base64.b64encode(sent) if text else sent, content_type, accept=content_type)
    assert answer.status == 200
    by_flags = frames(text_decoded(answer.body) if text else answer.body)
    response = retrieval_pb2.SearchNodesResponse.FromString(by_flags[0])
    assert response.SerializeToString(deterministic=True) == expected
    assert b"grpc-status:0" in by_flags[TRAILERS]


def test_grpc_web_tells_errors(post: "Post") -> None:
    answer = post(SEARCH, frame(b""), "application/grpc-web+proto")
    assert (answer.status, answer.headers["grpc-status"]) == (200, "3")
    details = answer.headers["grpc-status-details-bin"]
    status = status_pb2.Status.FromString(base64.b64decode(details + "=" * (-len(details) % 4)))
    assert status.code == grpc.StatusCode.INVALID_ARGUMENT.value[0]


def test_json_answers_the_same(post: "Post", expected: bytes) -> None:
    answer = post(SEARCH, json.dumps(AS_JSON))
    response = retrieval_pb2.SearchNodesResponse.FromString(expected)
    assert answer.status == 200
    assert len(response.hits) == 3
    assert answer.json == json_format.MessageToDict(response, always_print_fields_with_no_presence=True)


def test_every_service_answers_json(post: "Post") -> None:
    listed = post("/groundwire.v1.IndexService/ListIndexes", "{}")
    assert [index["version"] for index in listed.json["indexes"]] == ["v1", "v2"]
    request = {"scope": AS_JSON["scope"], "query": "invoice", "hybrid": {"topK": 1}}
    queried = post("/groundwire.v1.QueryService/Query", json.dumps(request))
    assert queried.status == 200
    assert [match["rank"] for match in queried.json["matches"]] == [1]


@pytest.mark.parametrize(
    ("changed", "status", "code", "reason"),
    [
        ({"topK": -1}, 400, 3, "ERROR_REASON_VALUE_OUT_OF_RANGE"),
        ({"scope": {"repository": "absent", "branch": "main"}}, 404, 5, "ERROR_REASON_SCOPE_NOT_FOUND"),
        ({"searchType": "SEARCH_TYPE_SEMANTIC"}, 400, 9, "ERROR_REASON_VECTORS_MISSING"),
    ],
)
def test_json_tells_errors_by_http_status_with_their_details(
    post: "Post", changed: dict[str, object], status: int, code: int, reason: str
) -> None:
    answer = post(SEARCH, json.dumps({**AS_JSON, **changed}))
    assert (answer.status, answer.json["code"], answer.headers["content-type"]) == (status, code, "application/json")
    assert answer.json["details"][0]["reason"] == reason


@pytest.mark.parametrize(
    ("path", "body", "content_type", "status"),
    [
        (SEARCH, "{", "application/json", 400),
        (SEARCH, '{"topK": "many"}', "application/json", 400),
        (f"{SEARCH}?absent=3", json.dumps(AS_JSON), "application/json", 400),
        (SEARCH, json.dumps({**AS_JSON, "query": "a" * 4_300_000}), "application/json", 429),
        ("/groundwire.v1.RetrievalService/Absent", "{}", "application/json", 404),
        ("/groundwire.v1.RetrievalService%2fSearchNodes", "{}", "application/json", 400),
        ("/absent", "{}", "application/json", 404),
        # What a page of another origin could send without asking first.
        (SEARCH, json.dumps(AS_JSON), "text/plain", 415),
        ("/groundwire.v1.IndexService/DeleteIndex", "{}", "application/x-www-form-urlencoded", 415),
    ],
)
def test_what_is_no_call_is_refused(post: "Post", path: str, body: str, content_type: str, status: int) -> None:
    assert post(path, body, content_type).status == status


def test_a_deadline_holds_for_json_too(post: "Post") -> None:
    # Envoy's, by how far the call has come when the time is over.
    assert post(SEARCH, json.dumps(AS_JSON), **{"grpc-timeout": "1u"}).status in (408, 504)


def test_requests_above_the_servers_bound_are_refused_by_it(mesh: Mesh) -> None:
    large = retrieval_pb2.SearchNodesRequest(query="a" * 4_194_304)
    with mesh.channel() as channel, pytest.raises(grpc.RpcError) as caught:
        search(channel, large)
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


def test_health_is_answered_and_reflection_is_not(mesh: Mesh) -> None:
    with mesh.channel() as channel:
        check: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary("/grpc.health.v1.Health/Check")
        health = health_pb2.HealthCheckResponse.FromString(check(b"", timeout=300))
        assert health.status == health_pb2.HealthCheckResponse.SERVING
        reflect: grpc.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream(
            "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
        )
        with pytest.raises(grpc.RpcError) as caught:
            next(reflect(iter([b""]), timeout=300))
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


def test_without_a_certificate_nobody_is_served(mesh: Mesh, post: "Post") -> None:
    with pytest.raises((ssl.SSLError, ConnectionError)):
        post(SEARCH, json.dumps(AS_JSON), caller=None)
    credentials = grpc.ssl_channel_credentials(mesh.identities.caller.authority.read_bytes())
    options = [("grpc.ssl_target_name_override", "localhost"), ("grpc.enable_retries", 0)]
    with (
        grpc.secure_channel(mesh.envoy.address, credentials, options) as channel,
        pytest.raises(grpc.RpcError) as caught,
    ):
        search(channel)
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE


@pytest.mark.parametrize(("valid_from", "valid_until"), [(-2, -1), (1, 2)])
def test_a_certificate_is_refused_before_and_after_its_time(
    mesh: Mesh, post: "Post", valid_from: int, valid_until: int
) -> None:
    caller = mesh.identities.authority.issue(
        f"valid-from-{valid_from}",
        uris=(CALLER_URI,),
        valid_from=timedelta(days=valid_from),
        valid_until=timedelta(days=valid_until),
    )
    with pytest.raises((ssl.SSLError, ConnectionError)):
        post(SEARCH, json.dumps(AS_JSON), caller=caller)


def test_a_certificate_of_another_authority_is_refused(mesh: Mesh, post: "Post", tmp_path: Path) -> None:
    caller = Authority.create(tmp_path, "rogue").issue("caller", uris=(CALLER_URI,))
    with pytest.raises((ssl.SSLError, ConnectionError)):
        post(SEARCH, json.dumps(AS_JSON), caller=caller)


def test_the_server_is_not_reached_without_a_certificate_either(mesh: Mesh) -> None:
    credentials = grpc.ssl_channel_credentials(mesh.identities.caller.authority.read_bytes())
    target = mesh.addresses[0].replace("127.0.0.1", "localhost")
    with grpc.secure_channel(target, credentials) as channel, pytest.raises(grpc.RpcError) as caught:
        search(channel)
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE


def test_the_access_log_tells_who_called_what_and_no_more(mesh: Mesh, post: "Post") -> None:
    secret = "Tr0ub4dor"
    body = {**AS_JSON, "query": secret, "access": {"aclTagsAny": [secret]}}
    identified = {"x-request-id": "the-call", "authorization": f"Bearer {secret}"}
    post(f"{SEARCH}?x={secret}", json.dumps(body), **identified)
    post(SEARCH, json.dumps(body), **identified)
    for line in mesh.envoy.await_accesses(2, request_id="the-call"):
        assert (line["caller"], line["path"], line["protocol"]) == (CALLER_URI, SEARCH, "HTTP/1.1")
        assert secret not in json.dumps(line)
