"""Mode `mtls`: callers are known by their certificates, which the TLS handshake has verified."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TypeVar

import grpc.aio

from groundwire_server.domain.access.grants import Caller
from groundwire_server.domain.errors import Reason, UnauthenticatedError
from groundwire_server.rpc.identity.authenticator import Authenticator, refused
from groundwire_server.rpc.identity.certificate_mapping import CertificateMapping, CertificateNames
from groundwire_server.rpc.identity.forwarded_certificate import (
    FORWARDED_KEY,
    ForwardedCertificate,
    forwarded_certificate,
)
from groundwire_server.rpc.identity.peer_certificates import PeerCertificates

Request = TypeVar("Request")
Response = TypeVar("Response")

_REMEMBERED = 4_096
"""For how many certificates the grant is remembered."""


class CertifiedCallers(Authenticator):
    """Grants by the peer's certificate, or by the one that a trusted proxy forwards.

    A trusted proxy is no caller itself: a call that it forwards without a certificate is refused, since callers without
    a certificate would otherwise get the proxy's access. A certificate that any other peer forwards is refused, not
    ignored: such a peer is a proxy that the mapping does not list, and all its callers would get its own access.
    """

    def __init__(self, mapping: CertificateMapping, certificates: PeerCertificates) -> None:
        """`certificates` checks forwarded certificates; that of the peer itself was checked before."""
        self._certificates = certificates
        self._grant = lru_cache(_REMEMBERED)(mapping.grant)
        self._is_proxy = lru_cache(_REMEMBERED)(mapping.is_proxy)

    async def authenticate(self, context: grpc.aio.ServicerContext[Request, Response]) -> Caller:
        """The name in the caller's certificate and what it grants.

        Raises UnauthenticatedError, IdentityUnavailableError.
        """
        names = self._caller(context)
        grant = self._grant(names)
        if grant is None:
            raise refused("certificate", "no caller is known by the names in this certificate")
        return Caller((*names.uris, *names.dns_names)[0], grant)

    def _caller(self, context: grpc.aio.ServicerContext[Request, Response]) -> CertificateNames:
        peer = _peer(context.auth_context())
        forwarded = [value for key, value in context.invocation_metadata() or () if key == FORWARDED_KEY]
        if not self._is_proxy(peer):
            if forwarded:
                raise refused("proxy", f"this peer is no trusted proxy; call without {FORWARDED_KEY}")
            return _checked(peer)
        if not forwarded:
            raise UnauthenticatedError(
                Reason.IDENTITY_REQUIRED, f"the proxy forwards no certificate of its caller in {FORWARDED_KEY}"
            )
        certificate = _forwarded(forwarded)
        if certificate.pem is not None:
            self._certificates.check_pem(certificate.pem)
        return _checked(certificate.names)


def _peer(properties: Mapping[str, Iterable[bytes]]) -> CertificateNames:
    return CertificateNames(
        uris=tuple(value.decode("utf-8", "replace") for value in properties.get("peer_uri", ())),
        dns_names=tuple(value.decode("utf-8", "replace").lower() for value in properties.get("peer_dns", ())),
    )


def _forwarded(headers: list[str | bytes]) -> ForwardedCertificate:
    (header, *others) = headers
    if others or not isinstance(header, str):
        raise refused("proxy", f"{FORWARDED_KEY} must be sent once")
    try:
        return forwarded_certificate(header)
    except ValueError:
        raise refused("proxy", f"{FORWARDED_KEY} is not one element of the form that Envoy documents") from None


def _checked(names: CertificateNames) -> CertificateNames:
    """The names; at most one may be a URI, as SPIFFE requires (X.509-SVID §2)."""
    if len(names.uris) > 1:
        raise refused("certificate", "the certificate has more than one URI as its name; SPIFFE allows one")
    return names
