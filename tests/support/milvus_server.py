"""A Milvus for tests: milvus-lite as a process of its own, on a free port of loopback and a folder that outlives it."""

import itertools
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from groundwire_milvus.address import MilvusAddress
from groundwire_milvus.client import connect
from groundwire_milvus.storage_errors import StorageUnavailableError
from groundwire_milvus.store import MilvusStore

START_SECONDS = 300
_SECONDS = 60.0
"""For a request of a test that is not about time limits: a shared machine stalls."""


class MilvusServer:
    """A running server; it can be stopped in various ways, and started again with the same port and data."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self._numbers = itertools.count(1)
        self.start()

    @property
    def uri(self) -> str:
        """What `milvus_uri` is to be."""
        return f"http://127.0.0.1:{self.port}"

    def address(self, database: str = "default", seconds: float = _SECONDS) -> MilvusAddress:
        """The address of one of its databases."""
        return MilvusAddress(self.uri, database, seconds=seconds)

    def new_database(self) -> str:
        """The name of a new, empty database: what one test does is not seen by another."""
        name = f"test_{next(self._numbers)}"
        client = connect(self.address())
        client.create_database(name)
        client.close()
        return name

    def start(self) -> None:
        """Starts the process and waits until it answers."""
        command = ("-m", "milvus_lite", "server", "--host", "127.0.0.1", "--data-dir", str(self._folder))
        with (self._folder.with_suffix(".log")).open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, *command, "--port", str(self.port)],
                stdout=log,
                stderr=log,
                env={**os.environ, "PYTHON_DOTENV_DISABLED": "1"},
            )
        store = MilvusStore(self.address(seconds=5.0))
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                store.check()
            except StorageUnavailableError:
                assert self._process.poll() is None, self._folder.with_suffix(".log").read_text()
                assert time.monotonic() < deadline
                time.sleep(0.05)
            else:
                break
        store.close()

    def kill(self) -> None:
        """Ends the process at once: nothing listens on the port any more."""
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        """Lets the process do nothing, while connections stay."""
        self._process.send_signal(signal.SIGSTOP)
        # On a busy machine, some of its threads may still answer a call after the signal was sent.
        os.waitid(os.P_PID, self._process.pid, os.WSTOPPED)

    def resume(self) -> None:
        """Lets a stopped process go on."""
        self._process.send_signal(signal.SIGCONT)

    def restart(self) -> None:
        """Kills the process and starts it again."""
        self.kill()
        self.start()


@contextmanager
def milvus_server() -> Iterator[MilvusServer]:
    """A server for as long as the context is open."""
    with TemporaryDirectory() as folder:
        server = MilvusServer(Path(folder) / "data")
        try:
            yield server
        finally:
            server.kill()
