"""Where Milvus is, how long its requests may take, and how much of what it has a server copies."""

from dataclasses import dataclass, field

SECONDS = 5.0
"""How long one request that reads may take."""
WRITING_SECONDS = 120.0
"""How long one request that writes, indexes or loads may take."""
MOST_SOURCE_BYTES = 256 << 20
"""The size of all copies of source texts that a server process has."""


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
