"""Checks at each call that a certificate is still valid.

The TLS handshake verifies a certificate once. A connection may last longer, and a resumed session does not repeat the
check, so neither an expiry nor a revocation would be noticed.
"""

import hashlib
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, datetime

from cryptography import x509

from groundwire_server.domain.access.grants import Caller
from groundwire_server.domain.errors import IdentityUnavailableError, Reason
from groundwire_server.rpc.bodies import CallContext
from groundwire_server.rpc.identity.authenticator import Authenticator, refused
from groundwire_server.rpc.identity.revocation_file import RevocationFile
from groundwire_server.rpc.identity.revocation_lists import UNREADABLE, RevocationStatus

MAX_REMEMBERED = 4_096
_ALWAYS = RevocationStatus(revoked=False, until=datetime.max.replace(tzinfo=UTC))


@dataclass(frozen=True, slots=True)
class _Known:
    not_before: datetime
    not_after: datetime
    status: RevocationStatus


class PeerCertificates:
    """Refuses certificates that have expired, are not valid yet, or were revoked.

    Clocks have no leeway. Certificates are remembered by their digest, so each is parsed once until the lists change.
    Use it in one event loop.
    """

    def __init__(self, revocations: RevocationFile | None) -> None:
        self._revocations = revocations
        self._judged_by = None if revocations is None else revocations.lists
        self._known: OrderedDict[bytes, _Known] = OrderedDict()

    def start(self) -> None:
        """Begins to read the revocation lists periodically."""
        if self._revocations is not None:
            self._revocations.start()

    async def stop(self) -> None:
        """Ends what `start` began."""
        if self._revocations is not None:
            await self._revocations.stop()

    def check(self, context: CallContext) -> None:
        """Checks the certificate of the call's peer. Raises as `check_pem` does, also when there is none."""
        properties = context.auth_context()
        self.check_pem(
            b"".join(properties.get("x509_pem_cert", ())), b"".join(properties.get("x509_pem_cert_chain", ()))
        )

    def check_pem(self, certificate: bytes, intermediates: bytes = b"") -> None:
        """Checks a certificate in PEM whose signature was verified elsewhere; `intermediates` are its issuers'.

        Raises UnauthenticatedError, and IdentityUnavailableError when no current list says whether it was revoked.
        """
        known = self._read_once(certificate, intermediates)
        now = datetime.now(UTC)
        if now > known.not_after:
            raise refused("certificate_expired", "the certificate has expired; connect with a new one")
        if now < known.not_before:
            raise refused("certificate_not_yet_valid", "the certificate is not valid yet; compare the clocks")
        if known.status.revoked:
            raise refused("certificate_revoked", "the certificate was revoked; connect with a new one")
        if now >= known.status.until:
            raise IdentityUnavailableError(
                Reason.IDENTITY_UNAVAILABLE,
                "no revocation list of the certificate's authority is there and up to date; try again later",
            )

    def _read_once(self, certificate: bytes, intermediates: bytes) -> _Known:
        if self._revocations is not None and self._revocations.lists is not self._judged_by:
            self._judged_by = self._revocations.lists
            self._known.clear()
        digest = hashlib.sha256(b"\0".join((certificate, intermediates))).digest()
        known = self._known.get(digest)
        if known is None:
            known = self._known[digest] = self._read(certificate, intermediates)
            if len(self._known) > MAX_REMEMBERED:
                self._known.popitem(last=False)
        self._known.move_to_end(digest)
        return known

    def _read(self, certificate: bytes, intermediates: bytes) -> _Known:
        try:
            parsed = x509.load_pem_x509_certificate(certificate)
            others = x509.load_pem_x509_certificates(intermediates) if intermediates else []
            status = _ALWAYS if self._judged_by is None else self._judged_by.status(parsed, others)
            return _Known(parsed.not_valid_before_utc, parsed.not_valid_after_utc, status)
        except UNREADABLE:
            raise refused("certificate", "there is no certificate that can be read; connect with another one") from None


class CheckedPeers(Authenticator):
    """Checks the peer's certificate before the caller is identified."""

    def __init__(self, certificates: PeerCertificates, callers: Authenticator) -> None:
        self._certificates = certificates
        self._callers = callers

    async def start(self) -> None:
        """Begins to refresh the lists and keys that certificates and callers are verified with."""
        self._certificates.start()
        await self._callers.start()

    async def authenticate(self, context: CallContext) -> Caller:
        """The caller, if the peer's certificate is valid. Raises UnauthenticatedError, IdentityUnavailableError."""
        self._certificates.check(context)
        return await self._callers.authenticate(context)

    async def stop(self) -> None:
        """Ends what `start` began."""
        await self._callers.stop()
        await self._certificates.stop()
