"""A throwaway certificate authority, and certificates as a mesh gives them to its services."""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

VALID_FROM = timedelta(minutes=-5)
VALID_UNTIL = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Certificate:
    """PEM files of a certificate, its key, and the authority that signed it."""

    certificate: Path
    key: Path
    authority: Path

    @property
    def content(self) -> x509.Certificate:
        """The certificate itself."""
        return x509.load_pem_x509_certificate(self.certificate.read_bytes())


@dataclass(frozen=True, slots=True)
class Authority:
    """Signs certificates; its files stand in `folder`."""

    folder: Path
    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @classmethod
    def create(cls, folder: Path, name: str = "authority") -> Self:
        """A new authority, whose certificate becomes NAME.crt in the folder."""
        folder.mkdir(parents=True, exist_ok=True)
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        builder = _builder(subject, subject, key, VALID_FROM, VALID_UNTIL).add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=True
        )
        authority = cls(folder, builder.sign(key, hashes.SHA256()), key)
        _write(folder / f"{name}.crt", authority.certificate)
        return authority

    def subordinate(self, name: str) -> Self:
        """A new authority below this one."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        builder = _builder(subject, self.certificate.subject, key, VALID_FROM, VALID_UNTIL).add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True
        )
        authority = type(self)(self.folder, builder.sign(self.key, hashes.SHA256()), key)
        _write(self.folder / f"{name}.crt", authority.certificate)
        return authority

    def revocation_list(
        self,
        *revoked: x509.Certificate,
        valid_from: timedelta = VALID_FROM,
        valid_until: timedelta = VALID_UNTIL,
        extensions: Sequence[tuple[x509.ExtensionType, bool]] = (),
        encoding: serialization.Encoding = serialization.Encoding.PEM,
    ) -> bytes:
        """A list of these certificates, with these extensions, each critical or not."""
        now = datetime.now(UTC)
        builder = x509.CertificateRevocationListBuilder().issuer_name(self.certificate.subject)
        builder = builder.last_update(now + valid_from).next_update(now + valid_until)
        for certificate in revoked:
            entry = x509.RevokedCertificateBuilder().serial_number(certificate.serial_number).revocation_date(now)
            builder = builder.add_revoked_certificate(entry.build())
        for extension, critical in extensions:
            builder = builder.add_extension(extension, critical)
        return builder.sign(self.key, hashes.SHA256()).public_bytes(encoding)

    def issue(
        self,
        name: str,
        *,
        dns: Sequence[str] = (),
        uris: Sequence[str] = (),
        addresses: Sequence[str] = (),
        valid_from: timedelta = VALID_FROM,
        valid_until: timedelta = VALID_UNTIL,
        extensions: Sequence[x509.ExtensionType] = (),
    ) -> Certificate:
        """A certificate for servers and clients with these alternative names, as NAME.crt and NAME.key."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        names: list[x509.GeneralName] = [
            *map(x509.DNSName, dns),
            *map(x509.UniformResourceIdentifier, uris),
            *(x509.IPAddress(ipaddress.ip_address(address)) for address in addresses),
        ]
        builder = _builder(subject, self.certificate.subject, key, valid_from, valid_until)
        builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        builder = builder.add_extension(
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False
        )
        for extension in extensions:
            builder = builder.add_extension(extension, critical=False)
        if names:
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        issued = Certificate(
            self.folder / f"{name}.crt",
            self.folder / f"{name}.key",
            self.folder / f"{self.certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value!s}.crt",
        )
        _write(issued.certificate, builder.sign(self.key, hashes.SHA256()))
        issued.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return issued


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    valid_from: timedelta,
    valid_until: timedelta,
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + valid_from)
        .not_valid_after(now + valid_until)
    )


def _write(path: Path, certificate: x509.Certificate) -> None:
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
