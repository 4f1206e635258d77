"""Which certificates an operator's patterns mean, and who is granted what by them."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from groundwire_server.config import SettingsError
from groundwire_server.domain.access.access import Bounds
from groundwire_server.domain.access.grants import Grant, Scopes
from groundwire_server.domain.access.name_sets import Names
from groundwire_server.rpc.identity.access_modes import read_mapping
from groundwire_server.rpc.identity.certificate_mapping import CertificateMapping, CertificatePattern
from groundwire_server.rpc.identity.certificate_names import CertificateNames

FILE = """
callers:
  - certificate: {uri: "spiffe://mesh/ns/shop/sa/checkout"}
    tenants: [acme]
    acl_tags: [finance, "slack:*"]
    classification_labels: [pii]
    clearance_level: 2
    collections: [handbook, "manual-*"]
    workflows: []
    document_versions: ["v*"]
    scopes: ["shop::*"]
    administration: ["shop::main"]
  - certificate: {uri: "spiffe://mesh/ns/shop/*"}
    scopes: ["shop::main"]
  - certificate: {dns: "Reports.example"}
    scopes: ["shop::main"]
trusted_proxies:
  - {uri: "spiffe://mesh/ns/edge/sa/envoy"}
"""


@pytest.fixture
def mapping(tmp_path: Path) -> CertificateMapping:
    path = tmp_path / "access.yaml"
    path.write_text(FILE)
    return read_mapping(path, CertificateMapping)


def granted(mapping: CertificateMapping, names: CertificateNames) -> Grant | None:
    caller = mapping.caller(names)
    return caller.grant if caller else None


def test_the_first_caller_that_matches_counts(mapping: CertificateMapping) -> None:
    checkout = granted(mapping, CertificateNames(("spiffe://mesh/ns/shop/sa/checkout",)))
    assert checkout is not None
    assert (checkout.tenants, checkout.clearance_level) == (Names(frozenset({"acme"})), 2)
    assert checkout.acl_tags == Names(frozenset({"finance"}), ("slack:",))
    assert (checkout.scopes, checkout.administration) == (Scopes.parse(["shop::*"]), Scopes.parse(["shop::main"]))
    assert checkout.bounds == Bounds(
        collections=Names.parse(["handbook", "manual-*"]), workflows=Names(), document_versions=Names.parse(["v*"])
    )
    other = granted(mapping, CertificateNames(("spiffe://mesh/ns/shop/sa/other",)))
    assert other is not None
    assert (other.tenants, other.administration, other.bounds) == (Names(), Scopes(), Bounds())
    assert granted(mapping, CertificateNames(dns_names=("reports.example",))) == other


@pytest.mark.parametrize(
    "names",
    [
        CertificateNames(),
        CertificateNames(("spiffe://mesh/ns/edge/sa/envoy",)),
        CertificateNames(("spiffe://other/ns/shop/sa/checkout",)),
        CertificateNames(("SPIFFE://mesh/ns/shop/sa/checkout",)),
        CertificateNames(dns_names=("spiffe://mesh/ns/shop/sa/checkout",)),
        CertificateNames(("reports.example",)),
    ],
    ids=str,
)
def test_any_other_certificate_is_nobodys(mapping: CertificateMapping, names: CertificateNames) -> None:
    assert granted(mapping, names) is None


def test_a_caller_is_known_by_the_name_that_matches(mapping: CertificateMapping) -> None:
    """The names before it are not the mapping's: an operator would look for them in vain."""
    names = CertificateNames(("spiffe://elsewhere/a",), ("other.example", "reports.example"))
    caller = mapping.caller(names)
    assert caller is not None
    assert caller.subject == "reports.example"


def test_a_proxy_is_who_is_listed_as_one(mapping: CertificateMapping) -> None:
    assert mapping.is_proxy(CertificateNames(("spiffe://mesh/ns/edge/sa/envoy",)))
    assert not mapping.is_proxy(CertificateNames(("spiffe://mesh/ns/edge/sa/envoy2",)))


@pytest.mark.parametrize(
    ("pattern", "name", "meant"),
    [
        ({"uri": "spiffe://td/a/*"}, "spiffe://td/a/b/c", True),
        ({"uri": "spiffe://td/a/*"}, "spiffe://td/ab", False),
        ({"uri": "spiffe://td/*"}, "spiffe://td.evil/a", False),
        ({"uri": "spiffe://td"}, "spiffe://td/a", False),
        ({"dns": "*.shop.svc"}, "a.shop.svc", True),
        ({"dns": "*.shop.svc"}, "a.b.shop.svc", False),
        ({"dns": "*.shop.svc"}, ".shop.svc", False),
        ({"dns": "*.shop.svc"}, "shop.svc", False),
        ({"dns": "a.shop.svc"}, "a.shop.svc.evil", False),
    ],
)
def test_what_a_pattern_means(pattern: dict[str, str], name: str, meant: bool) -> None:
    names = CertificateNames((name,)) if "uri" in pattern else CertificateNames(dns_names=(name,))
    assert CertificatePattern.model_validate(pattern).match(names) == (name if meant else None)


@pytest.mark.parametrize(
    "pattern",
    [
        {},
        {"uri": "spiffe://td/a", "dns": "a"},
        {"uri": "*"},
        {"uri": "spiffe://*"},
        {"uri": "spiffe://td*"},
        {"uri": "spiffe://td/*/a"},
        {"uri": "/path"},
        {"dns": "*"},
        {"dns": "shop.*"},
        {"dns": "a.*.svc"},
        {"dns": "a b"},
        {"dns": ""},
    ],
    ids=str,
)
def test_a_pattern_that_could_mean_another_authoritys_names_is_refused(pattern: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        CertificatePattern.model_validate(pattern)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("callers: []", r"callers: is \[\]; "),
        ("callers: [{certificate: {dns: a}}]", r"callers\[0\]\.scopes: is required"),
        (
            "callers: [{certificate: {dns: a}, scopes: ['a::*'], tenant_id: x}]",
            r"callers\[0\]\.tenant_id: is no key here",
        ),
        (
            "callers: [{certificate: {dns: '*'}, scopes: ['a::*']}]",
            r"callers\[0\]\.certificate\.dns: is '\*'; must be a DNS",
        ),
        (
            "callers: [{certificate: {dns: a}, scopes: ['a::*'], cases: }]",
            r"callers\[0\]\.cases: is None; must be a list",
        ),
        ("callers: [{certificate: {}, scopes: ['a::*']}]", r"callers\[0\]\.certificate: is {}; must have either"),
    ],
)
def test_a_file_with_a_mistake_is_told(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "access.yaml"
    path.write_text(text)
    with pytest.raises(SettingsError, match=rf"^access_mapping: .*access\.yaml: {problem}"):
        read_mapping(path, CertificateMapping)
