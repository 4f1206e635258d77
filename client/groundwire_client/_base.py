"""What the sync and the asyncio client have in common: the defaults of their calls."""

import math
from collections.abc import Sequence

from groundwire_client._channel import check_token_is_protected, server_address
from groundwire_client._token import authorization
from groundwire_client._tracing import trace_metadata
from groundwire_client._types import Access

DEFAULT_TIMEOUT = 10.0
"""Seconds until a call gives up, its retries included."""

Metadata = Sequence[tuple[str, str | bytes]]
"""gRPC metadata: lower-case keys; values are bytes for keys that end in `-bin`, else ASCII text."""


class BaseClient:
    """The defaults of a client's calls. Immutable after construction, so that threads and tasks may share it."""

    def __init__(self, *, timeout: float, metadata: Metadata, access: Access | None, wait_for_ready: bool) -> None:
        self._timeout = _checked_timeout(timeout)
        self._own_metadata = tuple(metadata)
        self._default_access = access
        self._wait_for_ready = wait_for_ready

    def _address(self, target: str | None, token: object, *, is_secured: bool, plaintext_token: bool) -> str:
        """The server's address, once it is clear that no token goes there unprotected. Raises ValueError."""
        address = server_address(target)
        has_token = token is not None or any(key.lower() == "authorization" for key, _ in self._own_metadata)
        check_token_is_protected(address, is_secured=is_secured, has_token=has_token, plaintext_token=plaintext_token)
        return address

    def _seconds(self, timeout: float | None) -> float:
        return self._timeout if timeout is None else _checked_timeout(timeout)

    def _metadata(self, token: str | None) -> tuple[tuple[str, str | bytes], ...]:
        given = self._own_metadata if token is None else (*self._own_metadata, authorization(token))
        return (*given, *trace_metadata())

    def _access(self, access: Access | None) -> Access | None:
        return self._default_access if access is None else access


def _checked_timeout(seconds: float) -> float:
    if not 0 < seconds < math.inf:
        raise ValueError(f"timeout must be a positive, finite number of seconds, not {seconds}")
    return seconds
