"""Where tests keep indexes: in a data folder alone, or in a database of a Milvus. Commands and servers are told."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from groundwire_index.embedding.embedder import Embedder
from groundwire_index.milvus.catalogue import Catalogue
from groundwire_index.milvus.storage import MilvusStorage
from groundwire_index.milvus.store import MilvusStore
from groundwire_index.scope import Scope
from groundwire_index.store.loaded import LoadedIndex
from groundwire_index.store.store import IndexStore
from groundwire_ingest.build.build import BuildOptions, build_index
from groundwire_ingest.records import Source
from support.builds import Stages
from support.milvus_builds import copy_to_milvus
from support.milvus_server import MilvusServer
from support.program import Server, run_ok

MILVUS_SECONDS = "60"
"""No test of answers fails because a shared machine stalls."""

EXAMPLES_FOR_ONE = 5
"""The Milvus of these tests takes a second for an index and hundredths of one for a request."""


@dataclass(frozen=True)
class Storage:
    """A data folder, and the Milvus whose `catalogue` holds the indexes built in it; both None where it holds them."""

    data: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    milvus: MilvusServer | None = None
    catalogue: Catalogue | None = None

    def run_ok(self, command: str, *arguments: str | Path, environment: Mapping[str, str] | None = None) -> str:
        """Runs `groundwire COMMAND ARGUMENTS` on the indexes; as `program.run_ok`."""
        told = {**self.environment, **(environment or {})}
        return run_ok(command, *arguments, "--data", self.data, environment=told)

    def server(self, *flags: str, environment: Mapping[str, str] | None = None) -> Server:
        """A server over the indexes; as `program.Server`."""
        return Server(self.data, *flags, environment={**self.environment, **(environment or {})})

    def build(self, source: Source, scope: Scope, embedder: Embedder | None = None) -> None:
        """Builds and activates a version in this process; without `embedder` with no vectors but the source's own."""
        storage = None if self.catalogue is None else MilvusStorage(self.data, self.catalogue)
        build_index(source, BuildOptions(self.data, scope, embedder), Stages(), storage)

    def restart(self) -> None:
        """Lets a Milvus start again; a folder has nothing that could."""
        if self.milvus is not None:
            self.milvus.restart()

    def examples(self, embedded: int) -> int:
        """How many examples a test draws, by how many it draws of indexes in folders."""
        return embedded if self.catalogue is None else embedded // EXAMPLES_FOR_ONE

    def adopt(self, scope: Scope) -> None:
        """Lets a version that was written into the folder be there and active."""
        if self.catalogue is not None:
            copy_to_milvus(LoadedIndex(IndexStore(self.data).require(scope)), self.catalogue)


NewStorage: TypeAlias = Callable[[Path], Storage]
"""Gives storage in a folder."""


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
        return Storage(data, environment, milvus, Catalogue(MilvusStore(milvus.address(database))))

    return new_storage
