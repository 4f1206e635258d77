"""The node table: one row a node, rows in the order of their canonical ids.

Row order is id order, so a comparison of rows is a comparison of ids wherever a tie has to be broken.
"""

import json
from array import array
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from groundwire_index.files.durable_files import map_array, write_array
from groundwire_index.files.segment import Parts, Segment, bytes_part, whole_column
from groundwire_index.files.string_column import StringColumn
from groundwire_index.link_template import LinkTemplate
from groundwire_index.nodes.categories import OWN_CATEGORIES, open_categories
from groundwire_index.nodes.node import JsonValue, Location, Node, NodeAccess
from groundwire_index.nodes.purpose_columns import purposes_of
from groundwire_index.nodes.purposes import PROSE_PREFIX, purpose_of_path
from groundwire_index.scope import SEPARATOR, Scope, id_prefix, node_key

FLAGS_FILE = "flags.bin"
STRINGS = ("text", "symbol", "signature", "source_uri", "context_prefix", "metadata")
FLAGS = ("is_latest", "deleted", "is_test", "is_generated")
KEYS = "keys"
"""The part of a segment that the ids are made of: what follows the scope, so that scopes may share a segment."""
NUMBERS = ("start_line", "end_line", "token_count", "char_count", "chunk_index")
NO_TIMESTAMP = np.iinfo(np.int64).min
"""The value in `NodeTable.timestamps` for a node without one."""

_UNKNOWN = -1
"""The purpose of a path that was not looked up yet."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class OriginFlags(TypedDict):
    """The facts about a node, besides its id, that every answer states: see `Node`."""

    is_test: bool
    is_generated: bool


class NodeColumns:
    """Collects the columns of one node after the other, but for the categories."""

    def __init__(self) -> None:
        self._strings = {name: (bytearray(), array("i")) for name in (KEYS, *STRINGS)}
        self._numbers, self._timestamps = array("i"), array("q")
        self._flags, self._hashes = bytearray(), bytearray()

    def add(self, node: Node) -> None:
        """Notes the next row."""
        metadata = json.dumps(dict(node.metadata), sort_keys=True)
        key = node_key(node.kind, node.local_id)
        strings = (key, node.text, node.symbol, node.signature, node.source_uri, node.context_prefix, metadata)
        for (blob, sizes), value in zip(self._strings.values(), strings, strict=True):
            encoded = value.encode()
            blob += encoded
            sizes.append(len(encoded))
        lines = (node.location.start_line, node.location.end_line)
        self._numbers.extend((*lines, node.token_count, len(node.text), node.chunk_index))
        moment = node.timestamp
        self._timestamps.append(NO_TIMESTAMP if moment is None else (moment - _EPOCH) // _MICROSECOND)
        self._flags += bytes(getattr(node, name) for name in FLAGS)
        self._hashes += bytes.fromhex(node.location.content_hash)

    def parts(self) -> Parts:
        """The columns as parts of a segment."""
        parts: Parts = {
            "numbers": np.asarray(self._numbers, dtype=np.int32),
            "timestamps": np.asarray(self._timestamps, dtype=np.int64),
            "flags": bytes_part(self._flags),
            "hashes": bytes_part(self._hashes),
        }
        for name, (blob, sizes) in self._strings.items():
            parts[name] = bytes_part(blob)
            parts[f"{name}.sizes"] = np.asarray(sizes, dtype=np.int32)
        return parts


def write_node_table(directory: Path, scope: Scope, segments: Sequence[Segment]) -> None:
    """Writes the columns of all rows, but for the categories."""
    prefix = id_prefix(scope).encode()
    ids = (_prefixed(prefix, segment) for segment in segments)
    StringColumn.write_joined(directory, "id", ids, whole_column(segments, f"{KEYS}.sizes") + np.int32(len(prefix)))
    for name in STRINGS:
        blobs = (segment.part(name) for segment in segments)
        StringColumn.write_joined(directory, name, blobs, whole_column(segments, f"{name}.sizes"))
    write_array(directory / "numbers.bin", whole_column(segments, "numbers").reshape(-1, len(NUMBERS)).T)
    write_array(directory / "timestamps.bin", whole_column(segments, "timestamps"))
    write_array(directory / FLAGS_FILE, whole_column(segments, "flags").reshape(-1, len(FLAGS)).T)
    write_array(directory / "content_hash.bin", whole_column(segments, "hashes"))


def _prefixed(prefix: bytes, segment: Segment) -> NDArray[np.uint8]:
    """The ids of a segment's rows, one after the other."""
    keys = segment.part(KEYS).tobytes()
    ends = np.cumsum(segment.part(f"{KEYS}.sizes"), dtype=np.int64).tolist()
    return bytes_part(b"".join(prefix + keys[start:end] for start, end in pairwise((0, *ends))))


class NodeTable:
    """The mapped node table of an index.

    `numbers` and `flags` [n] are by name. `timestamps` [n] are microseconds since 1970 UTC or NO_TIMESTAMP.
    `content_hashes` [n, 32] are the SHA-256 of the texts, `metadata_texts` the metadata as JSON with sorted keys.
    """

    def __init__(self, directory: Path, count: int, links: LinkTemplate | None = None) -> None:
        """Maps the columns of `count` rows; `links` makes the links of locations. Raises IndexDamagedError."""
        self.links = links
        self.ids = StringColumn.open(directory, "id", count)
        self.texts = StringColumn.open(directory, "text", count)
        self.symbols = StringColumn.open(directory, "symbol", count)
        self.signatures = StringColumn.open(directory, "signature", count)
        self.source_uris = StringColumn.open(directory, "source_uri", count)
        self.context_prefixes = StringColumn.open(directory, "context_prefix", count)
        self.metadata_texts = StringColumn.open(directory, "metadata", count)
        self.categories = open_categories(directory, count)
        numbers = map_array(directory / "numbers.bin", np.int32, (len(NUMBERS), count))
        self.numbers: dict[str, NDArray[np.int32]] = dict(zip(NUMBERS, numbers, strict=True))
        self.timestamps = map_array(directory / "timestamps.bin", np.int64, (count,))
        flags = map_array(directory / FLAGS_FILE, np.bool_, (len(FLAGS), count))
        self.flags: dict[str, NDArray[np.bool_]] = dict(zip(FLAGS, flags, strict=True))
        self._purposes_by_path = np.full(len(self.categories["path"].values), _UNKNOWN, dtype=np.int8)
        self.content_hashes = map_array(directory / "content_hash.bin", np.uint8, (count, 32))

    def node(self, row: int, access: NodeAccess) -> Node:
        """The row as the node that was written; `access` is that of the row's policy class."""
        _, _, kind, local_id = self.ids[row].split(SEPARATOR, 3)
        return Node(
            id=self.ids[row],
            kind=kind,
            local_id=local_id,
            text=self.texts[row],
            token_count=int(self.numbers["token_count"][row]),
            location=self.location(row),
            symbol=self.symbols[row],
            signature=self.signatures[row],
            **{name: self.categories[name][row] for name in OWN_CATEGORIES},
            chunk_index=int(self.numbers["chunk_index"][row]),
            is_latest=bool(self.flags["is_latest"][row]),
            deleted=bool(self.flags["deleted"][row]),
            timestamp=self.timestamp(row),
            source_uri=self.source_uris[row],
            context_prefix=self.context_prefixes[row],
            is_test=bool(self.flags["is_test"][row]),
            is_generated=bool(self.flags["is_generated"][row]),
            access=access,
            metadata=self.metadata(row),
        )

    def location(self, row: int) -> Location:
        """Where the row's text is in its source."""
        return Location(
            path=self.categories["path"][row],
            start_line=int(self.numbers["start_line"][row]),
            end_line=int(self.numbers["end_line"][row]),
            content_hash=self.content_hashes[row].tobytes().hex(),
            links=self.links,
        )

    def origin_flags(self, row: int) -> "OriginFlags":
        """Two flags of the row: is it a test, and is it generated."""
        return {"is_test": bool(self.flags["is_test"][row]), "is_generated": bool(self.flags["is_generated"][row])}

    def purposes(self, rows: NDArray[np.integer]) -> NDArray[np.int8]:
        """The purposes of rows [m]. A path is looked at once; what two threads write for it at once is the same."""
        paths, corpus_types = self.categories["path"], self.categories["corpus_type"]
        codes = paths.codes.take(rows)
        by_path = self._purposes_by_path.take(codes)
        for code in np.unique(codes[by_path == _UNKNOWN]).tolist():
            self._purposes_by_path[code] = purpose_of_path(paths.values[code])
        prose_types = corpus_types.values.prefix_range(PROSE_PREFIX)
        of_rows = corpus_types.codes.take(rows)
        return purposes_of(
            self._purposes_by_path.take(codes),
            (of_rows >= prose_types.start) & (of_rows < prose_types.stop),
            self.flags["is_test"].take(rows),
            self.flags["is_generated"].take(rows),
        )

    def timestamp(self, row: int) -> datetime | None:
        """The row's timestamp, in UTC."""
        microseconds = int(self.timestamps[row])
        return None if microseconds == NO_TIMESTAMP else _EPOCH + microseconds * _MICROSECOND

    def metadata(self, row: int) -> dict[str, JsonValue]:
        """The row's metadata as its source gave it."""
        metadata: dict[str, JsonValue] = json.loads(self.metadata_texts[row])
        return metadata
