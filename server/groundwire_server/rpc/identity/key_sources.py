"""Where a JSON Web Key Set comes from. Reading blocks for a bounded time: run it in a thread."""

import asyncio
import errno
import os
import ssl
from pathlib import Path
from typing import Protocol

import httpx2

from groundwire_server.rpc.identity.json_web_keys import KeySetError

MAX_SET_BYTES = 1_048_576
READ_SECONDS = 5.0
URL_PAUSE_SECONDS = 10.0
_HEADERS = {"Accept": "application/jwk-set+json, application/json", "Accept-Encoding": "identity"}


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
    """An HTTP resource. Redirects are not followed. A withdrawn key is accepted until the next reading.

    The proxies that the environment names for https are used for https alone.
    """

    period_seconds = 300.0

    def __init__(
        self,
        url: str,
        max_bytes: int = MAX_SET_BYTES,
        read_seconds: float = READ_SECONDS,
        pause_seconds: float = URL_PAUSE_SECONDS,
    ) -> None:
        """`read_seconds` limits the whole exchange, from connecting to the last byte."""
        self.pause_seconds = pause_seconds
        self._max_bytes = max_bytes
        self._read_seconds = read_seconds
        self._url = url
        self._authorities = ssl.create_default_context()

    def read(self) -> bytes:
        """The resource's content. Raises KeySetError."""
        # A loop can give up at any moment, also while the server sends headers without end; a blocking read cannot.
        return asyncio.run(self._read())

    async def _read(self) -> bytes:
        client = httpx2.AsyncClient(
            verify=self._authorities, headers=_HEADERS, timeout=None, trust_env=self._url.startswith("https:")
        )
        content = bytearray()
        try:
            async with asyncio.timeout(self._read_seconds), client, client.stream("GET", self._url) as reply:
                if not reply.is_success:
                    raise KeySetError(f"answers with HTTP status {reply.status_code}")
                async for chunk in reply.aiter_raw():
                    content += chunk
                    if len(content) > self._max_bytes:
                        break
        except TimeoutError:
            raise KeySetError(f"takes longer than {self._read_seconds:g} s to answer") from None
        except (OSError, httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise KeySetError(f"cannot be read: {_reason(error)}") from None
        return _bounded(bytes(content), self._max_bytes)


def _reason(error: BaseException) -> str:
    """What went wrong at first, in one line: the library only says that all attempts failed."""
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    number = error.errno if isinstance(error, OSError) and not isinstance(error, ssl.SSLError) else None
    if number is not None and number in errno.errorcode:
        return os.strerror(number)
    return " ".join(str(error).split()) or type(error).__name__


def _bounded(content: bytes, max_bytes: int) -> bytes:
    if len(content) > max_bytes:
        raise KeySetError(f"is longer than {max_bytes} bytes")
    return content
