"""Where Milvus is and how to speak to it, and the rules of the settings that say so."""

import re
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

SECONDS = 5.0
"""How long one request that reads may take."""
WRITING_SECONDS = 120.0
"""How long one request that writes, indexes or loads may take."""
_MOST_TOKEN_BYTES = 16_384
_TOKEN = re.compile(rb"[\x21-\x7e]+")


@dataclass(frozen=True, slots=True)
class MilvusAddress:
    """Where Milvus is and how to speak to it.

    `uri` is `http://HOST:PORT` or `https://HOST:PORT`; `ca` a PEM file of the authorities that https trusts, None for
    those of gRPC. `token` is `user:password` or an API key, "" for none. `seconds` is how long one request that reads
    may take, `writing_seconds` any other.
    """

    uri: str
    database: str = "default"
    token: str = field(default="", repr=False)
    ca: str | None = None
    seconds: float = SECONDS
    writing_seconds: float = WRITING_SECONDS


def check_uri(uri: str) -> str:
    """`http://HOST:PORT` or `https://HOST:PORT`. Raises ValueError."""
    try:
        parts = urlsplit(uri)
        port = parts.port
    except ValueError:
        raise ValueError("must be http://HOST:PORT or https://HOST:PORT") from None
    if parts.username is not None or parts.password is not None:
        raise ValueError("must hold no user name and no password; they belong in milvus_token_file")
    if parts.scheme not in ("http", "https") or not parts.hostname or not port or uri.count("/") != len("//"):
        raise ValueError("must be http://HOST:PORT or https://HOST:PORT")
    return uri


def token_in(file: Path) -> str:
    """The token that a file holds, without white space around it. Raises ValueError, also for a file of no token."""
    try:
        with file.open("rb") as opened:
            content = opened.read(_MOST_TOKEN_BYTES).strip()
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}") from None
    if not _TOKEN.fullmatch(content):
        raise ValueError("must hold one word of printable ASCII")
    return content.decode("ascii")


def check_ca(uri: str, file: Path) -> str:
    """The path of a file of certificates, which are for https alone. Raises ValueError."""
    if not uri.startswith("https:"):
        raise ValueError("has no use with http://: milvus_uri must begin with https://, or leave it out")
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(file)
    except ssl.SSLError:
        raise ValueError("must hold certificates in PEM") from None
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}") from None
    return str(file)
