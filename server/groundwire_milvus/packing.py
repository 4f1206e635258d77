"""Values as fields of Milvus hold them: strings without a character that an expression would have to escape, and back.

A packed field that is longer than a field may be is spilled: it then holds `@` and the number of pieces, and the pieces
are a fact of their own. No packed value begins with `@`.
"""

import base64
import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundwire_index.link_template import LinkTemplate
from groundwire_index.nodes.metadata_terms import metadata_term
from groundwire_index.nodes.node import Location, MetadataScalar, Node, NodeAccess

MOST_BYTES: Final = 60_000
"""The size limit of a packed field or of a part of a fact."""
EDGES_A_CHUNK: Final = 1_024
OUTGOING, INCOMING = 0, 1
_NEAR_BITS: Final = 41
SPILL_MARK: Final = "@"

EDGE: Final = np.dtype(
    [("type", "<i4"), ("far", "<i8"), ("confidence", "<f4"), ("line", "<i4"), ("far_class", "<i4"), ("position", "<i8")]
)
"""An edge as seen from its near end; `position` is its number among all edges of the index."""
SERVICE_EDGE: Final = np.dtype(
    [
        ("position", "<i8"),
        ("from_row", "<i8"),
        ("to_row", "<i8"),
        ("type", "<i4"),
        ("from_class", "<i4"),
        ("to_class", "<i4"),
        ("from_service", "<i4"),
        ("to_service", "<i4"),
    ]
)
"""An edge between services, which are places in a list of names; `position` identifies the same edge in two facts."""

SPARSE_ENTRY: Final = np.dtype([("dimension", "<u4"), ("value", "<f4")])

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def hexed(text: str) -> str:
    """The lower-case hexadecimal of the UTF-8 of a text: prefixes stay prefixes, and the order stays."""
    return text.encode().hex()


def unhexed(text: str) -> str:
    """The inverse of `hexed`."""
    return bytes.fromhex(text).decode()


def digest(text: str) -> str:
    """32 hexadecimal digits that identify a text."""
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def metadata_digest(key: str, value: MetadataScalar) -> str:
    """The entry in a node's field `metadata` for a value under a key, or in a list under it."""
    return digest(metadata_term(key, value))


def packed_workflows(names: Sequence[str]) -> str:
    """The workflows of a node so that `like "%|<hex>|%"` finds one, and `like "%|<hex>%"` those of a prefix."""
    return f"|{'|'.join(map(hexed, names))}|" if names else ""


class TermCounts(NamedTuple):
    """The terms of a document: their numbers, ascending, and how often it holds each; arrays [terms]."""

    terms: NDArray[np.integer]
    frequencies: NDArray[np.integer]


def packed_terms(counts: TermCounts) -> str:
    """The terms of a document."""
    return _base64(np.concatenate(counts).astype("<u4"))


def unpacked_terms(packed: str) -> TermCounts:
    """What `packed_terms` packed."""
    both = np.frombuffer(base64.b64decode(packed), dtype="<u4").reshape(2, -1)
    return TermCounts(both[0], both[1])


def packed_sparse(vector: Mapping[int, float]) -> bytes:
    """A sparse vector in the form of Milvus: entries of type SPARSE_ENTRY, by dimension."""
    return np.asarray(sorted(vector.items()), dtype=SPARSE_ENTRY).tobytes()


class TermFact(NamedTuple):
    """The number of a term in the sparse vectors, and how many nodes hold it by class, where some do."""

    number: int
    holders: dict[int, int]


def packed_term(fact: TermFact) -> str:
    """The facts about a term."""
    return json.dumps([fact.number, *itertools.chain.from_iterable(sorted(fact.holders.items()))])


def unpacked_term(packed: str) -> TermFact:
    """What `packed_term` packed."""
    number, *pairs = json.loads(packed)
    return TermFact(number, dict(zip(pairs[::2], pairs[1::2], strict=True)))


class DocumentPart(NamedTuple):
    """Totals of the nodes of one class of one document: their count, code tokens, and the frequency of each term."""

    class_: int
    nodes: int
    length: int
    counts: TermCounts


def packed_document(parts: Sequence[DocumentPart]) -> str:
    """The facts about a document, by class."""
    return json.dumps([(*part[:3], packed_terms(part.counts)) for part in parts])


def unpacked_document(packed: str) -> list[DocumentPart]:
    """What `packed_document` packed."""
    parts: list[tuple[int, int, int, str]] = json.loads(packed)
    return [DocumentPart(class_, nodes, length, unpacked_terms(counts)) for class_, nodes, length, counts in parts]


def packed_names(names: Sequence[str]) -> str:
    """A list of strings."""
    return json.dumps(list(names))


def unpacked_names(packed: str) -> list[str]:
    """What `packed_names` packed."""
    names: list[str] = json.loads(packed)
    return names


def packed_text(text: str) -> str:
    """A text, so that it cannot be taken for a spilled one."""
    return f" {text}"


def unpacked_text(packed: str) -> str:
    """What `packed_text` packed."""
    return packed[1:]


def packed_edges(edges: NDArray[np.void]) -> str:
    """At most EDGES_A_CHUNK edges [m] of type EDGE."""
    return _base64(edges)


def unpacked_edges(packed: str) -> NDArray[np.void]:
    """What `packed_edges` packed."""
    return np.frombuffer(base64.b64decode(packed), dtype=EDGE)


def near_keys(rows: NDArray[np.integer], direction: int) -> NDArray[np.int64]:
    """The values of the field `near` for the edges of rows [m] in one direction, OUTGOING or INCOMING; [m]."""
    return rows.astype(np.int64) * 2 + direction


def chunk_key(near: int, chunk: int) -> int:
    """The key of a chunk, counted from 0, of the edges of a near end (`near_keys`)."""
    return (chunk << _NEAR_BITS) + near


def packed_service_edges(services: Sequence[str], edges: NDArray[np.void]) -> str:
    """Edges [m] of type SERVICE_EDGE, and the services that they name."""
    return json.dumps({"services": list(services), "edges": _base64(edges)})


def unpacked_service_edges(packed: str) -> tuple[list[str], NDArray[np.void]]:
    """What `packed_service_edges` packed."""
    content = json.loads(packed)
    return content["services"], np.frombuffer(base64.b64decode(content["edges"]), dtype=SERVICE_EDGE)


class Label(NamedTuple):
    """The facts about a node that hits state."""

    id: str
    symbol: str
    location: Location
    is_test: bool
    is_generated: bool


def packed_label(node: Node) -> str:
    """The label of a node."""
    at = node.location
    place = (at.path, at.start_line, at.end_line, at.content_hash)
    return json.dumps([node.id, node.symbol, *place, node.is_test, node.is_generated])


def unpacked_label(packed: str, links: LinkTemplate | None = None) -> Label:
    """What `packed_label` packed; `links` makes the links of its location."""
    id_, symbol, path, start_line, end_line, text_hash, is_test, is_generated = json.loads(packed)
    return Label(id_, symbol, Location(path, start_line, end_line, text_hash, links), is_test, is_generated)


_REST = (
    "kind local_id token_count signature language data_type corpus_type collection_id case_id document_id "
    "document_version_id chunk_index is_latest service_name repo_name section_path author channel source_uri "
    "context_prefix"
).split()


def packed_rest(node: Node) -> str:
    """The fields of a node besides its label, its text, its access and the deleted flag."""
    values: dict[str, object] = {name: getattr(node, name) for name in _REST}
    values["timestamp"] = None if node.timestamp is None else (node.timestamp - _EPOCH) // _MICROSECOND
    values["metadata"] = dict(node.metadata)
    return json.dumps(values)


def unpacked_declaration(rest: str) -> tuple[str, str]:
    """Kind and signature of a node, of what `packed_rest` packed."""
    values = json.loads(rest)
    return values["kind"], values["signature"]


def unpacked_node(
    label: str, rest: str, text: str, access: NodeAccess, links: LinkTemplate | None = None, *, deleted: bool
) -> Node:
    """The node with these packed fields; its class gives `access` and `deleted`, and its index `links`."""
    values = json.loads(rest)
    timestamp = values.pop("timestamp")
    return Node(
        **unpacked_label(label, links)._asdict(),
        **values,
        text=unpacked_text(text),
        timestamp=None if timestamp is None else _EPOCH + timestamp * _MICROSECOND,
        access=access,
        deleted=deleted,
    )


def pieces(text: str) -> list[str]:
    """A text cut into pieces of at most MOST_BYTES of UTF-8; one piece at least."""
    encoded = text.encode()
    cut: list[str] = []
    start = 0
    while start < len(encoded) or not cut:
        end = min(start + MOST_BYTES, len(encoded))
        while end < len(encoded) and encoded[end] & 0xC0 == 0x80:  # within a character
            end -= 1
        cut.append(encoded[start:end].decode())
        start = end
    return cut


def _base64(values: NDArray[np.void] | NDArray[np.integer]) -> str:
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")
