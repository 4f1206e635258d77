"""Facts: values stored by name, apart from the nodes, such as the number of a term; also values too long for a field.

A fact whose content is too long for one row has the rest in further rows, whose keys end in `#1`, `#2` and so on.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from groundwire_milvus.packing import SPILL_MARK, digest, pieces
from groundwire_milvus.rows import Rows
from groundwire_milvus.schema import UNUSED, UNUSED_VECTOR
from groundwire_milvus.storage_errors import StorageUnavailableError
from groundwire_milvus.store import MilvusStore

CODE_TERM = "c"
"""By a code token: its number, and how many nodes hold it (`packing.unpacked_term`)."""
PROSE_TERM = "p"
"""The same by a prose token."""
TRIGRAM = "t"
"""By a trigram: its number."""
DOCUMENT = "f"
"""By the number of a document of several nodes: what these hold (`packing.unpacked_document`)."""
SERVICE = "v"
"""By the name of a service: the edges from and to it (`packing.unpacked_service_edges`)."""
FILE_PIECE = "x"
"""By the name of a file and the number of its piece: the piece (`whole_files`)."""
_SPILLED = "s"


def fact_key(kind: str, name: str) -> str:
    """The key of a fact."""
    return f"{kind}/{digest(name)}"


def spill_key(row: int, field: str) -> str:
    """The key of the fact that holds a field of a node which is too long for it."""
    return f"{_SPILLED}/{row}/{field}"


def part_key(key: str, part: int) -> str:
    """The key of a part of a fact."""
    return f"{key}#{part}" if part else key


def fact_rows(key: str, content: str, number: int) -> Iterator[dict[str, object]]:
    """A fact as rows of the collection of facts, numbered from `number` on."""
    parts = pieces(content)
    for part, piece in enumerate(parts):
        row = {"key": part_key(key, part), "number": number + part, "parts": 0 if part else len(parts)}
        yield {**row, "content": piece, UNUSED: list(UNUSED_VECTOR)}


def read_facts(store: MilvusStore, collection: str, keys: Sequence[str]) -> dict[str, str]:
    """The contents of those facts that are there, by key. Asks once, and once more where one has several parts."""
    first = store.by_keys(collection, keys, ["parts", "content"])
    counts = first.integers("parts").tolist()
    contents = dict(zip(first.strings("key"), first.strings("content"), strict=True))
    numbers = dict(zip(contents, counts, strict=True))
    return {**contents, **_joined(store, collection, {key: count for key, count in numbers.items() if count > 1})}


def unspilled(store: MilvusStore, collection: str, rows: Rows, fields: Iterable[str]) -> dict[str, list[str]]:
    """Packed fields of nodes [m] by name, whole: `rows` has the fields and `row`. Asks once more if one is spilled."""
    numbers = rows.integers("row").tolist()
    columns = {field: list(rows.strings(field)) for field in fields}
    spilled = {
        spill_key(row, field): int(value.removeprefix(SPILL_MARK))
        for field, values in columns.items()
        for row, value in zip(numbers, values, strict=True)
        if value.startswith(SPILL_MARK)
    }
    whole = _joined(store, collection, spilled)
    for field, values in columns.items():
        for place, row in enumerate(numbers):
            if values[place].startswith(SPILL_MARK):
                values[place] = whole[spill_key(row, field)]
    return columns


def _joined(store: MilvusStore, collection: str, parts: Mapping[str, int]) -> dict[str, str]:
    """The whole contents of facts with known numbers of parts."""
    keys = [part_key(key, part) for key, count in parts.items() for part in range(count)]
    part_rows = store.by_keys(collection, keys, ["content"])
    if len(part_rows) != len(keys):
        raise StorageUnavailableError(f"{len(keys) - len(part_rows)} parts of facts are missing in {collection}")
    contents = iter(part_rows.strings("content"))
    return {key: "".join(islice(contents, count)) for key, count in parts.items()}
