"""What claims grant: nested paths, translated values, and nothing from what is absent or of another form."""

from pathlib import Path

import pytest

from groundwire_server.config import SettingsError
from groundwire_server.domain.access.access import Bounds
from groundwire_server.domain.access.grants import Grant, Scopes
from groundwire_server.domain.access.name_sets import Names
from groundwire_server.domain.errors import Reason, UnauthenticatedError
from groundwire_server.rpc.identity.access_modes import read_mapping
from groundwire_server.rpc.identity.claim_mapping import ClaimMapping

FULL = """
tenants: {claims: [{claim: [org, tenant]}]}
acl_tags:
  always: [staff]
  claims:
    - claim: [realm_access, roles]
    - claim: scope
      separator: " "
      values: {"gw:finance": [finance, "slack:*"]}
classification_labels: {claims: [{claim: "https://example.com/labels"}]}
clearance_level: {always: 1, claims: [{claim: level}, {claim: cleared, values: {secret: 3}}]}
scopes: {always: ["docs::*"], claims: [{claim: teams, values: {shop: ["shop::*"]}}, {claim: scopes}]}
administration: {claims: [{claim: teams, values: {indexers: ["*::*"]}}]}
"""


@pytest.fixture
def mapping(tmp_path: Path) -> ClaimMapping:
    return written(tmp_path, FULL)


def written(folder: Path, text: str) -> ClaimMapping:
    path = folder / "access.yaml"
    path.write_text(text)
    return read_mapping(path, ClaimMapping)


def test_every_claim_grants_what_the_file_says(mapping: ClaimMapping) -> None:
    claims = {
        "org": {"tenant": "acme"},
        "realm_access": {"roles": ["dev", "*", "ops*"]},
        "scope": "openid gw:finance",
        "https://example.com/labels": "pii",
        "level": 2,
        "cleared": "secret",
        "teams": ["shop", "indexers", "others"],
        "scopes": ["infra::main"],
    }
    grant = mapping.grant(claims)
    assert grant.tenants == Names(frozenset({"acme"}))
    assert grant.acl_tags == Names(frozenset({"staff", "dev", "*", "ops*", "finance"}), ("slack:",))
    assert grant.classification_labels == Names(frozenset({"pii"}))
    assert grant.clearance_level == 3
    admitted = [("docs", "x"), ("shop", "main"), ("infra", "main")]
    assert [grant.scopes.includes(*scope) for scope in [*admitted, ("infra", "x")]] == [True, True, True, False]
    assert grant.administration.includes("any", "branch")


def test_a_token_without_the_claims_is_granted_what_all_are(mapping: ClaimMapping) -> None:
    grant = mapping.grant({"org": "acme", "realm_access": {}, "scope": "", "teams": []})
    assert grant == Grant(acl_tags=Names.parse(["staff"]), clearance_level=1, scopes=Scopes.parse(["docs::*"]))


@pytest.mark.parametrize(
    "claims",
    [
        {"org": {"tenant": 7}},
        {"org": {"tenant": {"name": "acme"}}},
        {"realm_access": {"roles": ["dev", None]}},
        {"realm_access": {"roles": ["x" * 257]}},
        {"realm_access": {"roles": ["x"] * 1025}},
        {"level": True},
        {"level": "3"},
        {"level": -1},
        {"level": 2.5},
        {"level": 2**31},
        {"cleared": ["secret"]},
        {"scopes": ["everything"]},
    ],
    ids=str,
)
def test_a_claim_of_another_form_refuses_the_token(mapping: ClaimMapping, claims: dict[str, object]) -> None:
    with pytest.raises(UnauthenticatedError) as caught:
        mapping.grant(claims)
    assert caught.value.reason is Reason.IDENTITY_REFUSED
    assert caught.value.metadata == {"rule": "claims"}
    (claim,) = claims
    assert caught.value.message.startswith(f"the token's claim {claim}")
    assert len(caught.value.message) < 120


BOUND = """
collections: {claims: [{claim: groups, values: {handbooks: [handbook, "manual-*"]}}]}
cases: {claims: [{claim: [work, cases]}]}
workflows: {}
document_versions: {always: [v1]}
scopes: {always: ["docs::*"]}
"""


@pytest.mark.parametrize(
    ("claims", "collections", "cases"),
    [
        ({"groups": ["handbooks"], "work": {"cases": ["7", "*"]}}, ["handbook", "manual-*"], Names(frozenset("7*"))),
        ({"groups": ["others"], "work": {"cases": "7"}}, [], Names(frozenset("7"))),
        ({}, [], Names()),
    ],
    ids=["all", "one", "none"],
)
def test_a_rule_of_a_bound_binds_by_being_there(
    tmp_path: Path, claims: dict[str, object], collections: list[str], cases: Names
) -> None:
    grant = written(tmp_path, BOUND).grant(claims)
    assert grant.bounds == Bounds(
        collections=Names.parse(collections), cases=cases, workflows=Names(), document_versions=Names(frozenset({"v1"}))
    )


@pytest.mark.parametrize("claims", [{"groups": 7}, {"work": {"cases": [7]}}], ids=str)
def test_a_bounds_claim_of_another_form_refuses_the_token(tmp_path: Path, claims: dict[str, object]) -> None:
    with pytest.raises(UnauthenticatedError):
        written(tmp_path, BOUND).grant(claims)


def test_a_level_that_is_not_listed_grants_none(mapping: ClaimMapping) -> None:
    assert mapping.grant({"cleared": "cosmic"}).clearance_level == 1


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("acl_tags: {always: [a]}", "scopes: is required; give it"),
        ("scopes: {}", "scopes: is {}; must have `always` or `claims`; otherwise no caller may ask anything"),
        ("scopes: {always: [shop]}", "scopes.always[0]: is 'shop'; must be <repository>::<branch>"),
        (
            "scopes: {claims: [{claim: t, values: {a: [b]}}]}",
            "scopes.claims[0].values.a[0]: is 'b'; must be <repository>::<branch>",
        ),
        ("scopes: {always: ['a::b']}\ntenant: x", "tenant: is no key here; remove it or correct its name"),
        ("scopes: {always: ['a::b']}\nacl_tags: {claims: [{}]}", "acl_tags.claims[0].claim: is required; give it"),
        (
            "scopes: {always: ['a::b']}\nclearance_level: {always: '3'}",
            "clearance_level.always: is '3'; must be a whole number",
        ),
        (
            "scopes: {always: ['a::b']}\nscopes: {always: ['*::*']}",
            "is not YAML: scopes: is given twice; first in line 1 (line 2)",
        ),
        ("scopes: {always: ['a::b']}\ncases:", "cases: must be a mapping of keys to values"),
        ("[]", "the file: must be a mapping of keys to values"),
        ("", "the file: must be a mapping of keys to values"),
        ("a: [", "is not YAML: "),
        ("a: !!python/object/apply:os.getcwd []", "is not YAML: "),
    ],
)
def test_a_file_that_cannot_be_used_is_told(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(SettingsError) as caught:
        written(tmp_path, text)
    assert str(caught.value).startswith(f"access_mapping: {tmp_path / 'access.yaml'}: {problem}")


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"^access_mapping: .*absent: No such file or directory; give a readable"):
        read_mapping(tmp_path / "absent", ClaimMapping)
