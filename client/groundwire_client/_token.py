"""The bearer token that identifies the caller, for servers in the access mode `jwt`."""

import os
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeAlias

TOKEN_FILE_VARIABLE = "GROUNDWIRE_TOKEN_FILE"

Token: TypeAlias = str | Callable[[], str]
"""A token, or what gives one for each call."""
AsyncToken: TypeAlias = Token | Callable[[], Awaitable[str]]
"""As `Token`; what gives one may be awaited."""

_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")


class TokenFile:
    """Returns the token in a file at each call: a program that renews tokens, such as Kubernetes, replaces the file.

    Raises:
        OSError: The file cannot be read.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)

    def __call__(self) -> str:
        return self._path.read_text(encoding="utf-8").strip()


def authorization(token: str) -> tuple[str, str]:
    """The token as gRPC metadata. Raises ValueError and TypeError, which do not show it (RFC 6750 §2.1)."""
    if not isinstance(token, str):  # pyright: ignore[reportUnnecessaryIsInstance] - what a caller's function returns
        raise TypeError(f"token: its function must return a string, not {type(token).__name__}")
    if not _TOKEN.fullmatch(token):
        raise ValueError("token must be only letters, digits and ._~+/-, with `=` at its end; pass it without `Bearer`")
    return "authorization", f"Bearer {token}"
