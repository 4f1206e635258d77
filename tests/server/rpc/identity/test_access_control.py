"""What reaches the engine once it is known who calls: which scope, with which access, by whose right."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import grpc
import pytest
import yaml
from grpc_health.v1 import health_pb2

from groundwire.v1 import (
    evidence_pb2,
    index_pb2,
    index_pb2_grpc,
    query_pb2,
    query_pb2_grpc,
    retrieval_pb2,
    retrieval_pb2_grpc,
    scope_pb2,
)
from groundwire_server.config import Settings, SettingsError
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.indexes import IndexSummary
from groundwire_server.rpc.identity.claim_mapping import ClaimMapping
from groundwire_server.rpc.identity.jwt_callers import TokenCallers
from groundwire_server.rpc.identity.key_sources import KeyUrl
from groundwire_server.rpc.identity.token_verifier import TokenRules
from support.http_site import http_site
from support.index_calls import calls_of_callers
from support.token_issuer import AUDIENCE, ISSUER, SigningKey, bearer, key_set

if TYPE_CHECKING:
    from server.rpc.conftest import Failed, HealthOf, Serving

pytestmark = pytest.mark.asyncio

KEY = SigningKey.ec("key")
MAPPING = """
tenants: {claims: [{claim: tenant}]}
acl_tags: {claims: [{claim: groups}]}
classification_labels: {claims: [{claim: labels}]}
clearance_level: {claims: [{claim: level}]}
scopes: {always: ["shop::*"]}
administration: {claims: [{claim: groups, values: {admins: ["shop::main"]}}]}
"""
TOKEN: dict[str, Any] = {"tenant": "acme", "groups": ["finance", "legal"], "labels": ["pii"], "level": 2}
HELD = AccessContext("acme", frozenset({"finance", "legal"}), frozenset({"pii"}), 2)
SHOP = scope_pb2.IndexScope(repository="shop", branch="main", active_index="v1")


@pytest.fixture
def jwt_settings(tmp_path: Path) -> dict[str, object]:
    """The settings of a server that trusts KEY."""
    (tmp_path / "keys.json").write_text(key_set(KEY))
    (tmp_path / "access.yaml").write_text(MAPPING)
    return {
        "access_mode": "jwt",
        "access_mapping": tmp_path / "access.yaml",
        "jwt_keys": str(tmp_path / "keys.json"),
        "jwt_issuer": ISSUER,
        "jwt_audiences": (AUDIENCE,),
    }


def scoped_calls(
    channel: grpc.aio.Channel, scope: scope_pb2.IndexScope | None, access: scope_pb2.AccessContext | None, **claims: Any
) -> list[Awaitable[object]]:
    """A call of each method that names a scope to read from, by a caller with these claims."""
    retrieval = retrieval_pb2_grpc.RetrievalServiceStub(channel)
    metadata = bearer(KEY.token(**claims))
    fields: dict[str, Any] = {"scope": scope, "access": access}
    calls: list[tuple[Callable[..., Awaitable[object]], object]] = [
        (retrieval.SearchNodes, retrieval_pb2.SearchNodesRequest(**fields)),
        (retrieval.ResolveNodes, retrieval_pb2.ResolveNodesRequest(**fields)),
        (retrieval.SearchText, retrieval_pb2.SearchTextRequest(**fields)),
        (retrieval.ExpandDependencyTree, retrieval_pb2.ExpandDependencyTreeRequest(**fields)),
        (retrieval.FindPaths, retrieval_pb2.FindPathsRequest(**fields)),
        (retrieval.FetchNodeTexts, retrieval_pb2.FetchNodeTextsRequest(**fields)),
        (query_pb2_grpc.QueryServiceStub(channel).Query, query_pb2.QueryRequest(**fields)),
        (query_pb2_grpc.QueryServiceStub(channel).GatherEvidence, evidence_pb2.GatherEvidenceRequest(**fields)),
        (index_pb2_grpc.IndexServiceStub(channel).GetIndex, index_pb2.GetIndexRequest(**fields)),
    ]
    return [method(request, metadata=metadata) for method, request in calls]


@pytest.mark.parametrize(
    ("access", "held"),
    [
        (None, HELD),
        (scope_pb2.AccessContext(), AccessContext()),
        (
            scope_pb2.AccessContext(acl_tags_any=["legal", "board"], clearance_level=9),
            AccessContext(acl_tags_any=frozenset({"legal"}), clearance_level=2),
        ),
        (
            scope_pb2.AccessContext(tenant_id="acme", classification_labels_all=["pii", "secret"], clearance_level=1),
            AccessContext("acme", classification_labels_all=frozenset({"pii"}), clearance_level=1),
        ),
    ],
    ids=["absent", "empty", "tags and level", "tenant and labels"],
)
async def test_every_method_is_asked_with_what_the_token_grants_narrowed_by_the_request(
    serving: "Serving",
    engine: Mock,
    indexes: Mock,
    jwt_settings: dict[str, object],
    access: scope_pb2.AccessContext | None,
    held: AccessContext,
) -> None:
    async with serving(**jwt_settings) as server, grpc.aio.insecure_channel(server.address) as channel:
        for call in scoped_calls(channel, SHOP, access, **TOKEN):
            await call
    for action in (
        engine.search, engine.resolve, engine.search_text, engine.expand, engine.find_paths, engine.fetch, engine.query,
        engine.gather_evidence,
    ):  # fmt: skip
        assert action.call_args.args[0].access == held
    assert indexes.get_index.call_args.args[1] == held


@pytest.mark.parametrize(
    ("scope", "access", "code", "reason", "metadata"),
    [
        (
            scope_pb2.IndexScope(repository="secret", branch="main"),
            None,
            grpc.StatusCode.PERMISSION_DENIED,
            "SCOPE_NOT_GRANTED",
            {"repository": "secret", "branch": "main"},
        ),
        (
            SHOP,
            scope_pb2.AccessContext(tenant_id="umbrella"),
            grpc.StatusCode.PERMISSION_DENIED,
            "TENANT_NOT_GRANTED",
            {"field": "access.tenant_id"},
        ),
        (
            scope_pb2.IndexScope(branch="main"),
            None,
            grpc.StatusCode.INVALID_ARGUMENT,
            "FIELD_REQUIRED",
            {"field": "scope.repository"},
        ),
        (
            scope_pb2.IndexScope(repository="x" * 100_000, branch="main"),
            None,
            grpc.StatusCode.INVALID_ARGUMENT,
            "VALUE_MALFORMED",
            {"field": "scope.repository"},
        ),
        (None, None, grpc.StatusCode.INVALID_ARGUMENT, "FIELD_REQUIRED", {"field": "scope.repository"}),
    ],
    ids=["scope", "tenant", "no repository", "no such name", "no scope"],
)
async def test_what_is_not_granted_never_reaches_the_engine(
    serving: "Serving",
    engine: Mock,
    indexes: Mock,
    failed: "Failed",
    jwt_settings: dict[str, object],
    scope: scope_pb2.IndexScope | None,
    access: scope_pb2.AccessContext | None,
    code: grpc.StatusCode,
    reason: str,
    metadata: dict[str, str],
) -> None:
    async with serving(**jwt_settings) as server, grpc.aio.insecure_channel(server.address) as channel:
        for call in scoped_calls(channel, scope, access, **TOKEN):
            failure = await failed(call)
            assert (failure.code, failure.info.reason) == (code, f"ERROR_REASON_{reason}")
            assert dict(failure.info.metadata) == metadata
    assert not engine.mock_calls
    assert not calls_of_callers(indexes)


async def test_a_listing_is_asked_for_what_may_be_named_alone(
    serving: "Serving", indexes: Mock, summary: IndexSummary, jwt_settings: dict[str, object]
) -> None:
    indexes.list_indexes.return_value = (summary,)
    async with serving(**jwt_settings) as server, grpc.aio.insecure_channel(server.address) as channel:
        listed = await index_pb2_grpc.IndexServiceStub(channel).ListIndexes(
            index_pb2.ListIndexesRequest(), metadata=bearer(KEY.token(**TOKEN))
        )
    assert [index.repository for index in listed.indexes] == ["shop"]
    *other_arguments, scopes, _ = indexes.list_indexes.call_args.args
    assert other_arguments == ["", "", HELD]
    assert scopes.includes("shop", "main")
    assert not scopes.includes("secret", "main")


@pytest.mark.parametrize(
    ("groups", "branch", "allow_admin", "reason"),
    [
        (["admins"], "main", True, None),
        (["admins"], "main", False, "ADMINISTRATION_DISABLED"),
        (["admins"], "develop", True, "ADMINISTRATION_NOT_GRANTED"),
        (["finance"], "main", True, "ADMINISTRATION_NOT_GRANTED"),
        (None, "main", True, "IDENTITY_REQUIRED"),
        (None, "main", False, "IDENTITY_REQUIRED"),
    ],
)
async def test_administration_needs_the_settings_and_a_grant_of_its_own(
    serving: "Serving",
    indexes: Mock,
    failed: "Failed",
    jwt_settings: dict[str, object],
    groups: list[str] | None,
    branch: str,
    allow_admin: bool,
    reason: str | None,
) -> None:
    scope = scope_pb2.IndexScope(repository="shop", branch=branch, active_index="v1")
    metadata = () if groups is None else bearer(KEY.token(groups=groups))
    settings = {**jwt_settings, "allow_admin": allow_admin}
    async with serving(**settings) as server, grpc.aio.insecure_channel(server.address) as channel:
        stub = index_pb2_grpc.IndexServiceStub(channel)
        for call in (
            stub.ActivateIndex(index_pb2.ActivateIndexRequest(scope=scope), metadata=metadata),
            stub.DeleteIndex(index_pb2.DeleteIndexRequest(scope=scope), metadata=metadata),
        ):
            if reason is None:
                await call
            else:
                assert (await failed(call)).info.reason == f"ERROR_REASON_{reason}"
    assert len(calls_of_callers(indexes)) == (2 if reason is None else 0)


async def test_health_is_told_to_everyone(
    serving: "Serving", health_of: "HealthOf", jwt_settings: dict[str, object]
) -> None:
    async with serving(**jwt_settings) as server, grpc.aio.insecure_channel(server.address) as channel:
        assert await health_of(channel) == health_pb2.HealthCheckResponse.SERVING


async def test_a_token_of_a_key_that_was_published_since_is_believed_at_once(
    serving: "Serving", jwt_settings: dict[str, object]
) -> None:
    new = SigningKey.rsa("new")
    mapping = ClaimMapping.model_validate(yaml.safe_load(MAPPING))

    def callers(settings: Settings) -> TokenCallers:
        rules = TokenRules(ISSUER, (AUDIENCE,), settings.jwt_max_lifetime_seconds)
        return TokenCallers(rules, KeyUrl(site.url, pause_seconds=0.0), mapping)

    with http_site() as site:
        site.body = key_set(KEY).encode()
        async with serving(callers, **jwt_settings) as server, grpc.aio.insecure_channel(server.address) as channel:
            site.body = key_set(KEY, new).encode()
            for key in (KEY, new):
                listing = index_pb2_grpc.IndexServiceStub(channel).ListIndexes
                await listing(index_pb2.ListIndexesRequest(), metadata=bearer(key.token()))


async def test_while_no_keys_are_known_callers_are_to_come_again(
    serving: "Serving", failed: "Failed", jwt_settings: dict[str, object]
) -> None:
    settings = {**jwt_settings, "jwt_keys": "http://127.0.0.1:1/keys"}
    async with serving(**settings) as server, grpc.aio.insecure_channel(server.address) as channel:
        for call in scoped_calls(channel, SHOP, None, **TOKEN):
            failure = await failed(call)
            assert failure.code is grpc.StatusCode.UNAVAILABLE
            assert failure.info.reason == "ERROR_REASON_IDENTITY_UNAVAILABLE"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"jwt_keys": "absent.json"}, r"^jwt_keys: absent\.json: No such file or directory; give"),
        ({"access_mapping": Path("absent.yaml")}, r"^access_mapping: absent\.yaml: No such file or directory; give"),
    ],
)
async def test_a_server_that_could_verify_nobody_does_not_start(
    serving: "Serving", jwt_settings: dict[str, object], changes: dict[str, object], message: str
) -> None:
    with pytest.raises(SettingsError, match=message):
        async with serving(**{**jwt_settings, **changes}):
            pass
