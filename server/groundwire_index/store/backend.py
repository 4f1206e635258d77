"""The backend of the data folder itself: a folder for each version."""

from pathlib import Path
from typing import TYPE_CHECKING

from groundwire_index.storage import Backend, Values

if TYPE_CHECKING:
    from groundwire_index.store.store import IndexStore


def _storage(data: Path, values: Values) -> "IndexStore":
    from groundwire_index.store.store import IndexStore

    return IndexStore(data)


EMBEDDED = Backend(
    settings=(),
    threads=1,  # its parts compute, so they would gain nothing by running in parallel
    storage=_storage,
    serving="groundwire_server.backends.embedded.backend:open_backend",
)
