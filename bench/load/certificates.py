"""Certificates for one run, signed by an authority made for it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_TRUST_DOMAIN = "spiffe://cluster.local/ns/groundwire/sa"
_VALID = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Identity:
    """PEM files: a certificate, its key, and the authority that signed it."""

    certificate: Path
    key: Path
    authority: Path


def issue_identities(folder: Path, names: Sequence[str]) -> Iterator[Identity]:
    """An identity for each name, valid for a day for localhost and for what `deploy/envoy` expects of it."""
    folder.mkdir(parents=True, exist_ok=True)
    key = ec.generate_private_key(ec.SECP256R1())
    issuer = _name("authority")
    authority = folder / "authority.crt"
    own = _builder(issuer, issuer, key).add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    authority.write_bytes(own.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    for name in names:
        yield _issue(folder, name, issuer, key, authority)


def _issue(
    folder: Path, name: str, issuer: x509.Name, authority_key: ec.EllipticCurvePrivateKey, authority: Path
) -> Identity:
    key = ec.generate_private_key(ec.SECP256R1())
    uri = f"{_TRUST_DOMAIN}/{ {'server': 'groundwire', 'envoy': 'groundwire-envoy'}.get(name, name) }"
    names = [x509.DNSName("localhost"), x509.DNSName("groundwire.groundwire.svc"), x509.UniformResourceIdentifier(uri)]
    usages = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
    builder = (
        _builder(_name(name), issuer, key)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
    )
    identity = Identity(folder / f"{name}.crt", folder / f"{name}.key", authority)
    signed = builder.sign(authority_key, hashes.SHA256())
    identity.certificate.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    identity.key.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return identity


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _VALID)
        .not_valid_after(now + _VALID)
    )
