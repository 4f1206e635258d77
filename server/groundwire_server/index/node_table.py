"""The node table: one row a node, rows in the order of their canonical ids.

Row order is id order, so a comparison of rows is a comparison of ids wherever a tie has to be broken.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_server.domain.nodes import JsonValue, Location, Node
from groundwire_server.index.errors import IndexDamagedError
from groundwire_server.index.files import map_array, write_array
from groundwire_server.index.strings import StringColumn

TEXT_COLUMNS = ("id", "text", "symbol", "signature", "metadata")
CATEGORIES = ("kind", "path", "language", "data_type", "corpus_type", "collection_id", "document_id")
NUMBERS = ("start_line", "end_line", "token_count", "char_count")


@dataclass(frozen=True, slots=True)
class Category:
    """A column with few distinct values: the sorted values, and each row's position among them."""

    values: StringColumn
    codes: NDArray[np.int32]

    def rows_with(self, wanted: Sequence[int]) -> NDArray[np.bool_]:
        """A mask of the rows whose value stands at one of the wanted positions."""
        chosen = np.zeros(len(self.values), dtype=np.bool_)
        chosen[np.asarray(wanted, dtype=np.int64)] = True
        return chosen[self.codes]

    def __getitem__(self, row: int) -> str:
        return self.values[int(self.codes[row])]


def write_node_table(directory: Path, nodes: Sequence[Node]) -> None:
    """Writes the columns of nodes that are sorted by id."""
    StringColumn.write(directory, "id", (node.id for node in nodes))
    StringColumn.write(directory, "text", (node.text for node in nodes))
    StringColumn.write(directory, "symbol", (node.symbol for node in nodes))
    StringColumn.write(directory, "signature", (node.signature for node in nodes))
    StringColumn.write(directory, "metadata", (json.dumps(dict(node.metadata), sort_keys=True) for node in nodes))
    for name in CATEGORIES:
        _write_category(directory, name, [_category_value(node, name) for node in nodes])
    numbers = {
        "start_line": [node.location.start_line for node in nodes],
        "end_line": [node.location.end_line for node in nodes],
        "token_count": [node.token_count for node in nodes],
        "char_count": [len(node.text) for node in nodes],
    }
    for name, values in numbers.items():
        write_array(directory / f"{name}.bin", np.asarray(values, dtype=np.int32))
    hashes = np.frombuffer(b"".join(bytes.fromhex(node.location.content_hash) for node in nodes), dtype=np.uint8)
    write_array(directory / "content_hash.bin", hashes.reshape(len(nodes), 32))


class NodeTable:
    """The mapped node table of an index."""

    def __init__(self, directory: Path, count: int) -> None:
        """Maps the columns of `count` rows. Raises IndexDamagedError."""
        self.ids = StringColumn.open(directory, "id", count)
        self.texts = StringColumn.open(directory, "text", count)
        self.symbols = StringColumn.open(directory, "symbol", count)
        self.signatures = StringColumn.open(directory, "signature", count)
        self._metadata = StringColumn.open(directory, "metadata", count)
        self.categories = {name: _open_category(directory, name, count) for name in CATEGORIES}
        self.numbers = {name: map_array(directory / f"{name}.bin", np.int32, (count,)) for name in NUMBERS}
        self._hashes = map_array(directory / "content_hash.bin", np.uint8, (count, 32))

    def location(self, row: int) -> Location:
        """Where the row's text stands in its source."""
        return Location(
            path=self.categories["path"][row],
            start_line=int(self.numbers["start_line"][row]),
            end_line=int(self.numbers["end_line"][row]),
            content_hash=self._hashes[row].tobytes().hex(),
        )

    def metadata(self, row: int) -> dict[str, JsonValue]:
        """The row's metadata as its source gave it."""
        metadata: dict[str, JsonValue] = json.loads(self._metadata[row])
        return metadata


def _category_value(node: Node, name: str) -> str:
    value: str = node.location.path if name == "path" else getattr(node, name)
    return value


def _write_category(directory: Path, name: str, values: Sequence[str]) -> None:
    distinct = sorted(set(values))
    positions = {value: position for position, value in enumerate(distinct)}
    StringColumn.write(directory, f"{name}.values", distinct)
    write_array(directory / f"{name}.bin", np.asarray([positions[value] for value in values], dtype=np.int32))


def _open_category(directory: Path, name: str, count: int) -> Category:
    codes = map_array(directory / f"{name}.bin", np.int32, (count,))
    values = StringColumn.open(directory, f"{name}.values")
    if count and not 0 <= int(codes.min()) <= int(codes.max()) < len(values):
        raise IndexDamagedError(f"{name}.bin: names values that {name}.values.utf8 does not have")
    return Category(values, codes)
