"""The node table: one row a node, rows in the order of their canonical ids.

Row order is id order, so a comparison of rows is a comparison of ids wherever a tie has to be broken.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_server.domain.access import NodeAccess
from groundwire_server.domain.nodes import JsonValue, Location, Node
from groundwire_server.domain.scope import SEPARATOR
from groundwire_server.index.categories import open_categories, write_categories
from groundwire_server.index.files import map_array, write_array
from groundwire_server.index.strings import StringColumn

NUMBERS = ("start_line", "end_line", "token_count", "char_count", "chunk_index")
NO_TIMESTAMP = np.iinfo(np.int64).min
"""What `NodeTable.timestamps` holds for a node without one."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def write_node_table(directory: Path, nodes: Sequence[Node]) -> None:
    """Writes the columns of nodes that are sorted by id."""
    StringColumn.write(directory, "id", (node.id for node in nodes))
    StringColumn.write(directory, "text", (node.text for node in nodes))
    StringColumn.write(directory, "symbol", (node.symbol for node in nodes))
    StringColumn.write(directory, "signature", (node.signature for node in nodes))
    StringColumn.write(directory, "source_uri", (node.source_uri for node in nodes))
    StringColumn.write(directory, "context_prefix", (node.context_prefix for node in nodes))
    StringColumn.write(directory, "metadata", (json.dumps(dict(node.metadata), sort_keys=True) for node in nodes))
    write_categories(directory, nodes)
    numbers = {
        "start_line": [node.location.start_line for node in nodes],
        "end_line": [node.location.end_line for node in nodes],
        "token_count": [node.token_count for node in nodes],
        "char_count": [len(node.text) for node in nodes],
        "chunk_index": [node.chunk_index for node in nodes],
    }
    write_array(directory / "numbers.bin", np.asarray([numbers[name] for name in NUMBERS], dtype=np.int32))
    write_array(directory / "timestamps.bin", np.asarray([_microseconds(node.timestamp) for node in nodes], np.int64))
    flags = ([node.is_latest for node in nodes], [node.deleted for node in nodes])
    write_array(directory / "flags.bin", np.asarray(flags, dtype=np.bool_))
    hashes = np.frombuffer(b"".join(bytes.fromhex(node.location.content_hash) for node in nodes), dtype=np.uint8)
    write_array(directory / "content_hash.bin", hashes.reshape(len(nodes), 32))


class NodeTable:
    """The mapped node table of an index.

    `numbers` [n] are by name; `timestamps` [n] are microseconds since 1970 UTC or NO_TIMESTAMP; `is_latest` and
    `deleted` [n] are flags.
    """

    def __init__(self, directory: Path, count: int) -> None:
        """Maps the columns of `count` rows. Raises IndexDamagedError."""
        self.ids = StringColumn.open(directory, "id", count)
        self.texts = StringColumn.open(directory, "text", count)
        self.symbols = StringColumn.open(directory, "symbol", count)
        self.signatures = StringColumn.open(directory, "signature", count)
        self.source_uris = StringColumn.open(directory, "source_uri", count)
        self.context_prefixes = StringColumn.open(directory, "context_prefix", count)
        self._metadata = StringColumn.open(directory, "metadata", count)
        self.categories = open_categories(directory, count)
        numbers = map_array(directory / "numbers.bin", np.int32, (len(NUMBERS), count))
        self.numbers: dict[str, NDArray[np.int32]] = dict(zip(NUMBERS, numbers, strict=True))
        self.timestamps = map_array(directory / "timestamps.bin", np.int64, (count,))
        flags = map_array(directory / "flags.bin", np.bool_, (2, count))
        self.is_latest: NDArray[np.bool_] = flags[0]
        self.deleted: NDArray[np.bool_] = flags[1]
        self._hashes = map_array(directory / "content_hash.bin", np.uint8, (count, 32))

    def node(self, row: int, access: NodeAccess) -> Node:
        """The row as the node that was written; `access` is that of the row's policy class."""
        kind, local_id = self._split_id(row)
        return Node(
            id=self.ids[row],
            kind=kind,
            local_id=local_id,
            text=self.texts[row],
            token_count=int(self.numbers["token_count"][row]),
            location=self.location(row),
            symbol=self.symbols[row],
            signature=self.signatures[row],
            language=self.categories["language"][row],
            data_type=self.categories["data_type"][row],
            corpus_type=self.categories["corpus_type"][row],
            collection_id=self.categories["collection_id"][row],
            case_id=self.categories["case_id"][row],
            document_id=self.categories["document_id"][row],
            document_version_id=self.categories["document_version_id"][row],
            chunk_index=int(self.numbers["chunk_index"][row]),
            is_latest=bool(self.is_latest[row]),
            deleted=bool(self.deleted[row]),
            service_name=self.categories["service_name"][row],
            repo_name=self.categories["repo_name"][row],
            section_path=self.categories["section_path"][row],
            author=self.categories["author"][row],
            channel=self.categories["channel"][row],
            timestamp=self.timestamp(row),
            source_uri=self.source_uris[row],
            context_prefix=self.context_prefixes[row],
            access=access,
            metadata=self.metadata(row),
        )

    def location(self, row: int) -> Location:
        """Where the row's text stands in its source."""
        return Location(
            path=self.categories["path"][row],
            start_line=int(self.numbers["start_line"][row]),
            end_line=int(self.numbers["end_line"][row]),
            content_hash=self._hashes[row].tobytes().hex(),
        )

    def timestamp(self, row: int) -> datetime | None:
        """The row's timestamp, in UTC."""
        microseconds = int(self.timestamps[row])
        return None if microseconds == NO_TIMESTAMP else _EPOCH + microseconds * _MICROSECOND

    def metadata(self, row: int) -> dict[str, JsonValue]:
        """The row's metadata as its source gave it."""
        metadata: dict[str, JsonValue] = json.loads(self._metadata[row])
        return metadata

    def _split_id(self, row: int) -> tuple[str, str]:
        """The row's kind and local id: what follows the scope in its canonical id."""
        _, _, kind, local_id = self.ids[row].split(SEPARATOR, 3)
        return kind, local_id


def _microseconds(timestamp: datetime | None) -> int:
    return NO_TIMESTAMP if timestamp is None else (timestamp - _EPOCH) // _MICROSECOND
