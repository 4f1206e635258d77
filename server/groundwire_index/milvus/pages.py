"""Reading a collection of a version from its first row to its last, as much at a time as was written at a time."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from groundwire_index.milvus.document import CollectionState
from groundwire_index.milvus.rows import Rows
from groundwire_index.milvus.store import MilvusStore
from groundwire_index.store.errors import IndexDamagedError


def pages(
    store: MilvusStore, collection: str, order: str, state: CollectionState, fields: Sequence[str]
) -> Iterator[Rows]:
    """Some fields of all rows in the order of the field `order`, which is read as well.

    Raises IndexDamagedError where a row lacks, StorageUnavailableError and CollectionMissingError.
    """
    wanted = sorted({order, *fields})
    for first, end in pairwise((*state.pages, state.rows)):
        expression = f"{order} >= {first} and {order} < {end}"
        found = store.query(collection, expression, wanted, seconds=store.address.writing_seconds)
        page = found.in_order(order, range(first, end))
        if len(page) != end - first:
            raise IndexDamagedError(f"{collection}: lacks {end - first - len(page):,} of its rows from {first:,} on")
        yield page
