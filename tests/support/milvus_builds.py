"""Builds of given records for Milvus."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from groundwire_index.scope import Scope
from groundwire_index.store.loaded import LoadedIndex
from groundwire_index.store.store import IndexStore
from groundwire_ingest.build.build import BuildOptions, BuildReport, build_index
from groundwire_ingest.records import SourceRecord
from groundwire_milvus.catalogue import Catalogue
from groundwire_milvus.dense_index import EXACT, DenseIndex
from groundwire_milvus.publishing.claim import claimed
from groundwire_milvus.publishing.publish import publish
from groundwire_milvus.serving.backend import MilvusBackend
from groundwire_milvus.storage import MilvusStorage
from groundwire_milvus.store import MilvusStore
from support.builds import V1, HashEmbedder, Records, Stages
from support.milvus_server import MilvusServer

QUICK_BEATS = 0.05
"""Seconds; a build is taken for dead after six times as long."""


_EMBEDDER = HashEmbedder()


def new_catalogue(server: MilvusServer) -> Catalogue:
    """The catalogue of a new, empty database."""
    return Catalogue(MilvusStore(server.address(server.new_database())))


def build_in_milvus(
    data: Path,
    catalogue: Catalogue,
    records: Sequence[SourceRecord],
    scope: Scope = V1,
    *,
    activate: bool = True,
    embedder: HashEmbedder | None = _EMBEDDER,
    fails: BaseException | None = None,
    stages: Stages | None = None,
) -> BuildReport:
    """Builds a version whose vectors are drawn from its texts; `data` is the local folder."""
    progress = stages or Stages()
    options = BuildOptions(data, scope, embedder, activate)
    storage = MilvusStorage(data, catalogue, seconds_between_beats=QUICK_BEATS)
    return build_index(Records(records, fails), options, progress, storage)


def copy_to_milvus(
    index: LoadedIndex, catalogue: Catalogue, *, activate: bool = True, dense_index: DenseIndex = EXACT
) -> None:
    """Makes a version of an index that lies in files available in Milvus, not verified."""
    with claimed(catalogue, index.scope, QUICK_BEATS) as build:
        document = publish(index, catalogue.store, build.collections, Stages(), dense_index)
        catalogue.make_ready(build, document)
    if activate:
        catalogue.activate(index.scope)


def backend_in_milvus(data: Path, server: MilvusServer) -> MilvusBackend:
    """All versions of a data folder, copied to a new database of a Milvus."""
    catalogue, store = new_catalogue(server), IndexStore(data)
    for scope in store.scopes():
        for version in store.versions(scope):
            copy_to_milvus(LoadedIndex(store.require(replace(scope, active_index=version))), catalogue)
    return MilvusBackend(catalogue.store.address)
