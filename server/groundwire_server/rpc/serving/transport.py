"""The server's listening addresses, TLS, and the limits and keepalive of HTTP/2."""

import math
import ssl
import sys
from pathlib import Path

import grpc
import grpc.aio

from groundwire_server.config import Settings, SettingsError
from groundwire_server.rpc.identity.bearer_token import MAX_TOKEN_BYTES
from groundwire_server.rpc.serving.addresses import check_free

if sys.platform != "win32":
    import resource

# Clients of .NET, Go and others ping every 10 s, also without a call under way. gRPC's own defaults would answer
# them with GOAWAY "too_many_pings" within a minute; 5 s leaves room for jitter.
MIN_CLIENT_PING_INTERVAL_MS = 5_000
# Finds callers that vanished without a FIN within about a minute, so that their work is cancelled.
SERVER_PING_INTERVAL_MS = 40_000
SERVER_PING_TIMEOUT_MS = 20_000
# gRPC refuses some calls beyond its default of 8 KiB, by chance. Tokens that list many groups are longer, and one that
# is too long must get an error that says so.
MAX_METADATA_BYTES = 2 * MAX_TOKEN_BYTES
HANDSHAKE_TIMEOUT_MS = 10_000
"""In which a new connection must have come so far that it can carry calls."""
MAX_CONNECTION_STREAMS = 1_024
"""How many calls a connection may carry at a time. Clients keep further ones waiting."""
OTHER_FILES = 256
"""How many files a server opens besides connections to callers, at most: indexes, logs, ports, its own plumbing."""
MAX_HEALTH_REQUEST_BYTES = 4_096
MAX_HEALTH_CONNECTIONS = 64
MAX_HEALTH_STREAMS = 64


def server_options(settings: Settings) -> list[tuple[str, int]]:
    """gRPC's channel arguments for the server.

    A connection older than the maximum age is asked to close, so that clients spread over servers again. It may finish
    its calls, each within the maximum deadline. Workers listen at one port together, and the kernel gives each new
    connection to one of them. A server without workers does not share its port.
    """
    options = [
        ("grpc.max_receive_message_length", settings.max_receive_bytes),
        ("grpc.max_send_message_length", -1),
        ("grpc.max_metadata_size", MAX_METADATA_BYTES),
        ("grpc.max_allowed_incoming_connections", settings.max_connections),
        ("grpc.max_concurrent_streams", MAX_CONNECTION_STREAMS),
        ("grpc.server_handshake_timeout_ms", HANDSHAKE_TIMEOUT_MS),
        # With its probes, gRPC takes in megabytes of a request before anybody has asked for it; without, 64 KiB.
        ("grpc.http2.bdp_probe", 0),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.min_ping_interval_without_data_ms", MIN_CLIENT_PING_INTERVAL_MS),
        ("grpc.keepalive_time_ms", SERVER_PING_INTERVAL_MS),
        ("grpc.keepalive_timeout_ms", SERVER_PING_TIMEOUT_MS),
        # A call that has not been taken on by then has missed its deadline, and gRPC need not cancel it earlier.
        ("grpc.server_max_unrequested_time_in_server", math.ceil(settings.max_deadline_seconds)),
        ("grpc.so_reuseport", int(settings.workers > 1)),
        ("grpc.enable_channelz", int(settings.channelz_listen != "")),
    ]
    if settings.max_connection_age_seconds > 0:
        options.append(("grpc.max_connection_age_ms", round(settings.max_connection_age_seconds * 1000)))
        options.append(("grpc.max_connection_age_grace_ms", round(settings.max_deadline_seconds * 1000)))
    return options


def health_options(settings: Settings) -> list[tuple[str, int]]:
    """gRPC's channel arguments for the port of health, which has few callers with short requests."""
    options = {
        "grpc.max_receive_message_length": MAX_HEALTH_REQUEST_BYTES,
        "grpc.max_allowed_incoming_connections": MAX_HEALTH_CONNECTIONS,
        "grpc.max_concurrent_streams": MAX_HEALTH_STREAMS,
    }
    return [*(dict(server_options(settings)) | options).items()]


def reserve_files(settings: Settings) -> None:
    """Raises this process's limit of open files to the number that its connections and everything else need.

    Raises SettingsError when the system does not allow that many: connections above the limit would then block health
    checks.
    """
    if sys.platform != "win32":  # which has no such limit
        needed = settings.max_connections + MAX_HEALTH_CONNECTIONS + OTHER_FILES
        limit, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        if most != resource.RLIM_INFINITY and most < needed:
            raise SettingsError(
                f"max_connections: {settings.max_connections}: needs {needed} open files; the system allows {most}; "
                "give fewer connections, or raise the limit (ulimit -n)"
            )
        if limit != resource.RLIM_INFINITY and limit < needed:
            resource.setrlimit(resource.RLIMIT_NOFILE, (needed, most))


def load_credentials(settings: Settings) -> grpc.ServerCredentials | None:
    """TLS from the configured files, with client certificates required when a CA for them is given; None without.

    Raises SettingsError when a file cannot be read or is not what its setting asks for.
    """
    if settings.tls_certificate is None or settings.tls_key is None:
        return None
    certificate = read_file("tls_certificate", settings.tls_certificate)
    key = read_file("tls_key", settings.tls_key)
    client_ca = None if settings.tls_client_ca is None else read_file("tls_client_ca", settings.tls_client_ca)
    _check_tls(settings.tls_certificate, settings.tls_key, settings.tls_client_ca)
    return grpc.ssl_server_credentials([(key, certificate)], client_ca, require_client_auth=client_ca is not None)


def bind(
    server: grpc.aio.Server, setting: str, address: str, credentials: grpc.ServerCredentials | None, *, shared: bool
) -> str:
    """Makes `server` listen and returns the address with the port that it got. Raises SettingsError.

    A `shared` address is one that the supervisor of several workers holds for them.
    """
    if not shared:
        check_free(setting, address)
    try:
        if credentials is None:
            bound = server.add_insecure_port(address)
        else:
            bound = server.add_secure_port(address, credentials)
    except RuntimeError as error:
        raise SettingsError(f"{setting}: {address}: {error}") from error
    return f"{address.rpartition(':')[0]}:{bound}"


def read_file(setting: str, path: Path) -> bytes:
    """The content of the PEM file that a setting names. Raises SettingsError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise SettingsError(f"{setting}: {path}: {error.strerror}; give a readable PEM file") from error


def _check_tls(certificate: Path, key: Path, client_ca: Path | None) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certificate, key, password="")
    except ssl.SSLError as error:
        raise SettingsError(
            f"tls_certificate, tls_key: {certificate}, {key}: {error.reason or error}; "
            "give a PEM certificate chain and its PEM key without a passphrase"
        ) from error
    if client_ca is not None:
        try:
            context.load_verify_locations(client_ca)
        except ssl.SSLError as error:
            raise SettingsError(
                f"tls_client_ca: {client_ca}: {error.reason or error}; give the PEM certificates of the CAs"
            ) from error
