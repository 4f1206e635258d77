"""At which moments a certificate holds, and what is refused because it cannot be judged."""

import ssl
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from groundwire_server.domain.errors import GroundwireError, IdentityUnavailableError, UnauthenticatedError
from groundwire_server.rpc.identity import peer_certificates
from groundwire_server.rpc.identity.peer_certificates import MAX_REMEMBERED, PeerCertificates
from groundwire_server.rpc.identity.revocation_file import RevocationFile
from support.certificates import Authority, Certificate

SECOND = timedelta(seconds=1)


@pytest.fixture
def certificate(tmp_path: Path) -> Certificate:
    return Authority.create(tmp_path).issue("caller")


def calling(properties: Mapping[str, Iterable[bytes]]) -> Any:
    context = Mock()
    context.auth_context.return_value = properties
    return context


@pytest.mark.parametrize(
    "properties",
    [
        {},
        {"x509_pem_cert": ()},
        {"x509_pem_cert": (b"",)},
        {"x509_pem_cert": (b"nonsense",)},
        {"x509_pem_cert": (b"-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n",)},
        {"peer_uri": (b"spiffe://mesh/ns/shop/sa/checkout",)},
    ],
)
def test_a_peer_without_a_certificate_that_can_be_read_is_refused(properties: Mapping[str, Iterable[bytes]]) -> None:
    with pytest.raises(UnauthenticatedError) as caught:
        PeerCertificates(None).check(calling(properties))
    assert caught.value.metadata == {"rule": "certificate"}


@pytest.mark.filterwarnings("ignore:Parsed a serial number", "ignore:Attribute's length:UserWarning")
@pytest.mark.parametrize("flipped", [1, 255])
def test_a_changed_certificate_is_judged_or_refused_whatever_was_changed(tmp_path: Path, flipped: int) -> None:
    """Nobody has verified the signature of a forwarded one here."""
    authority = Authority.create(tmp_path)
    point = x509.DistributionPoint([x509.UniformResourceIdentifier("http://pki.example/here.crl")], None, None, None)
    content = authority.issue("caller", extensions=[x509.CRLDistributionPoints([point])]).content.public_bytes(
        Encoding.DER
    )
    (tmp_path / "revoked.crl").write_bytes(authority.revocation_list())
    certificates = PeerCertificates(RevocationFile(tmp_path / "revoked.crl", [authority.certificate]))
    for place, byte in enumerate(content):
        changed = content[:place] + bytes([byte ^ flipped]) + content[place + 1 :]
        with suppress(UnauthenticatedError, IdentityUnavailableError):
            certificates.check_pem(ssl.DER_cert_to_PEM_cert(changed).encode())


@pytest.mark.parametrize(
    ("edge", "offset", "rule"),
    [
        ("not_valid_before_utc", -SECOND, "certificate_not_yet_valid"),
        ("not_valid_before_utc", 0 * SECOND, None),
        ("not_valid_after_utc", 0 * SECOND, None),
        ("not_valid_after_utc", SECOND, "certificate_expired"),
    ],
)
def test_validity_ends_to_the_second_though_the_certificate_was_read_before(
    certificate: Certificate, monkeypatch: pytest.MonkeyPatch, edge: str, offset: timedelta, rule: str | None
) -> None:
    certificates = PeerCertificates(None)
    peer = calling({"x509_pem_cert": (certificate.certificate.read_bytes(),)})
    certificates.check(peer)
    clock = Mock()
    clock.now.return_value = getattr(certificate.content, edge) + offset
    monkeypatch.setattr(peer_certificates, "datetime", clock)
    try:
        certificates.check(peer)
        broken_rule = None
    except GroundwireError as error:
        broken_rule = error.metadata["rule"]
    assert broken_rule == rule


def test_no_more_certificates_are_remembered_than_may_and_what_cannot_be_read_is_not(
    certificate: Certificate, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = Mock(side_effect=x509.load_pem_x509_certificate)
    monkeypatch.setattr(x509, "load_pem_x509_certificate", loaded)
    certificates = PeerCertificates(None)

    def reads(number: int) -> int:
        """How often the certificate of a number is read when it is checked."""
        before = loaded.call_count
        certificates.check_pem(b"%d\n%s" % (number, certificate.certificate.read_bytes()))
        return loaded.call_count - before

    numbers = range(MAX_REMEMBERED)
    assert [reads(number) for number in numbers] == [1] * MAX_REMEMBERED
    assert [reads(number) for number in numbers] == [0] * MAX_REMEMBERED
    assert (reads(0), reads(-1), reads(0), reads(1)) == (0, 1, 0, 1), "the least recently seen one is forgotten"
    for _ in range(2):
        with pytest.raises(UnauthenticatedError):
            certificates.check_pem(b"nonsense")
    assert (reads(3), reads(2)) == (0, 1)
