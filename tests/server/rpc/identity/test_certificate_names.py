"""The names of a certificate, as it was signed: never a part of one."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from groundwire_server.domain.errors import UnauthenticatedError
from groundwire_server.rpc.identity.certificate_names import CertificateNames, names_of
from support.certificates import Authority

CHECKOUT = "spiffe://mesh/ns/shop/sa/checkout"


def pem(folder: Path, uris: Sequence[str] = (), dns: Sequence[str] = ()) -> bytes:
    return Authority.create(folder).issue("caller", uris=uris, dns=dns).certificate.read_bytes()


def test_names_are_those_that_were_signed(tmp_path: Path) -> None:
    assert names_of(pem(tmp_path, [CHECKOUT], ["Shop.Example", "b.example"])) == CertificateNames(
        (CHECKOUT,), ("shop.example", "b.example")
    )
    assert names_of(pem(tmp_path)) == CertificateNames()


@pytest.mark.parametrize("character", ["\0", "\n", "\x1b", "\x7f"], ids=ascii)
@pytest.mark.parametrize("kind", ["uris", "dns"])
def test_a_name_with_a_control_character_is_no_name(tmp_path: Path, kind: str, character: str) -> None:
    """A NUL would end the name where strings end at it, as in gRPC."""
    names = {"uris": f"{CHECKOUT}{character}.evil", "dns": f"shop.example{character}.evil"}
    with pytest.raises(UnauthenticatedError, match="has a character other than printable ASCII"):
        names_of(pem(tmp_path, **{kind: [names[kind]]}))


def test_two_uris_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnauthenticatedError, match="more than one URI"):
        names_of(pem(tmp_path, [CHECKOUT, CHECKOUT]))


@pytest.mark.parametrize(
    "content", [b"", b"nonsense", b"-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"]
)
def test_what_cannot_be_read_is_refused(content: bytes) -> None:
    with pytest.raises(UnauthenticatedError, match="cannot be read"):
        names_of(content)


def test_alternative_names_that_are_no_ascii_are_refused(tmp_path: Path) -> None:
    """Their bytes are changed after signing, which the handshake has verified elsewhere."""
    der = Authority.create(tmp_path).issue("caller", uris=[CHECKOUT]).content.public_bytes(Encoding.DER)
    changed = x509.load_der_x509_certificate(der.replace(b"checkout", b"checkou\xff"))
    with pytest.raises(UnauthenticatedError, match="cannot be read"):
        names_of(changed.public_bytes(Encoding.PEM))
