"""The backend of Milvus: each version is three collections. The data folder has the embeddings and the encoders."""

from pathlib import Path
from typing import TYPE_CHECKING

from groundwire_index.milvus.address import (
    SECONDS,
    MilvusAddress,
    check_ca,
    check_seconds,
    check_token,
    check_uri,
    token_in,
)
from groundwire_index.milvus.dense_index import dense_index
from groundwire_index.storage import Backend, OptionError, Setting, Values

if TYPE_CHECKING:
    from groundwire_index.milvus.storage import MilvusStorage


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
    from groundwire_index.milvus.catalogue import Catalogue
    from groundwire_index.milvus.storage import MilvusStorage
    from groundwire_index.milvus.store import MilvusStore

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
    serving="groundwire_server.backends.milvus.backend:open_backend",
)
