"""Mode `mtls`: callers are known by their certificates, which the TLS handshake has verified."""

import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote_to_bytes

from groundwire_server.domain.access.grants import Caller
from groundwire_server.domain.errors import Reason, UnauthenticatedError
from groundwire_server.rpc.bodies import CallContext
from groundwire_server.rpc.identity.authenticator import Authenticator, refused
from groundwire_server.rpc.identity.certificate_mapping import CertificateMapping
from groundwire_server.rpc.identity.certificate_names import CertificateNames, checked_names, names_of
from groundwire_server.rpc.identity.peer_certificates import PeerCertificates

FORWARDED_KEY = "x-forwarded-client-cert"

_PAIR = re.compile(r'[ \t]*([A-Za-z]+)=("(?:[^"\\]|\\.)*+"|[^",;]*+)[ \t]*(;|$)')
_ESCAPED = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class ForwardedCertificate:
    """The names that a proxy forwards, and the certificate itself in PEM if it forwards that."""

    names: CertificateNames
    pem: bytes | None = None


def forwarded_certificate(header: str) -> ForwardedCertificate:
    """The parsed header. Raises ValueError for another form, or for two elements or certificates."""
    pairs = _pairs(header)
    certificates = [value for key, value in pairs if key == "cert"]
    if len(certificates) > 1:
        raise ValueError("holds more than one certificate")
    return ForwardedCertificate(
        CertificateNames(
            uris=tuple(value for key, value in pairs if key == "uri" and value),
            dns_names=tuple(value.lower() for key, value in pairs if key == "dns" and value),
        ),
        unquote_to_bytes(certificates[0]) if certificates else None,
    )


def _pairs(header: str) -> list[tuple[str, str]]:
    """The pairs, keys in lower case."""
    pairs: list[tuple[str, str]] = []
    position, separator = 0, ";"
    while separator:
        pair = _PAIR.match(header, position)
        if pair is None:
            raise ValueError(f"is no pair of key and value at character {position}")
        key, value, separator = pair.groups()
        pairs.append((key.lower(), _unquoted(value)))
        position = pair.end()
    return pairs


def _unquoted(value: str) -> str:
    return _ESCAPED.sub(r"\1", value[1:-1]) if value.startswith('"') else value


_REMEMBERED = 4_096
"""For how many certificates their names, and their callers, are remembered."""


class CertifiedCallers(Authenticator):
    """Grants by the peer's certificate, or by the one that a trusted proxy forwards.

    A trusted proxy is no caller itself: a call that it forwards without a certificate is refused, since callers without
    a certificate would otherwise get the proxy's access. A certificate that any other peer forwards is refused, not
    ignored: such a peer is a proxy that the mapping does not list, and all its callers would get its own access.
    """

    def __init__(self, mapping: CertificateMapping, certificates: PeerCertificates) -> None:
        """`certificates` checks forwarded certificates; that of the peer itself was checked before."""
        self._certificates = certificates
        self._names_of = lru_cache(_REMEMBERED)(names_of)
        self._known = lru_cache(_REMEMBERED)(mapping.caller)
        self._is_proxy = lru_cache(_REMEMBERED)(mapping.is_proxy)

    async def authenticate(self, context: CallContext) -> Caller:
        """The name in the caller's certificate that the mapping lists, and what it grants.

        Raises UnauthenticatedError, IdentityUnavailableError.
        """
        caller = self._known(self._names(context))
        if caller is None:
            raise refused("certificate", "no caller is known by the names in this certificate")
        return caller

    def _names(self, context: CallContext) -> CertificateNames:
        peer = self._names_of(b"".join(context.auth_context().get("x509_pem_cert", ())))
        forwarded = [value for key, value in context.invocation_metadata() or () if key == FORWARDED_KEY]
        if not self._is_proxy(peer):
            if forwarded:
                raise refused("proxy", f"this peer is no trusted proxy; call without {FORWARDED_KEY}")
            return peer
        if not forwarded:
            raise UnauthenticatedError(
                Reason.IDENTITY_REQUIRED, f"the proxy forwards no certificate of its caller in {FORWARDED_KEY}"
            )
        certificate = _forwarded(forwarded)
        if certificate.pem is None:
            return checked_names(certificate.names)
        self._certificates.check_pem(certificate.pem)
        return self._names_of(certificate.pem)


def _forwarded(headers: list[str | bytes]) -> ForwardedCertificate:
    (header, *others) = headers
    if others or not isinstance(header, str):
        raise refused("proxy", f"{FORWARDED_KEY} must be sent once")
    try:
        return forwarded_certificate(header)
    except ValueError:
        raise refused("proxy", f"{FORWARDED_KEY} is not one element of the form that Envoy documents") from None
