"""A model service behind HTTP: texts leave this machine for it. Its replies have limits of bytes and time."""

import asyncio
import re
import ssl
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from pathlib import Path
from threading import Thread

import httpx2

from groundwire_configuration.service_error import ServiceError

SECONDS_BETWEEN_CHECKPOINTS = 0.02
_MOST_TOKEN_BYTES = 16_384
_NO_TOKEN = re.compile(r"[^\x21-\x7e]")
_OK = 200
_TO_DO = {400: ": check its options", 401: ": check the token", 403: ": check the token", 404: ": check URL and model"}
_RETRIED = frozenset({408, 429, 500, 502, 503, 504})

Token = Callable[[], str]
"""Gives the bearer token of the next request, "" for none; raises ServiceError when it cannot be had."""


@dataclass(frozen=True, slots=True)
class _Failure:
    """The content of an error, which is raised later: a traceback from here would hold the texts."""

    rule: str
    status: int = 0
    wait_seconds: float = 0.0
    may_pass: bool = True


class HttpService:
    """Posts JSON to one URL. Thread-safe; connections are kept and used again.

    Nothing that is sent or received is logged. Redirects are not followed, cookies not kept, compression not asked for.
    The proxies that the environment names for https are used, and the CAs of `SSL_CERT_FILE` if it is set. `seconds` is
    how long one request may take, from connecting to the last byte of the reply.
    """

    def __init__(self, url: str, token: Token, seconds: float) -> None:
        """Connects to nothing yet. Raises ValueError for a URL that no request can be sent to."""
        self._token, self._seconds = token, seconds
        try:
            self._url = httpx2.URL(url)
        except httpx2.InvalidURL as error:
            raise ValueError(str(error)) from None
        # A loop of its own, because what runs in a loop can be given up at any moment, unlike a thread that reads.
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="groundwire-service", daemon=True)
        self._thread.start()
        self._client = httpx2.AsyncClient(
            verify=ssl.create_default_context(),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
            headers={"Accept": "application/json", "Accept-Encoding": "identity", "Content-Type": "application/json"},
            timeout=None,  # the whole of a request has a limit instead of its parts
            trust_env=self._url.scheme == "https",
        )

    def post(self, body: bytes, most_bytes: int, checkpoint: Callable[[], None]) -> bytes:
        """The body of the reply. Raises ServiceError, and what the checkpoint raises while the request waits."""
        token = self._token()
        if _NO_TOKEN.search(token):
            raise ServiceError("needs a token that is one word of printable ASCII")
        reply = _awaited(asyncio.run_coroutine_threadsafe(self._post(body, token, most_bytes), self._loop), checkpoint)
        if isinstance(reply, _Failure):
            raise ServiceError(reply.rule, reply.status, reply.wait_seconds, may_pass=reply.may_pass)
        return reply

    def close(self) -> None:
        """Ends the connections and the thread; no call may be under way."""
        asyncio.run_coroutine_threadsafe(self._client.aclose(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _post(self, body: bytes, token: str, most: int) -> bytes | _Failure:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        try:
            async with (
                asyncio.timeout(self._seconds),
                self._client.stream("POST", self._url, content=body, headers=headers) as reply,
            ):
                if (status := reply.status_code) != _OK:
                    after = reply.headers.get("Retry-After", "")
                    waits = float(after) if after.isdecimal() else 0.0
                    rule = f"answered with HTTP status {status}{_TO_DO.get(status, '')}"
                    return _Failure(rule, status, waits, status in _RETRIED)
                content = bytearray()
                async for chunk in reply.aiter_raw():
                    content += chunk
                    if len(content) > most:
                        return _Failure(f"gave a reply of more than {most} bytes", may_pass=False)
                return bytes(content)
        except TimeoutError:
            return _Failure(f"took longer than {self._seconds:g} s")
        except httpx2.HTTPError as error:
            return _Failure(f"cannot be reached: {type(error).__name__}")


def token_in(path: Path) -> Token:
    """The token in a file, read anew for each request, so that one that is changed counts at once."""

    def read() -> str:
        try:
            with path.open("rb") as file:
                token = file.read(_MOST_TOKEN_BYTES + 1).strip().decode("latin-1")
        except OSError as error:
            raise ServiceError(f"needs a token that cannot be read: {error.strerror}") from None
        if not token or len(token) > _MOST_TOKEN_BYTES or _NO_TOKEN.search(token):
            raise ServiceError("needs a token that is one word of printable ASCII")
        return token

    return read


def _awaited(future: "Future[bytes | _Failure]", checkpoint: Callable[[], None]) -> bytes | _Failure:
    """Returns the result of the future; when the checkpoint raises first, the future is cancelled."""
    try:
        while not wait([future], SECONDS_BETWEEN_CHECKPOINTS).done:
            checkpoint()
    except BaseException:
        future.cancel()
        raise
    return future.result()
