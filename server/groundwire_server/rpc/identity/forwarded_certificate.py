"""The header `x-forwarded-client-cert`, by which Envoy tells whose certificate it has verified.

Its form is that of Envoy's documentation (HTTP header manipulation, x-forwarded-client-cert): pairs `Key=value` between
semicolons. A value that holds one of `,;=` should stand in double quotes, in which `\"` is a quote. A proxy that
appends to what it was sent puts a comma between, but so does a name with a comma in it, since Envoy does not quote
names. The two cannot be told apart, so the header must be of one proxy alone, which sets it (`SANITIZE_SET`).
"""

import re

from groundwire_server.rpc.identity.certificate_mapping import CertificateNames

FORWARDED_KEY = "x-forwarded-client-cert"

_PAIR = re.compile(r'[ \t]*([A-Za-z]+)=("(?:[^"\\]|\\.)*"|[^",;]*)[ \t]*(;|$)')
_ESCAPED = re.compile(r"\\(.)")


def forwarded_certificate(header: str) -> CertificateNames:
    """The names in a header. Raises ValueError when it is not of that form or has more than one element."""
    pairs = _pairs(header)
    return CertificateNames(
        uris=tuple(value for key, value in pairs if key == "uri" and value),
        dns_names=tuple(value.lower() for key, value in pairs if key == "dns" and value),
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
