"""Where a JSON Web Key Set comes from. Reading blocks for a bounded time: run it in a thread."""

import ssl
import time
from http.client import HTTPException
from pathlib import Path
from typing import Protocol
from urllib.error import HTTPError
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    getproxies,
)

from groundwire_server.rpc.identity.json_web_keys import KeySetError

MAX_SET_BYTES = 1_048_576
READ_SECONDS = 5.0
URL_PAUSE_SECONDS = 10.0
_CHUNK_BYTES = 65_536


class KeySource(Protocol):
    """Read every `period_seconds`; for an unknown key at once, but at least `pause_seconds` after the last reading."""

    period_seconds: float
    pause_seconds: float

    def read(self) -> bytes:
        """The set as it is now. Raises KeySetError."""
        ...


class KeyFile:
    """A file; a change to it takes effect within seconds."""

    period_seconds = 2.0
    pause_seconds = 1.0

    def __init__(self, path: Path, max_bytes: int = MAX_SET_BYTES) -> None:
        self._path = path
        self._max_bytes = max_bytes

    def read(self) -> bytes:
        """The file's content. Raises KeySetError."""
        try:
            with self._path.open("rb") as file:
                content = file.read(self._max_bytes + 1)
        except OSError as error:
            raise KeySetError(f"{error.strerror}; give a readable JSON Web Key Set") from None
        return _bounded(content, self._max_bytes)


class KeyUrl:
    """An HTTP resource. Redirects are not followed. A withdrawn key is accepted until the next reading."""

    period_seconds = 300.0

    def __init__(
        self,
        url: str,
        max_bytes: int = MAX_SET_BYTES,
        read_seconds: float = READ_SECONDS,
        pause_seconds: float = URL_PAUSE_SECONDS,
    ) -> None:
        """`read_seconds` limits each read of the socket, and also the whole response."""
        self.pause_seconds = pause_seconds
        self._max_bytes = max_bytes
        self._read_seconds = read_seconds
        self._url = url
        self._opener = _opener()

    def read(self) -> bytes:
        """The resource's content. Raises KeySetError."""
        end = time.monotonic() + self._read_seconds
        request = Request(self._url, headers={"Accept": "application/jwk-set+json, application/json"})
        content = bytearray()
        try:
            with self._opener.open(request, timeout=self._read_seconds) as response:
                while len(content) <= self._max_bytes and (chunk := response.read1(_CHUNK_BYTES)):
                    content += chunk
                    if time.monotonic() > end:
                        raise KeySetError(f"takes longer than {self._read_seconds:g} s to answer")
        except HTTPError as error:
            raise KeySetError(f"answers with HTTP status {error.code}") from None
        except (OSError, HTTPException) as error:
            raise KeySetError(f"cannot be read: {' '.join(str(error).split())}") from None
        return _bounded(bytes(content), self._max_bytes)


def _opener() -> OpenerDirector:
    """Follows no redirect, which might lead to plain HTTP, and uses no proxy for localhost."""
    opener = OpenerDirector()
    https_proxies = {scheme: proxy for scheme, proxy in getproxies().items() if scheme == "https"}
    for handler in (
        ProxyHandler(https_proxies),
        HTTPHandler(),
        HTTPSHandler(context=ssl.create_default_context()),
        HTTPDefaultErrorHandler(),
        HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    return opener


def _bounded(content: bytes, max_bytes: int) -> bytes:
    if len(content) > max_bytes:
        raise KeySetError(f"is longer than {max_bytes} bytes")
    return content
