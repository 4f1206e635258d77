"""How a client reaches its server: address, TLS, channel options, and the retry policy as gRPC service config."""

import ipaddress
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import grpc

from groundwire_client._arguments import of_type

SERVER_VARIABLE = "GROUNDWIRE_SERVER"
DEFAULT_SERVER = "localhost:50051"
"""Where `groundwire serve` listens unless told otherwise."""

_ADDRESS = re.compile(r"(?:\[(?P<bracketed>[^\[\]\s]+)\]|(?P<host>[^\[\]:/\s]+))(?::(?P<port>[0-9]{1,5}))?")
_RESOLVERS = ("dns:", "ipv4:", "ipv6:", "unix:", "unix-abstract:", "vsock:", "xds:")
"""How targets begin that gRPC resolves by itself."""

_SERVICE_CONFIG = {
    "methodConfig": [
        {
            # Calls that change an index are not listed: after a lost answer, a second try would report the state
            # that the first one made.
            "name": [
                {"service": "groundwire.v1.RetrievalService"},
                {"service": "groundwire.v1.QueryService"},
                {"service": "groundwire.v1.IndexService", "method": "ListIndexes"},
                {"service": "groundwire.v1.IndexService", "method": "GetIndex"},
            ],
            # gRPC adds the jitter. There is no "timeout" here, because it fires early: the deadline of the call
            # bounds all its attempts together.
            "retryPolicy": {
                "maxAttempts": 4,
                "initialBackoff": "0.2s",
                "maxBackoff": "2s",
                "backoffMultiplier": 2,
                "retryableStatusCodes": ["UNAVAILABLE"],
            },
        }
    ]
}

CHANNEL_OPTIONS: Sequence[tuple[str, str | int]] = (
    ("grpc.service_config", json.dumps(_SERVICE_CONFIG)),
    ("grpc.enable_retries", 1),
    # gRPC's defaults try a lost connection again after 1 s, beyond the first retries, and after long outages only
    # every 2 minutes.
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.max_reconnect_backoff_ms", 5_000),
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
)


@dataclass(frozen=True, slots=True)
class TLS:
    """Files (PEM) that secure a channel.

    Attributes:
        root_certificates: The authorities to trust; None trusts those that gRPC ships with.
        client_certificate: The certificate chain of the caller, for servers that require one (mTLS).
        client_key: The private key of `client_certificate`.

    Raises:
        ValueError: Only one of `client_certificate` and `client_key` is given.
    """

    root_certificates: str | os.PathLike[str] | None = None
    client_certificate: str | os.PathLike[str] | None = None
    client_key: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        if (self.client_certificate is None) != (self.client_key is None):
            raise ValueError("client_certificate and client_key belong together: give both or neither")


def channel_credentials(tls: TLS) -> grpc.ChannelCredentials:
    """Reads the files. Raises OSError when one cannot be read, and TypeError for what is no TLS."""
    of_type("credentials", tls, "of type TLS", TLS)
    return grpc.ssl_channel_credentials(
        root_certificates=_read(tls.root_certificates),
        private_key=_read(tls.client_key),
        certificate_chain=_read(tls.client_certificate),
    )


def server_address(target: str | None) -> str:
    """`target`, or the environment's GROUNDWIRE_SERVER when it is None.

    Raises:
        ValueError: There is neither, or it is no `host:port`, nor a target of a resolver of gRPC.
    """
    address = os.environ.get(SERVER_VARIABLE, "") if target is None else target
    if not address:
        raise ValueError(f"no server: pass its address, such as 'localhost:50051', or set {SERVER_VARIABLE}")
    match = _ADDRESS.fullmatch(address)
    if not address.startswith(_RESOLVERS) and (match is None or not 0 < int(match["port"] or 0) < 2**16):
        raise ValueError(
            f"server: {address!r} is no address: give host and port alone, such as 'localhost:50051' or '[::1]:50051'; "
            "TLS is asked for by --tls-ca, or credentials=TLS(...) in Python"
        )
    return address


def check_token_is_protected(address: str, *, is_secured: bool, has_token: bool, plaintext_token: bool) -> None:
    """Raises ValueError for a token that would leave this machine without TLS and without the option that allows it."""
    if has_token and not (is_secured or plaintext_token or is_loopback(address)):
        raise ValueError(
            f"token: would be sent unencrypted to {address}, another machine: secure the connection with TLS(...) "
            "(--tls-ca), or, if a mesh encrypts it, pass plaintext_token=True (--plaintext-token)"
        )


def is_loopback(address: str) -> bool:
    """True if a gRPC target stays on this machine for certain: a Unix socket, `localhost` or a loopback address."""
    if address.startswith(("unix:", "unix-abstract:")):
        return True
    if address.startswith(("ipv4:", "ipv6:")):
        return all(map(_is_loopback, address[len("ipv4:") :].split(",")))
    # `dns://SERVER/NAME` asks a name server of its own, so it stays as it is, which is no host.
    return _is_loopback(address.removeprefix("dns:///").removeprefix("dns:"))


_LAST_PORT = 65_535


def host_and_port(address: str, option: str) -> tuple[str, int]:
    """The host and the port of an address to listen at; an IPv6 address is in brackets.

    Raises:
        ValueError: It is none; the message names `option`.
    """
    host, _, port = address.rpartition(":")
    if not host or not (port.isascii() and port.isdecimal()) or int(port) > _LAST_PORT:
        raise ValueError(f"{option} {address}: must be HOST:PORT, such as 127.0.0.1:8765")
    return host.removeprefix("[").removesuffix("]"), int(port)


def is_loopback_host(host: str) -> bool:
    """True if a name or address, IPv6 without brackets, is of this machine for certain: `localhost` or loopback."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_loopback(address: str) -> bool:
    match = _ADDRESS.fullmatch(address)
    return match is not None and is_loopback_host(match["bracketed"] or match["host"])


def _read(path: str | os.PathLike[str] | None) -> bytes | None:
    return None if path is None else Path(path).read_bytes()
