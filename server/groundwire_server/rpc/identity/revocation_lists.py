"""X.509 certificate revocation lists (RFC 5280 §5): which certificates their authorities have revoked."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Self, TypeVar, cast, get_args

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.types import CertificateIssuerPublicKeyTypes

_BEGIN = b"-----BEGIN X509 CRL-----"
_PEM = re.compile(_BEGIN + rb"[^-]++-----END X509 CRL-----")
_HEEDED = (x509.AuthorityKeyIdentifier, x509.CRLNumber, x509.IssuingDistributionPoint)
UNREADABLE = (
    ValueError,
    TypeError,
    UnsupportedAlgorithm,
    x509.DuplicateExtension,
    x509.InvalidVersion,
    x509.UnsupportedGeneralNameType,
)
"""The errors that the library `cryptography` raises for data that it cannot parse."""

_NEVER = datetime.min.replace(tzinfo=UTC)

Extension = TypeVar("Extension", bound=x509.ExtensionType)


class RevocationListError(Exception):
    """Revocation lists that cannot be used, and why."""


@dataclass(frozen=True, slots=True)
class RevocationStatus:
    """The status of a certificate by the lists, and the end of its validity; `datetime.min` where no list covers it."""

    revoked: bool
    until: datetime


@dataclass(frozen=True, slots=True)
class _List:
    issuer: x509.Name
    serial_numbers: frozenset[int]
    next_update: datetime
    point: x509.IssuingDistributionPoint | None

    def covers(self, certificate: x509.Certificate) -> bool:
        """True if the list is about this certificate: one list may cover only some certificates of its issuer."""
        if certificate.issuer != self.issuer:
            return False
        if self.point is None:
            return True
        constraints = _extension(certificate.extensions, x509.BasicConstraints)
        is_authority = constraints is not None and constraints.ca
        if self.point.only_contains_user_certs if is_authority else self.point.only_contains_ca_certs:
            return False
        points = _extension(certificate.extensions, x509.CRLDistributionPoints)
        names = [name for point in points or () for name in point.full_name or ()]
        return self.point.full_name is None or any(name in names for name in self.point.full_name)


class RevocationLists:
    """Revocation lists that some of `authorities` have signed."""

    def __init__(self, lists: Sequence[_List], authorities: Sequence[x509.Certificate]) -> None:
        self._lists = lists
        self._authorities = authorities

    @classmethod
    def parse(cls, content: bytes, authorities: Sequence[x509.Certificate], now: datetime) -> Self:
        """The lists of a file: one in DER, or any number in PEM. One past its next update is accepted.

        Raises RevocationListError when one is broken, not signed by any of `authorities`, not yet valid, or of a
        kind that is not supported.
        """
        return cls([_checked(each, authorities, now) for each in _loaded(content)], authorities)

    @property
    def next_update(self) -> datetime:
        """When the first of the lists is out of date."""
        return min(each.next_update for each in self._lists)

    def overdue(self, now: datetime) -> list[str]:
        """A line for each list that is out of date."""
        return [
            f"the list of {each.issuer.rfc4514_string()} is out of date since {each.next_update.isoformat()}; "
            "certificates of this issuer are refused until the file has the next list"
            for each in self._lists
            if each.next_update <= now
        ]

    def status(self, certificate: x509.Certificate, intermediates: Sequence[x509.Certificate]) -> RevocationStatus:
        """True if a certificate, or one of its issuers, was revoked.

        The certificate's own issuer must have a list. Lists of the issuers above it are used if they are there, since
        roots often publish none. Raises one of UNREADABLE.
        """
        covering_lists = [each for each in self._lists if each.covers(certificate)]
        if not covering_lists:
            return RevocationStatus(revoked=False, until=_NEVER)
        issuers = _issuers(certificate, [*intermediates, *self._authorities])
        above = [(each, issuer) for issuer in issuers for each in self._lists if each.covers(issuer)]
        judged = [*((each, certificate) for each in covering_lists), *above]
        return RevocationStatus(
            revoked=any(subject.serial_number in each.serial_numbers for each, subject in judged),
            until=min(each.next_update for each, _ in judged),
        )


def _issuers(certificate: x509.Certificate, candidates: Sequence[x509.Certificate]) -> list[x509.Certificate]:
    """All candidates that have signed the certificate, directly or through other candidates."""
    chain = [certificate]
    for subject in chain:  # which grows
        chain.extend(each for each in candidates if each not in chain and _has_signed(each, subject))
    return chain[1:]


def _has_signed(issuer: x509.Certificate, subject: x509.Certificate) -> bool:
    if issuer.subject != subject.issuer:
        return False
    try:
        subject.verify_directly_issued_by(issuer)
    except (InvalidSignature, *UNREADABLE):
        return False
    return True


def _loaded(content: bytes) -> list[x509.CertificateRevocationList]:
    blocks = _PEM.findall(content)
    if len(blocks) != content.count(_BEGIN):
        raise RevocationListError("holds a list that does not end; write the file elsewhere and move it into place")
    try:
        return [*map(x509.load_pem_x509_crl, blocks)] or [x509.load_der_x509_crl(content)]
    except UNREADABLE:
        raise RevocationListError("is no X.509 revocation list; give one in DER, or any number in PEM") from None


def _checked(
    revocations: x509.CertificateRevocationList, authorities: Iterable[x509.Certificate], now: datetime
) -> _List:
    try:
        name = revocations.issuer.rfc4514_string()
        if not any(_has_signed_list(each, revocations) for each in authorities):
            raise RevocationListError(f"the list of {name} is not signed by a CA of tls_client_ca that may sign lists")
        if revocations.next_update_utc is None:
            raise RevocationListError(f"the list of {name} does not say when the next one comes (nextUpdate)")
        if revocations.last_update_utc > now:
            raise RevocationListError(f"the list of {name} is not valid yet (thisUpdate)")
        _check_extensions(name, revocations.extensions)
        return _List(
            revocations.issuer,
            frozenset(entry.serial_number for entry in revocations),
            revocations.next_update_utc,
            _extension(revocations.extensions, x509.IssuingDistributionPoint),
        )
    except UNREADABLE:
        raise RevocationListError("holds a list that breaks the form of X.509 revocation lists") from None


def _has_signed_list(authority: x509.Certificate, revocations: x509.CertificateRevocationList) -> bool:
    if authority.subject != revocations.issuer:
        return False
    usage = _extension(authority.extensions, x509.KeyUsage)
    key = authority.public_key()
    may_sign = (usage is None or usage.crl_sign) and isinstance(key, get_args(CertificateIssuerPublicKeyTypes))
    return may_sign and revocations.is_signature_valid(cast("CertificateIssuerPublicKeyTypes", key))


def _check_extensions(name: str, extensions: x509.Extensions) -> None:
    if _extension(extensions, x509.DeltaCRLIndicator) is not None:
        raise RevocationListError(f"the list of {name} has only changes; give the complete list")
    point = _extension(extensions, x509.IssuingDistributionPoint)
    if point is not None and (
        point.indirect_crl or point.only_some_reasons or point.only_contains_attribute_certs or point.relative_name
    ):
        raise RevocationListError(f"the list of {name} is indirect, or not for all reasons; give the complete list")
    for extension in extensions:
        if extension.critical and not isinstance(extension.value, _HEEDED):
            raise RevocationListError(
                f"the list of {name} has the critical extension {extension.oid.dotted_string}, which is not known here"
            )


def _extension(extensions: x509.Extensions, kind: type[Extension]) -> Extension | None:
    try:
        return extensions.get_extension_for_class(kind).value
    except x509.ExtensionNotFound:
        return None
