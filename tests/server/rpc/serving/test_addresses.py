"""Addresses: held for processes that share them, refused to everybody else."""

import socket

import pytest

from groundwire_server.config import SettingsError
from groundwire_server.config.setting_rules import split_address
from groundwire_server.rpc.serving.addresses import check_free, held


def listener(address: str, *, shares: bool) -> socket.socket:
    """A socket that listens at `address`."""
    return socket.create_server(split_address(address), reuse_port=shares)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0.0.0.0"])
def test_a_free_port_is_taken_and_told(host: str) -> None:
    with held("listen", f"{host}:0") as address:
        bound_host, _, port = address.rpartition(":")
        assert bound_host == host
        assert int(port) > 0


def test_processes_that_share_the_address_get_every_connection_and_nobody_else_can_listen() -> None:
    with held("listen", "127.0.0.1:0") as address:
        with pytest.raises(OSError, match="Address already in use"):
            listener(address, shares=False)
        with listener(address, shares=True) as first, listener(address, shares=True) as second:
            for _ in range(20):
                with socket.create_connection(split_address(address), timeout=300):
                    pass
            accepted = 0
            for server in (first, second):
                server.setblocking(False)
                try:
                    while True:
                        server.accept()[0].close()
                        accepted += 1
                except BlockingIOError:
                    pass
            assert accepted == 20


def test_a_held_address_is_not_free_even_while_nobody_listens() -> None:
    with held("listen", "127.0.0.1:0") as address:
        message = f"^listen: {address}: Address already in use; choose another address or free this one$"
        with pytest.raises(SettingsError, match=message):
            check_free("listen", address)
        with pytest.raises(SettingsError, match=message), held("listen", address):
            pass
    check_free("listen", address)


@pytest.mark.parametrize("shares", [False, True])
def test_an_address_that_somebody_listens_at_is_not_held(shares: bool) -> None:
    with listener("127.0.0.1:0", shares=shares) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(SettingsError, match="already in use"), held("listen", address):
            pass


def test_connections_that_a_server_before_has_closed_do_not_keep_its_address() -> None:
    with listener("127.0.0.1:0", shares=False) as before:
        address = f"127.0.0.1:{before.getsockname()[1]}"
        caller = socket.create_connection(split_address(address), timeout=300)
        before.accept()[0].close()  # it closes first, so that its side lingers in TIME_WAIT
        caller.close()
    with held("listen", address) as got:
        assert got == address


def test_an_unknown_host_is_told() -> None:
    with pytest.raises(SettingsError, match=r"^health_listen: no\.such\.host\.invalid:1: .+; choose another address"):
        check_free("health_listen", "no.such.host.invalid:1")
