"""Servers behind Envoy with mutual TLS on both hops, and callers with certificates."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

import grpc

from support.certificates import Authority, Certificate
from support.envoy import Envoy, write_configuration
from support.program import Server

TRUST_DOMAIN = "spiffe://cluster.local/ns"
SERVER_NAME = "groundwire.groundwire.svc"
ENVOY_NAME = "groundwire-envoy.groundwire.svc"
CALLER_URI = f"{TRUST_DOMAIN}/shop/sa/shop"
# The call is made once. Whatever fails, Envoy alone may make it again.
ONE_ATTEMPT: Sequence[tuple[str, int]] = (("grpc.enable_retries", 0), ("grpc.use_local_subchannel_pool", 1))


class Identities:
    """The certificates of one mesh, all signed by one authority."""

    def __init__(self, folder: Path) -> None:
        self.authority = Authority.create(folder)
        self.server = self.authority.issue(
            "server", dns=(SERVER_NAME, "localhost"), uris=(f"{TRUST_DOMAIN}/groundwire/sa/groundwire",)
        )
        self.envoy = self.authority.issue(
            "envoy", dns=(ENVOY_NAME, "localhost"), uris=(f"{TRUST_DOMAIN}/groundwire/sa/groundwire-envoy",)
        )
        self.caller = self.authority.issue("caller", uris=(CALLER_URI,))


class Mesh:
    """Two servers over one data folder, and Envoy before them; a context manager that ends all."""

    def __init__(self, folder: Path, data: Path, *flags: str, environment: Mapping[str, str] | None = None) -> None:
        self.identities = Identities(folder / "certificates")
        self._data, self._flags, self._environment = data, flags, environment
        with ExitStack() as stack:
            self.servers = [stack.enter_context(self._serve("127.0.0.1:0")) for _ in range(2)]
            self.addresses = [server.address for server in self.servers]
            configuration = write_configuration(folder / "envoy", self.identities.envoy, self.addresses)
            self.envoy = stack.enter_context(Envoy(configuration))
            self.envoy.await_healthy(2)
            self._stack = stack.pop_all()

    def restart(self, number: int) -> None:
        """Starts a server again where the one of that number was, and waits until Envoy finds it healthy."""
        self.servers[number] = self._stack.enter_context(self._serve(self.addresses[number]))
        self.envoy.await_healthy(2)

    def channel(self, caller: Certificate | None = None) -> grpc.Channel:
        """A connection of its own to Envoy, without the client's retries."""
        return secure_channel(self.envoy.address, caller or self.identities.caller)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, traceback)

    def _serve(self, address: str) -> Server:
        identity = self.identities.server
        return Server(
            self._data,
            "--listen",
            address,
            "--tls-certificate",
            str(identity.certificate),
            "--tls-key",
            str(identity.key),
            "--tls-client-ca",
            str(identity.authority),
            *self._flags,
            environment=self._environment,
        )


def secure_channel(address: str, caller: Certificate, options: Sequence[tuple[str, int]] = ONE_ATTEMPT) -> grpc.Channel:
    """A channel with mutual TLS; unless other options are given, one with a connection of its own and no retries."""
    credentials = grpc.ssl_channel_credentials(
        caller.authority.read_bytes(), caller.key.read_bytes(), caller.certificate.read_bytes()
    )
    return grpc.secure_channel(address, credentials, [*options, ("grpc.ssl_target_name_override", "localhost")])
