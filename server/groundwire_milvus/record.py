"""The record of the backend: each version is three collections. The data folder has the embeddings and the encoders."""

import re
import ssl
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from groundwire_index.storage import Backend, OptionError, Setting, Values
from groundwire_milvus.address import MOST_SOURCE_BYTES, SECONDS, MilvusAddress
from groundwire_milvus.dense_index import dense_index

_MOST_TOKEN_BYTES = 16_384
_MOST_SECONDS = 3_600.0
_TOKEN = re.compile(r"[\x21-\x7e]+")


def check_uri(uri: str) -> None:
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


def token_in(file: Path) -> str:
    """The token that a file holds, without white space around it. Raises OptionError."""
    try:
        with file.open("rb") as opened:
            token = opened.read(_MOST_TOKEN_BYTES).strip().decode("latin-1")
        check_token(token)
    except OSError as error:
        raise OptionError(f"milvus_token_file: {file}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise OptionError(f"milvus_token_file: {file}: {error}") from None
    return token


def check_token(token: str) -> None:
    """One word of printable ASCII. Raises ValueError."""
    if not _TOKEN.fullmatch(token):
        raise ValueError("must hold one word of printable ASCII")


def check_seconds(seconds: float) -> None:
    """A time limit. Raises ValueError."""
    if not 0 < seconds <= _MOST_SECONDS:
        raise ValueError(f"must be greater than 0 and at most {_MOST_SECONDS:,.0f}")


def check_source_bytes(size: int) -> None:
    """A size in bytes. Raises ValueError."""
    if size < 0:
        raise ValueError("must not be negative")


def check_ca(uri: str, file: Path) -> str:
    """The path of a file of certificates, which are for https alone. Raises OptionError."""
    rule = "has no use with http://: milvus_uri must begin with https://, or leave it out"
    if uri.startswith("https:"):
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(file)
            return str(file)
        except ssl.SSLError:
            rule = "must hold certificates in PEM"
        except OSError as error:
            rule = f"cannot be read: {error.strerror}"
    raise OptionError(f"milvus_ca: {file}: {rule}")


if TYPE_CHECKING:
    from groundwire_milvus.storage import MilvusStorage


def address_of(values: Values) -> MilvusAddress:
    """How to speak to Milvus. Raises OptionError for a file that cannot be used."""
    file, ca, token = values["milvus_token_file"], values["milvus_ca"], values["milvus_token"]
    if file is not None and token:
        raise OptionError("milvus_token: must not be given together with milvus_token_file")
    return MilvusAddress(
        uri=values["milvus_uri"],
        database=values["milvus_database"],
        token=token if file is None else token_in(file),
        ca=None if ca is None else check_ca(values["milvus_uri"], ca),
        seconds=values["milvus_seconds"],
    )


def _storage(data: Path, values: Values) -> "MilvusStorage":
    from groundwire_milvus.catalogue import Catalogue
    from groundwire_milvus.storage import MilvusStorage
    from groundwire_milvus.store import MilvusStore

    return MilvusStorage(data, Catalogue(MilvusStore(address_of(values))), dense_index(values["milvus_index"]))


MILVUS = Backend(
    settings=(
        Setting("milvus_uri", str, "", "Where Milvus is: http(s)://HOST:PORT.", check_uri, required=True),
        Setting("milvus_database", str, "default", "The database of Milvus that holds the indexes."),
        Setting(
            "milvus_token_file", Path, None, "File of `user:password` or an API key; else GROUNDWIRE_MILVUS_TOKEN."
        ),
        Setting("milvus_token", str, "", "The token itself; never logged.", check_token, secret=True),
        Setting("milvus_ca", Path, None, "PEM file of the CAs that https trusts."),
        Setting("milvus_seconds", float, SECONDS, "How long one request that reads may take.", check_seconds),
        Setting(
            "milvus_source_bytes",
            int,
            MOST_SOURCE_BYTES,
            "How many bytes of source texts each server process copies into its temporary folder, for exact search.",
            check_source_bytes,
        ),
        Setting(
            "milvus_index",
            str,
            "FLAT",
            "How Milvus searches dense vectors. FLAT is exact. HNSW and IVF_FLAT, also with parameters "
            "(HNSW:M=32,efConstruction=360,ef=400 or IVF_FLAT:nlist=1024,nprobe=64), miss some nodes, and hidden nodes "
            "shape which.",
            dense_index,
            builds=True,
        ),
    ),
    threads=16,  # its parts wait for Milvus; of those that compute one at a time has the interpreter all the same
    storage=_storage,
    serving="groundwire_milvus.serving.backend:open_backend",
    extras={"pymilvus": "milvus"},
)
