"""Addresses to listen at: why one cannot be had, and holding one for processes that share it.

Everything is tried with plain sockets, because these say what is wrong; gRPC does not.
"""

import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TypeAlias

from groundwire_server.config import SettingsError
from groundwire_server.config.setting_rules import split_address

_SocketAddress: TypeAlias = tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]


def check_free(setting: str, address: str) -> None:
    """Raises SettingsError unless an address of the host is free: gRPC asks for no more than one."""
    host, port = split_address(address)
    reasons: list[str] = []
    for family, candidate in _resolved(setting, address, host, port):
        try:
            _check_free(family, candidate)
        except OSError as error:
            reasons.append(_reason(error))
        else:
            return
    raise _unavailable(setting, address, reasons[0])


@contextmanager
def held(setting: str, address: str) -> Iterator[str]:
    """Holds a free address for processes that share it, and yields it with the port that it got.

    During that time only processes of this user that set SO_REUSEPORT can listen at it. Sockets that are bound but do
    not listen hold it, so that no connection reaches them. Raises SettingsError when no address of the host is free.
    Linux only.
    """
    host, port = split_address(address)
    reasons: list[str] = []
    with ExitStack() as sockets:
        holders: list[socket.socket] = []
        for family, candidate in _resolved(setting, address, host, port):
            try:
                _check_free(family, candidate)
                holders.append(sockets.enter_context(_hold(family, (candidate[0], port, *candidate[2:]))))
            except OSError as error:
                reasons.append(_reason(error))
            else:
                port = holders[0].getsockname()[1]  # all addresses of the host get the port that the first got for 0
        if not holders:
            raise _unavailable(setting, address, reasons[0])
        yield f"{address.rpartition(':')[0]}:{port}"


def _resolved(setting: str, address: str, host: str, port: int) -> list[tuple[socket.AddressFamily, _SocketAddress]]:
    try:
        candidates = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise _unavailable(setting, address, _reason(error)) from error
    return [(family, candidate) for family, _, _, _, candidate in candidates]


def _check_free(family: socket.AddressFamily, candidate: _SocketAddress) -> None:
    """Raises OSError when another socket has the address, which the kernel reports only to a socket that listens."""
    with _bound(family, candidate) as probe:
        probe.listen(1)


def _hold(family: socket.AddressFamily, candidate: tuple[str | int | bytes, ...]) -> socket.socket:
    """A socket at the address; only sockets that set SO_REUSEPORT can share the address with it."""
    holder = _bound(family, candidate)
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
    if sys.platform != "win32":
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    return holder


def _bound(family: socket.AddressFamily, candidate: tuple[str | int | bytes, ...]) -> socket.socket:
    """A socket at the address, where connections that a server before has closed may still linger."""
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind(candidate)
    except OSError:
        made.close()
        raise
    return made


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


def _unavailable(setting: str, address: str, reason: str) -> SettingsError:
    return SettingsError(f"{setting}: {address}: {reason}; choose another address or free this one")
