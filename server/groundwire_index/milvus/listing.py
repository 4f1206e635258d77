"""What a Milvus holds, for its operator: every version with its full counts, damaged ones included."""

from dataclasses import replace

from groundwire_index.milvus.catalogue import Catalogue
from groundwire_index.milvus.entries import Entry
from groundwire_index.milvus.verification import check_counts
from groundwire_index.store.errors import IndexDamagedError
from groundwire_index.store.listing import described
from groundwire_index.store.version_entry import VersionEntry


def list_versions(catalogue: Catalogue) -> list[VersionEntry]:
    """Every version that is ready, ordered by repository, branch and version. Raises StorageUnavailableError."""
    return [_listed(catalogue, entry) for entry in catalogue.versions()]


def _listed(catalogue: Catalogue, entry: Entry) -> VersionEntry:
    scope = entry.scope
    version = scope.active_index
    bare = VersionEntry(scope.repository, scope.branch, version, catalogue.active(scope) == version)
    try:
        document = catalogue.document(entry)
        check_counts(catalogue.store, entry.collections, document)
    except IndexDamagedError as error:
        return replace(bare, damage=str(error))
    return described(bare, document.manifest)
