"""A TCP proxy that stands between a client and a server, and spoils what the server replies."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_CHUNK_BYTES = 4_096
_CONNECT_SECONDS = 60


class ReplyCutter:
    """Passes everything on as it is until it is told otherwise."""

    def __init__(self, port: int) -> None:
        """`port` is the server's, on loopback."""
        self._port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._most: int | None = None
        self._flowing = threading.Event()
        self._flowing.set()
        self._connections: dict[socket.socket, int] = {}
        self._lock = threading.Lock()
        self.cuts = 0
        self.uri = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def cut_after(self, count: int) -> None:
        """Each connection ends once so many bytes of replies have passed over it from now on."""
        with self._lock:
            self._most = count
            self._connections = dict.fromkeys(self._connections, 0)

    def hold(self) -> None:
        """Connections stay, and no reply passes any more."""
        self._flowing.clear()

    def cut_and_hold(self) -> None:
        """All connections end at once; new ones are taken, and no reply passes over them."""
        self._flowing.clear()
        with self._lock:
            ended = list(self._connections)
        for connection in ended:
            _end(connection)

    def heal(self) -> None:
        """Passes on what was held, and everything from now on."""
        with self._lock:
            self._most = None
        self._flowing.set()

    def close(self) -> None:
        """Listens no longer and ends all connections."""
        _end(self._listener)
        self.cut_and_hold()
        self.heal()

    def _accept(self) -> None:
        with self._listener, suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError), socket.create_connection(("127.0.0.1", self._port), _CONNECT_SECONDS) as server:
            server.settimeout(None)
            with self._lock:
                self._connections[client] = 0
            requests = threading.Thread(target=_copy, args=(client, server), daemon=True)
            requests.start()
            self._reply(server, client)
            _end(client)
            _end(server)
            requests.join()
        with self._lock:
            self._connections.pop(client, None)

    def _reply(self, server: socket.socket, client: socket.socket) -> None:
        with suppress(OSError):
            while reply := server.recv(_CHUNK_BYTES):
                self._flowing.wait()
                passing = reply[: self._room(client)]
                client.sendall(passing)
                with self._lock:
                    self._connections[client] += len(passing)
                    if len(passing) < len(reply):
                        self.cuts += 1
                        return

    def _room(self, client: socket.socket) -> int | None:
        with self._lock:
            return None if self._most is None else max(0, self._most - self._connections[client])


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while request := source.recv(_CHUNK_BYTES):
            target.sendall(request)
    _end(target)


def _end(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


@contextmanager
def reply_cutter(port: int) -> Iterator[ReplyCutter]:
    """A proxy of the server at this port for as long as the context is open."""
    cutter = ReplyCutter(port)
    try:
        yield cutter
    finally:
        cutter.close()
