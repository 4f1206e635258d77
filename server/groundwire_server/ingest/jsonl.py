"""The JSONL source: nodes and edges, one object a line, in any order (design §7). Also what an export writes.

This module holds the rules of one line, and that vectors are consistent; identities across lines (duplicate ids, edges
to nodes that are not there) are checked where every source's records come together.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from groundwire_server.domain.errors import IngestError
from groundwire_server.domain.limits import MAX_ACCESS_VALUE_LENGTH
from groundwire_server.domain.nodes import JsonValue
from groundwire_server.domain.scope import MAX_ID_LENGTH, SEPARATOR, kind_problem
from groundwire_server.ingest.jsonl_fields import JsonlFields
from groundwire_server.ingest.records import SourceEdge, SourceNode, SourceRecord, StatedAccess
from groundwire_server.ingest.strict_json import numbered_lines, parse_json

_PLAIN_NODE_FIELDS = (
    "path",
    "symbol",
    "signature",
    "language",
    "data_type",
    "corpus_type",
    "collection_id",
    "document_id",
)
_LIST_FIELDS = ("acl_tags", "classification_labels")
_NODE_FIELDS = frozenset(
    {
        *("type", "kind", "local_id", "text", "start_line", "end_line", "tenant_id", "clearance_level"),
        *(*_PLAIN_NODE_FIELDS, *_LIST_FIELDS, "vector", "metadata"),
    }
)
_EDGE_FIELDS = frozenset({"type", "from", "to", "edge_type", "confidence"})


class JsonlSource:
    """A JSONL file of nodes and edges. Reading raises IngestError, `path:line`, at the first line that breaks a rule.

    Either every node brings a `vector` or none does, and all are of one dimension.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def description(self) -> str:
        """`JSONL file` and its name."""
        return f"JSONL file {self._path.name}"

    def read(self) -> Iterator[SourceRecord]:
        """Yields the nodes and edges in the order of their lines; holds one line at a time."""
        first_node: SourceNode | None = None
        try:
            with self._path.open("rb") as stream:
                for place, line in numbered_lines(stream, str(self._path)):
                    record = _record(parse_json(line, place), place)
                    if isinstance(record, SourceNode):
                        first_node = first_node or record
                        _check_vectors_agree(record, first_node)
                    yield record
        except OSError as error:
            raise IngestError(f"{self._path}: cannot be read ({error.strerror})") from error


def jsonl_line(record: SourceNode | SourceEdge) -> str:
    """The record as one canonical line, without its line feed; reading it gives the record again, `origin` aside.

    Fields stand in a fixed order and keys of metadata sorted. Fields at their default are left out, except access
    data: what is stated is written, even where it is empty.
    """
    written = _node_values(record) if isinstance(record, SourceNode) else _edge_values(record)
    members = (
        f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False)}"
        for name, value in written
    )
    return f"{{{', '.join(members)}}}"


def _record(value: JsonValue, place: str) -> SourceNode | SourceEdge:
    if not isinstance(value, dict):
        raise IngestError(f'{place}: is no JSON object; write {{"type": "node", ...}} or {{"type": "edge", ...}}')
    fields = JsonlFields(value, place)
    kind_of_record = fields.required_text("type")
    if kind_of_record == "node":
        return _node(fields)
    if kind_of_record == "edge":
        return _edge(fields)
    raise fields.refused("type", "be 'node' or 'edge'")


def _node(fields: JsonlFields) -> SourceNode:
    fields.check_names(_NODE_FIELDS)
    kind = fields.required_text("kind")
    problem = kind_problem(kind)
    if problem:
        raise IngestError(f"{fields.place}: field 'kind' is {kind[:80]!r}; it {problem}")
    start_line, end_line = fields.whole_number("start_line"), fields.whole_number("end_line")
    if start_line > end_line or (start_line == 0) != (end_line == 0):
        raise fields.refused("end_line", f"not come before start_line ({start_line}); both are 0 when unknown")
    return SourceNode(
        kind=kind,
        local_id=fields.bounded_text("local_id", MAX_ID_LENGTH),
        text=fields.required_text("text"),
        origin=fields.place,
        start_line=start_line,
        end_line=end_line,
        access=_access(fields),
        vector=_vector(fields),
        metadata=_metadata(fields),
        **{name: fields.text(name) for name in _PLAIN_NODE_FIELDS},
    )


def _access(fields: JsonlFields) -> StatedAccess:
    tenant_id = fields.text("tenant_id") if "tenant_id" in fields.values else None
    if tenant_id and len(tenant_id) > MAX_ACCESS_VALUE_LENGTH:
        raise fields.refused("tenant_id", f"hold at most {MAX_ACCESS_VALUE_LENGTH} characters")
    clearance_level = None
    if "clearance_level" in fields.values:
        clearance_level = 0 if fields.values["clearance_level"] is None else fields.whole_number("clearance_level")
    acl_tags, classification_labels = (fields.names(name) for name in _LIST_FIELDS)
    return StatedAccess(tenant_id, acl_tags, classification_labels, clearance_level)


def _vector(fields: JsonlFields) -> tuple[float, ...] | None:
    if "vector" not in fields.values:
        return None
    value = fields.values["vector"]
    rule = "be a list of numbers that fit a 32-bit float, not all of them 0"
    if not isinstance(value, list):
        raise fields.refused("vector", rule)
    try:
        numbers = tuple(float(item) for item in value if isinstance(item, int | float) and not isinstance(item, bool))
    except OverflowError as error:
        raise fields.refused("vector", rule) from error
    with np.errstate(over="ignore"):
        stored = np.asarray(numbers, dtype=np.float32)
    if len(numbers) < len(value) or not stored.any() or not np.isfinite(stored).all():
        raise fields.refused("vector", rule)
    return numbers


def _metadata(fields: JsonlFields) -> Mapping[str, JsonValue]:
    value = fields.values.get("metadata", {})
    if not isinstance(value, dict):
        raise fields.refused("metadata", "be an object")
    return value


def _check_vectors_agree(node: SourceNode, first: SourceNode) -> None:
    length, first_length = len(node.vector or ()), len(first.vector or ())
    if length != first_length:
        raise IngestError(
            f"{node.origin}: the vector has {length} numbers where the first node, {first.origin}, has {first_length}; "
            "give every node a vector of one length, or none"
        )


def _edge(fields: JsonlFields) -> SourceEdge:
    fields.check_names(_EDGE_FIELDS)
    edge_type = fields.bounded_text("edge_type", MAX_ACCESS_VALUE_LENGTH)
    if edge_type == "*":
        raise fields.refused("edge_type", "be a name; '*' stands for all edge types in requests")
    return SourceEdge(
        from_key=_key(fields, "from"),
        to_key=_key(fields, "to"),
        edge_type=edge_type,
        origin=fields.place,
        confidence=_confidence(fields),
    )


def _key(fields: JsonlFields, name: str) -> str:
    kind, separator, local_id = fields.required_text(name).partition(SEPARATOR)
    if kind_problem(kind) or not separator or not local_id:
        raise fields.refused(name, f"name a node as <kind>{SEPARATOR}<local_id>")
    return f"{kind}{SEPARATOR}{local_id}"


def _confidence(fields: JsonlFields) -> float:
    value = fields.values.get("confidence", 1.0)
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= 1:
        raise fields.refused("confidence", "be a number above 0 and at most 1")
    return float(value)


def _node_values(node: SourceNode) -> Iterator[tuple[str, object]]:
    yield from (("type", "node"), ("kind", node.kind), ("local_id", node.local_id), ("text", node.text))
    optional = {
        "path": node.path,
        "start_line": node.start_line,
        "end_line": node.end_line,
        "symbol": node.symbol,
        "signature": node.signature,
        "language": node.language,
        "data_type": node.data_type,
        "corpus_type": node.corpus_type,
        "collection_id": node.collection_id,
        "document_id": node.document_id,
    }
    yield from ((name, value) for name, value in optional.items() if value)
    stated = {
        "tenant_id": node.access.tenant_id,
        "acl_tags": node.access.acl_tags,
        "classification_labels": node.access.classification_labels,
        "clearance_level": node.access.clearance_level,
        "vector": node.vector,
        "metadata": dict(node.metadata) or None,
    }
    yield from ((name, value) for name, value in stated.items() if value is not None)


def _edge_values(edge: SourceEdge) -> Iterator[tuple[str, object]]:
    yield from (("type", "edge"), ("from", edge.from_key), ("to", edge.to_key), ("edge_type", edge.edge_type))
    if edge.confidence != 1.0:
        yield "confidence", edge.confidence
