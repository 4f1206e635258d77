r"""The header `x-forwarded-client-cert`, in which Envoy forwards the certificate that it has verified.

Its form is that of Envoy's documentation (HTTP header manipulation, x-forwarded-client-cert): pairs `Key=value` between
semicolons. A value that has one of `,;=` must be in double quotes, where `\"` is a quote. A proxy that appends to a
header puts a comma between, and Envoy does not quote names, so a name with a comma in it looks the same. Therefore the
header must come from one proxy alone, which replaces it (`SANITIZE_SET`).
"""

import re
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from groundwire_server.rpc.identity.certificate_mapping import CertificateNames

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
