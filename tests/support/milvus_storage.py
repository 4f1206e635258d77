"""Where tests keep indexes: in a database of a Milvus. Commands and servers are told so by variables."""

from dataclasses import dataclass
from pathlib import Path

from groundwire_index.scope import Scope
from groundwire_index.store.loaded import LoadedIndex
from groundwire_index.store.store import IndexStore
from groundwire_milvus.catalogue import Catalogue
from groundwire_milvus.storage import MilvusStorage
from groundwire_milvus.store import MilvusStore
from support.milvus_builds import copy_to_milvus
from support.milvus_server import MilvusServer
from support.storage import NewStorage, Storage

MILVUS_SECONDS = "60"
"""No test of answers fails because a shared machine stalls."""

EXAMPLES_FOR_ONE = 5
"""The Milvus of these tests takes a second for an index and hundredths of one for a request."""


@dataclass(frozen=True, kw_only=True)
class StorageInMilvus(Storage):
    """A data folder, and the Milvus whose `catalogue` holds the indexes built in it."""

    milvus: MilvusServer
    catalogue: Catalogue

    def index_storage(self) -> MilvusStorage:
        return MilvusStorage(self.data, self.catalogue)

    def restart(self) -> None:
        self.milvus.restart()

    def examples(self, embedded: int) -> int:
        return embedded // EXAMPLES_FOR_ONE

    def adopt(self, scope: Scope) -> None:
        copy_to_milvus(LoadedIndex(IndexStore(self.data).require(scope)), self.catalogue)


def in_database_of(milvus: MilvusServer) -> NewStorage:
    """Storage in new databases of a Milvus."""

    def new_storage(data: Path) -> Storage:
        database = milvus.new_database()
        environment = {
            "GROUNDWIRE_BACKEND": "milvus",
            "GROUNDWIRE_MILVUS_URI": milvus.uri,
            "GROUNDWIRE_MILVUS_DATABASE": database,
            "GROUNDWIRE_MILVUS_SECONDS": MILVUS_SECONDS,
        }
        catalogue = Catalogue(MilvusStore(milvus.address(database)))
        return StorageInMilvus(data, environment, milvus=milvus, catalogue=catalogue)

    return new_storage
