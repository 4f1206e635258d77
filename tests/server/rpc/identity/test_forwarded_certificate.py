"""The header `x-forwarded-client-cert` as Envoy writes it, and what it must not be mistaken for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.rpc.identity.certificate_names import CertificateNames
from groundwire_server.rpc.identity.mtls_callers import forwarded_certificate

HASH = "Hash=468ed33be74eee6556d90c0149c1309e9ba61d6425303443c0748a02dd8de688"
ISTIO = f'By=spiffe://mesh/ns/shop/sa/groundwire;{HASH};Subject="";URI=spiffe://mesh/ns/shop/sa/checkout'


@pytest.mark.parametrize(
    ("header", "uris", "dns_names"),
    [
        (ISTIO, ("spiffe://mesh/ns/shop/sa/checkout",), ()),
        (f"{HASH};DNS=Checkout.example;DNS=b.example", (), ("checkout.example", "b.example")),
        (r'Subject="CN=a\";URI=spiffe://mesh/admin";URI=spiffe://mesh/user', ("spiffe://mesh/user",), ()),
        (r'Subject="O=a, b;URI=spiffe://mesh/admin,URI=x";URI="spiffe://mesh/user"', ("spiffe://mesh/user",), ()),
        (r'Subject="ends with \\";URI=spiffe://mesh/user', ("spiffe://mesh/user",), ()),
        ("URI=https://a/?b=c", ("https://a/?b=c",), ()),
        ("uri=spiffe://mesh/user;dns=A", ("spiffe://mesh/user",), ("a",)),
        ("URI=spiffe://a;URI=spiffe://b", ("spiffe://a", "spiffe://b"), ()),
        ("By=spiffe://mesh/proxy;URI=;DNS=", (), ()),
    ],
)
def test_the_names_are_those_of_the_header(header: str, uris: tuple[str, ...], dns_names: tuple[str, ...]) -> None:
    assert forwarded_certificate(header).names == CertificateNames(uris, dns_names)


@pytest.mark.parametrize(
    "header",
    [
        "",
        ",",
        ";",
        "URI",
        "=x",
        "URI=a,",
        "URI=a;",
        'Subject="open;URI=a',
        'Subject="a"b;URI=c',
        'URI=a"b',
        "U RI=a",
        "Ü=a",
        f"URI=spiffe://mesh/admin,{ISTIO}",
        f"URI=spiffe://mesh/admin,{HASH}",
        "URI=spiffe://mesh/admin, URI=spiffe://mesh/user",
        "URI=spiffe://mesh/a,b",
    ],
)
def test_anything_else_is_no_such_header(header: str) -> None:
    with pytest.raises(ValueError, match="is no pair of key and value"):
        forwarded_certificate(header)


@pytest.mark.parametrize(
    ("header", "pem"),
    [
        (ISTIO, None),
        (r'Subject="CN=a\";Cert=x";URI=a', None),
        ('Cert="-----BEGIN%20CERTIFICATE-----%0AMII%2B%2F%3D%0A";URI=a', b"-----BEGIN CERTIFICATE-----\nMII+/=\n"),
        ("CERT=a+b;URI=a", b"a+b"),
        ('Cert="";URI=a', b""),
    ],
)
def test_the_certificate_is_that_of_the_header(header: str, pem: bytes | None) -> None:
    assert forwarded_certificate(header).pem == pem


def test_of_two_certificates_none_is_chosen() -> None:
    with pytest.raises(ValueError, match="more than one certificate"):
        forwarded_certificate("Cert=a;URI=b;Cert=a")


texts = st.text(st.sampled_from('ab,;="\\ '), max_size=8)


def quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@given(st.lists(st.tuples(st.sampled_from(["URI", "DNS", "Subject"]), texts), min_size=1))
def test_no_quoted_value_is_taken_for_anything_but_itself(pairs: list[tuple[str, str]]) -> None:
    header = ";".join(f"{key}={quoted(value)}" for key, value in pairs)
    assert forwarded_certificate(header).names == CertificateNames(
        tuple(value for key, value in pairs if key == "URI" and value),
        tuple(value.lower() for key, value in pairs if key == "DNS" and value),
    )


@given(st.lists(texts, min_size=2, max_size=3))
def test_what_was_appended_to_is_refused(values: list[str]) -> None:
    """Nor a name that looks as if it were: which part is whose cannot be told."""
    with pytest.raises(ValueError, match="is no pair of key and value"):
        forwarded_certificate(",".join(f"URI={quoted(value)}" for value in values))
