"""The port that Prometheus scrapes: plain HTTP, in threads of its own, so that it answers when the event loop hangs."""

import socket
import threading
from socketserver import TCPServer, ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from prometheus_client import CollectorRegistry, make_wsgi_app

from groundwire_server.config import SettingsError
from groundwire_server.config.values import split_address
from groundwire_server.rpc.serving.addresses import check_free

SETTING = "metrics_listen"
_IDLE_SECONDS = 30
_POLL_SECONDS = 0.1


class _Handler(WSGIRequestHandler):
    """Gives up connections that say nothing, and logs no request."""

    timeout = _IDLE_SECONDS

    def log_message(self, format: str, *args: object) -> None:
        """Logs nothing: scrapes come all the time."""


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True

    def server_bind(self) -> None:
        """Binds without asking the name service for this machine's name, as HTTPServer does."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]
        self.setup_environ()


class MetricsServer:
    """Answers scrapes of a registry until it is stopped."""

    def __init__(self, registry: CollectorRegistry, address: str, *, shared: bool) -> None:
        """Listens, together with other processes when `shared`. Raises SettingsError when the address cannot be had."""
        if not shared:
            check_free(SETTING, address)
        try:
            self._server = _listening(address, shared=shared)
        except OSError as error:
            raise SettingsError(f"{SETTING}: {address}: {error.strerror}; choose another address") from error
        self._server.set_app(make_wsgi_app(registry))
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_POLL_SECONDS,), name="groundwire-metrics", daemon=True
        )
        self._thread.start()
        self.address = f"{address.rpartition(':')[0]}:{self._server.server_port}"

    def stop(self) -> None:
        """Ends within a tenth of a second, and blocks until then. Scrapes under way may finish."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _listening(address: str, *, shared: bool) -> _Server:
    host, port = split_address(address)
    family, _, _, _, resolved = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    kind = type("_BoundServer", (_Server,), {"address_family": family, "allow_reuse_port": shared})
    server: _Server = kind((str(resolved[0]), port), _Handler)
    return server
