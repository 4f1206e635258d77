"""Warns about a server that accepts callers that nothing has identified."""

import ipaddress

import structlog

from groundwire_server.config import Settings
from groundwire_server.config.setting_rules import split_address


def warn_if_exposed(settings: Settings) -> None:
    """Logs once what it means that a server of the access mode `trusted` can be reached from elsewhere by anybody."""
    if is_exposed(settings):
        structlog.get_logger().warning(
            "callers are not identified",
            listen=settings.listen,
            access_mode=settings.access_mode,
            meaning="every caller that reaches this address states its own access, and so can see every node",
            remedy="set access_mode to jwt or mtls; or tls_client_ca, so that certificates are demanded; or listen at "
            "127.0.0.1; or let only a proxy that authenticates callers reach this address",
        )


def is_exposed(settings: Settings) -> bool:
    """True if requests state their own access, no certificate is demanded, and other machines can connect."""
    host, _ = split_address(settings.listen)
    return settings.access_mode == "trusted" and settings.tls_client_ca is None and not _is_loopback(host)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
