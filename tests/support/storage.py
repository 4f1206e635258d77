"""Where tests keep indexes: in a data folder. Another kind of storage, as in `milvus_storage`, is a subclass."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from groundwire_index.embedding.embedder import Embedder
from groundwire_index.scope import Scope
from groundwire_index.storage import Storage as IndexStorage
from groundwire_ingest.build.build import BuildOptions, build_index
from groundwire_ingest.records import Source
from support.builds import Stages
from support.program import Server, run_ok


@dataclass(frozen=True)
class Storage:
    """A data folder, and the variables by which commands and servers know where the indexes are."""

    data: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    def run_ok(self, command: str, *arguments: str | Path, environment: Mapping[str, str] | None = None) -> str:
        """Runs `groundwire COMMAND ARGUMENTS` on the indexes; as `program.run_ok`."""
        variables = {**self.environment, **(environment or {})}
        return run_ok(command, *arguments, "--data", self.data, environment=variables)

    def server(self, *flags: str, environment: Mapping[str, str] | None = None) -> Server:
        """A server over the indexes; as `program.Server`."""
        return Server(self.data, *flags, environment={**self.environment, **(environment or {})})

    def build(self, source: Source, scope: Scope, embedder: Embedder | None = None) -> None:
        """Builds and activates a version in this process; without `embedder` with no vectors but the source's own."""
        build_index(source, BuildOptions(self.data, scope, embedder), Stages(), self.index_storage())

    def index_storage(self) -> IndexStorage | None:
        """What builds write to; None for the data folder."""
        return None

    def restart(self) -> None:
        """Lets the database that has the indexes start again; a folder has none."""

    def examples(self, embedded: int) -> int:
        """How many examples a test draws, by how many it draws of indexes in folders."""
        return embedded

    def adopt(self, scope: Scope) -> None:
        """Lets a version that was written into the folder be there and active."""


NewStorage: TypeAlias = Callable[[Path], Storage]
"""Gives storage in a folder."""
