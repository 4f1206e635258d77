"""A server that knows its callers by tokens: what is refused, what is granted, and what its log tells."""

import base64
import hashlib
import hmac
import json
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from cryptography.hazmat.primitives import serialization
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from groundwire.v1 import index_pb2, index_pb2_grpc, retrieval_pb2, retrieval_pb2_grpc
from groundwire.v1.scope_pb2 import AccessContext, IndexScope
from groundwire_client import GroundwireClient, SearchType, TokenFile, UnauthenticatedError
from groundwire_index.nodes.node import NodeAccess
from groundwire_index.scope import Scope
from support.program import Server, run
from support.storage import NewStorage
from support.tiny_index import publish_tiny_index
from support.token_issuer import AUDIENCE, ISSUER, SigningKey, bearer, key_set

KEY, WITHDRAWN = SigningKey.rsa("2026-01"), SigningKey.ec("2025-12")
UNKNOWN, STRANGER = SigningKey.ec("2099-01"), SigningKey.ec("2025-12")
MAPPING = """
tenants: {claims: [{claim: tenant}]}
acl_tags: {claims: [{claim: [realm, roles]}]}
scopes: {always: ["shop::*"]}
administration: {claims: [{claim: [realm, roles], values: {indexers: ["shop::main"]}}]}
"""
QUERY = "invoice haystackneedle"
SEARCH = retrieval_pb2.SearchNodesRequest(
    scope=IndexScope(repository="shop", branch="main"),
    search_type=retrieval_pb2.SEARCH_TYPE_BM25,
    query=QUERY,
    top_k=20,
)
NODES = {
    "public": NodeAccess(),
    "tagged": NodeAccess(acl_tags=("finance",)),
    "owned": NodeAccess(tenant_id="acme"),
    "other": NodeAccess(tenant_id="x"),
}
MAX_TOKEN_BYTES = 16_384
MAX_LIFETIME_SECONDS = 86_400


def segment(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def handmade(header: dict[str, Any], secret: bytes | None = None) -> str:
    """A token that no library would make: unsigned, or with a MAC under what should be a public key."""
    _, payload, _ = KEY.token().split(".")
    signed = f"{segment(json.dumps(header).encode())}.{payload}"
    mac = b"" if secret is None else hmac.new(secret, signed.encode(), hashlib.sha256).digest()
    return f"{signed}.{segment(mac)}"


def public_pem() -> bytes:
    return bytes(
        KEY.private.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
    )


def tampered() -> str:
    header, payload, signature = KEY.token().split(".")
    claims = json.loads(base64.urlsafe_b64decode(payload + "=="))
    return f"{header}.{segment(json.dumps({**claims, 'tenant': 'acme'}).encode())}.{signature}"


def long_token(size: int) -> str:
    """A valid token of about `size` characters."""
    return KEY.token(padding="x" * ((size - len(KEY.token(padding=""))) * 3 // 4))


def soon(seconds: float) -> float:
    """That many seconds from now, in seconds since 1970."""
    return int(time.time()) + seconds


Metadata = tuple[tuple[str, str], ...]
HMAC_HEADER = {"alg": "HS256", "kid": KEY.key_id}
REFUSED: dict[str, tuple[str, Callable[[], Metadata]]] = {
    "no token": ("", lambda: ()),
    "expired": ("expired", lambda: bearer(KEY.token(exp=soon(-60)))),
    "expired long ago, with an old key": ("expired", lambda: bearer(WITHDRAWN.token(exp=soon(-(10**9))))),
    "not yet valid": ("not_yet_valid", lambda: bearer(KEY.token(nbf=soon(600)))),
    "issued in the future": ("not_yet_valid", lambda: bearer(KEY.token(iat=soon(600)))),
    "wrong issuer": ("issuer", lambda: bearer(KEY.token(iss="https://evil.example"))),
    "longer issuer": ("issuer", lambda: bearer(KEY.token(iss=f"{ISSUER}.evil"))),
    "wrong audience": ("audience", lambda: bearer(KEY.token(aud="payments"))),
    "wrong audiences": ("audience", lambda: bearer(KEY.token(aud=["payments", "ground"]))),
    "no expiry": ("claims", lambda: bearer(KEY.token(exp=None))),
    "no audience": ("claims", lambda: bearer(KEY.token(aud=None))),
    "no issuer": ("claims", lambda: bearer(KEY.token(iss=None))),
    "alg=none": ("algorithm", lambda: bearer(handmade({"alg": "none", "kid": KEY.key_id}))),
    "alg=None": ("algorithm", lambda: bearer(handmade({"alg": "None", "kid": KEY.key_id}))),
    "no alg": ("malformed algorithm", lambda: bearer(handmade({"kid": KEY.key_id}))),
    "alg is a list": ("algorithm", lambda: bearer(handmade({"alg": ["RS256"], "kid": KEY.key_id}))),
    "HS256 with the public key as PEM": ("algorithm", lambda: bearer(handmade(HMAC_HEADER, public_pem()))),
    "HS256 with the public key as JWK": (
        "algorithm",
        lambda: bearer(handmade(HMAC_HEADER, json.dumps(KEY.public).encode())),
    ),
    "RS256 header over an HMAC": (
        "signature",
        lambda: bearer(handmade({"alg": "RS256", "kid": KEY.key_id}, public_pem())),
    ),
    "another algorithm than the key's": ("key", lambda: bearer(handmade({"alg": "ES256", "kid": KEY.key_id}))),
    "unknown key": ("key", lambda: bearer(UNKNOWN.token())),
    "no key id": ("key", lambda: bearer(handmade({"alg": "RS256"}))),
    "a key of its own": ("key", lambda: bearer(UNKNOWN.token({"jwk": UNKNOWN.public, "jku": "http://127.0.0.1:1/"}))),
    "known key id, another key": ("signature", lambda: bearer(STRANGER.token())),
    "changed after signing": ("signature", lambda: bearer(tampered())),
    "critical extension": ("malformed", lambda: bearer(handmade({"alg": "RS256", "kid": KEY.key_id, "crit": ["exp"]}))),
    "for ever": ("lifetime", lambda: bearer(KEY.token(exp=10**30))),
    "for longer than may be": ("lifetime", lambda: bearer(KEY.token(exp=soon(MAX_LIFETIME_SECONDS + 90)))),
    "for ever, written as a text": ("claims", lambda: bearer(KEY.token(exp=str(10**30)))),
    "expiry written as a text": ("claims", lambda: bearer(KEY.token(exp=str(soon(300))))),
    "start written as a text": ("claims", lambda: bearer(KEY.token(nbf=str(soon(-60))))),
    "issue written as a text": ("claims", lambda: bearer(KEY.token(iat=str(soon(-60))))),
    "issue written as a truth": ("claims", lambda: bearer(KEY.token(iat=True))),
    "for ever, written as a fraction": ("lifetime", lambda: bearer(KEY.token(exp=1e300))),
    "infinite": ("malformed", lambda: bearer(KEY.token(exp=math.inf))),
    "no number": ("malformed", lambda: bearer(KEY.token(exp=math.nan))),
    "begins at no number": ("malformed", lambda: bearer(KEY.token(nbf=math.nan))),
    "logout token": ("type", lambda: bearer(KEY.token({"typ": "logout+jwt"}))),
    "proof of possession": ("type", lambda: bearer(KEY.token({"typ": "dpop+jwt"}))),
    "another media type": ("type", lambda: bearer(KEY.token({"typ": "application/json"}))),
    "type is a list": ("type", lambda: bearer(KEY.token({"typ": ["JWT"]}))),
    "type is null": ("type", lambda: bearer(handmade({"alg": "RS256", "kid": KEY.key_id, "typ": None}))),
    "oversized": ("too_long", lambda: bearer(long_token(MAX_TOKEN_BYTES + 100))),
    "oversized nonsense": ("too_long", lambda: bearer("x" * (MAX_TOKEN_BYTES + 1))),
    "nonsense": ("malformed", lambda: bearer("nonsense")),
    "dots": ("malformed", lambda: bearer("a.b.c")),
    "deep header": ("malformed", lambda: bearer(f"{segment(b'[' * 9_000)}.e30.e30")),
    "encrypted": ("malformed", lambda: bearer("eyJhbGciOiJSU0EtT0FFUCIsImVuYyI6IkEyNTZHQ00ifQ.a.b.c.d")),
    "no scheme": ("malformed", lambda: (("authorization", KEY.token()),)),
    "another scheme": ("malformed", lambda: (("authorization", f"Basic {KEY.token()}"),)),
    "two tokens in one": ("malformed", lambda: (("authorization", f"Bearer {KEY.token()}, Bearer {KEY.token()}"),)),
    "empty": ("malformed", lambda: (("authorization", "Bearer "),)),
    "twice, both valid": ("repeated", lambda: (*bearer(KEY.token()), *bearer(KEY.token()))),
    "twice, one valid": ("repeated", lambda: (*bearer("nonsense"), *bearer(KEY.token()))),
    "claim of another form": ("claims", lambda: bearer(KEY.token(realm={"roles": 7}))),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The key set and the mapping."""
    folder = tmp_path_factory.mktemp("jwt")
    (folder / "keys.json").write_text(key_set(KEY, WITHDRAWN))
    (folder / "access.yaml").write_text(MAPPING)
    return folder


@pytest.fixture(scope="module")
def server(new_storage: NewStorage, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that trusts the keys in the file, and logs all that it logs.

    It has the index `shop main`, and the same under `secret main`.
    """
    storage = new_storage(tmp_path_factory.mktemp("jwt-data"))
    for repository in ("shop", "secret"):
        scope = Scope(repository, "main", "v1")
        publish_tiny_index(storage.data, scope, NODES)
        storage.adopt(scope)
    environment = {
        "GROUNDWIRE_ACCESS_MODE": "jwt",
        "GROUNDWIRE_ACCESS_MAPPING": str(folder / "access.yaml"),
        "GROUNDWIRE_JWT_KEYS": str(folder / "keys.json"),
        "GROUNDWIRE_JWT_ISSUER": ISSUER,
        "GROUNDWIRE_JWT_AUDIENCES": f"other,{AUDIENCE}",
        "GROUNDWIRE_LOG_LEVEL": "debug",
    }
    with storage.server("--embedder", "none", "--allow-admin", environment=environment) as server:
        yield server


@pytest.fixture(scope="module")
def channel(server: Server) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(server.address) as channel:
        yield channel


def names_shown(channel: grpc.Channel, token: str, access: AccessContext | None = None) -> set[str]:
    """The names of the nodes that a search shows to the caller."""
    request = retrieval_pb2.SearchNodesRequest(access=access)
    request.MergeFrom(SEARCH)
    response = retrieval_pb2_grpc.RetrievalServiceStub(channel).SearchNodes(
        request, metadata=bearer(token), timeout=300
    )
    return {hit.id.rpartition("::")[2] for hit in response.hits}


def failure(call: grpc.Call) -> tuple[grpc.StatusCode, error_details_pb2.ErrorInfo, str]:
    """Status, details, and all that was sent besides as one text."""
    status = rpc_status.from_call(call)
    assert status is not None
    info = error_details_pb2.ErrorInfo.FromString(status.details[0].value)
    return call.code(), info, f"{status} {call.trailing_metadata()} {call.details()}"


@pytest.mark.parametrize("case", REFUSED)
def test_whoever_is_not_known_is_refused_and_learns_only_why(server: Server, channel: grpc.Channel, case: str) -> None:
    rules, make = REFUSED[case]
    metadata = make()
    call = retrieval_pb2_grpc.RetrievalServiceStub(channel).SearchNodes.future(SEARCH, metadata=metadata, timeout=300)
    code, info, sent = failure(call)
    assert code is grpc.StatusCode.UNAUTHENTICATED
    if metadata:
        assert info.reason == "ERROR_REASON_IDENTITY_REFUSED"
        assert info.metadata["rule"] in rules.split()
    else:
        assert info.reason == "ERROR_REASON_IDENTITY_REQUIRED"
    response_and_log = sent + "".join(server.log)
    for _, value in metadata:
        for part in value.removeprefix("Bearer ").split("."):
            assert len(part) < 8 or part[:40] not in response_and_log
    assert "evil" not in response_and_log
    assert "payments" not in response_and_log


ACCEPTED: dict[str, Callable[[], str]] = {
    "expired within the leeway": lambda: KEY.token(exp=soon(-10)),
    "valid within the leeway": lambda: KEY.token(nbf=soon(20)),
    "one of several audiences": lambda: KEY.token(aud=["payments", AUDIENCE]),
    "access token": lambda: KEY.token({"typ": "at+jwt"}),
    "fraction of a second": lambda: KEY.token(exp=soon(300.5)),
    "as long as may be valid": lambda: KEY.token(exp=soon(MAX_LIFETIME_SECONDS)),
    "no type": lambda: KEY.token({"typ": None}),
    "a type in other letters": lambda: KEY.token({"typ": "jwt"}),
    "access token by its media type": lambda: KEY.token({"typ": "application/AT+JWT"}),
    "the other key": WITHDRAWN.token,
    "as long as may be": lambda: long_token(MAX_TOKEN_BYTES - 10),
    "another algorithm of the key": lambda: SigningKey(KEY.key_id, "PS512", KEY.private).token(),
}


@pytest.mark.parametrize("case", ACCEPTED)
def test_tokens_that_keep_the_rules_are_accepted_again_and_again(channel: grpc.Channel, case: str) -> None:
    token = ACCEPTED[case]()
    assert [names_shown(channel, token) for _ in range(2)] == [{"public"}, {"public"}]


def test_the_scheme_is_written_as_one_likes(channel: grpc.Channel) -> None:
    metadata = (("authorization", f"bEARER {KEY.token()}"),)
    assert retrieval_pb2_grpc.RetrievalServiceStub(channel).SearchNodes(SEARCH, metadata=metadata, timeout=300).hits


def test_a_caller_sees_what_its_token_grants_and_requests_only_narrow_that(channel: grpc.Channel) -> None:
    token = KEY.token(tenant="acme", realm={"roles": ["finance"]})
    assert names_shown(channel, KEY.token()) == {"public"}
    assert names_shown(channel, token) == {"public", "tagged", "owned"}
    assert names_shown(channel, token, AccessContext()) == {"public"}
    assert names_shown(channel, token, AccessContext(tenant_id="acme")) == {"public", "owned"}
    assert names_shown(channel, token, AccessContext(acl_tags_any=["finance", "board"])) == {"public", "tagged"}
    assert names_shown(channel, KEY.token(), AccessContext(acl_tags_any=["finance"])) == {"public"}


def test_a_scope_that_is_not_granted_is_refused_alike_whether_or_not_it_is_there(channel: grpc.Channel) -> None:
    stub = retrieval_pb2_grpc.RetrievalServiceStub(channel)
    sent: list[str] = []
    for repository in ("secret", "absent"):
        request = retrieval_pb2.SearchNodesRequest(scope=IndexScope(repository=repository, branch="main"))
        code, info, _ = failure(stub.SearchNodes.future(request, metadata=bearer(KEY.token()), timeout=300))
        assert (code, info.reason) == (grpc.StatusCode.PERMISSION_DENIED, "ERROR_REASON_SCOPE_NOT_GRANTED")
        sent.append(str(info).replace(repository, ""))
    assert sent[0] == sent[1]
    listed = index_pb2_grpc.IndexServiceStub(channel).ListIndexes(
        index_pb2.ListIndexesRequest(), metadata=bearer(KEY.token()), timeout=300
    )
    assert [index.repository for index in listed.indexes] == ["shop"]


def test_a_pattern_means_what_is_granted(channel: grpc.Channel) -> None:
    stub = retrieval_pb2_grpc.RetrievalServiceStub(channel)

    def asking(*repositories: str) -> retrieval_pb2.SearchNodesRequest:
        scopes = [IndexScope(repository=repository, branch="main") for repository in repositories]
        request = retrieval_pb2.SearchNodesRequest(scopes=scopes)
        request.MergeFrom(SEARCH)
        request.ClearField("scope")
        return request

    def refusal(*repositories: str) -> tuple[grpc.StatusCode, error_details_pb2.ErrorInfo, str]:
        return failure(stub.SearchNodes.future(asking(*repositories), metadata=bearer(KEY.token()), timeout=300))

    (only,) = stub.SearchNodes(asking("*"), metadata=bearer(KEY.token()), timeout=300).scopes
    assert only.repository == "shop"
    refused = [refusal("shop", repository) for repository in ("secret", "absent")]
    assert [code for code, _, _ in refused] == [grpc.StatusCode.PERMISSION_DENIED] * 2
    hidden, absent = (refusal("shop", pattern) for pattern in ("secret*", "absent*"))
    assert hidden[0] is absent[0] is grpc.StatusCode.NOT_FOUND
    assert str(hidden[1]).replace("secret", "absent") == str(absent[1])


def test_administration_has_a_grant_of_its_own(channel: grpc.Channel) -> None:
    activate = index_pb2_grpc.IndexServiceStub(channel).ActivateIndex
    request = index_pb2.ActivateIndexRequest(scope=IndexScope(repository="shop", branch="main", active_index="v1"))
    indexer, reader = KEY.token(realm={"roles": ["indexers"]}), KEY.token(realm={"roles": ["finance"]})
    assert activate(request, metadata=bearer(indexer), timeout=300).previous_version == "v1"
    code, info, _ = failure(activate.future(request, metadata=bearer(reader), timeout=300))
    assert (code, info.reason) == (grpc.StatusCode.PERMISSION_DENIED, "ERROR_REASON_ADMINISTRATION_NOT_GRANTED")


def test_the_client_and_the_command_line_send_the_token_of_a_file(server: Server, tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(KEY.token(tenant="acme") + "\n")
    scope = IndexScope(repository="shop", branch="main")
    with GroundwireClient(server.address, token=TokenFile(path), timeout=300) as client:
        assert len(client.search(scope, "invoice", search_type=SearchType.SEARCH_TYPE_BM25).hits) == 2
        narrowed = client.search(scope, "invoice", search_type=SearchType.SEARCH_TYPE_BM25, access=AccessContext())
        assert len(narrowed.hits) == 1
    with GroundwireClient(server.address, timeout=300) as client, pytest.raises(UnauthenticatedError):
        client.search(scope, "invoice", search_type=SearchType.SEARCH_TYPE_BM25)
    arguments = ("search", "invoice", "-r", "shop", "-b", "main", "--type", "bm25", "--json")
    done = run(*arguments, "--server", server.address, environment={"GROUNDWIRE_TOKEN_FILE": str(path)})
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["hits"]) == 2


def test_a_token_stays_refused_however_often_it_is_sent_and_accepted_ones_are_not_logged(
    server: Server, channel: grpc.Channel
) -> None:
    stub = retrieval_pb2_grpc.RetrievalServiceStub(channel)
    expired, valid = KEY.token(exp=soon(-60)), KEY.token(tenant="tenant-of-the-token")
    for _ in range(3):
        call = stub.SearchNodes.future(SEARCH, metadata=bearer(expired), timeout=300)
        assert call.code() is grpc.StatusCode.UNAUTHENTICATED
        names_shown(channel, valid)
    log = "".join(server.log)
    assert "ERROR_REASON_IDENTITY_REFUSED" in log
    for secret in (*valid.split("."), "tenant-of-the-token", "haystackneedle", "Bearer"):
        assert secret not in log


def test_a_withdrawn_key_is_no_longer_believed_though_its_token_was_verified_before(
    folder: Path, channel: grpc.Channel
) -> None:
    token = WITHDRAWN.token()
    assert names_shown(channel, token) == {"public"}
    (folder / "keys.json").write_text(key_set(KEY))
    stub = retrieval_pb2_grpc.RetrievalServiceStub(channel)
    end = time.monotonic() + 300
    while (call := stub.SearchNodes.future(SEARCH, metadata=bearer(token), timeout=300)).code() is grpc.StatusCode.OK:
        assert time.monotonic() < end
        time.sleep(0.05)
    code, info, _ = failure(call)
    assert (code, info.metadata["rule"]) == (grpc.StatusCode.UNAUTHENTICATED, "key")
    assert names_shown(channel, KEY.token()) == {"public"}
    (folder / "keys.json").write_text(key_set(KEY, WITHDRAWN))
