"""The JSONL source: nodes and edges, one object a line, in any order.

Every rule that a line can break by itself is checked here, and that vectors are consistent. Identities across lines
(duplicate ids, edges to nodes that are not there) are checked where every source's records come together.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from groundwire_index.limits import MAX_ACCESS_VALUE_LENGTH, MAX_TEXT_BYTES
from groundwire_index.nodes.node import JsonValue
from groundwire_index.scope import MAX_ID_LENGTH, SEPARATOR, kind_problem
from groundwire_ingest.build.long_texts import text_bytes
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.jsonl.json_fields import JsonFields
from groundwire_ingest.jsonl.strict_json import numbered_lines, parse_json
from groundwire_ingest.records import TEXT_FIELDS, SourceEdge, SourceNode, SourceRecord, StatedAccess

_LIST_FIELDS = ("acl_tags", "classification_labels")
_NODE_FIELDS = frozenset(
    {
        *("type", "kind", "local_id", "text", "start_line", "end_line", "chunk_index"),
        *("is_latest", "deleted", "is_test", "is_generated"),
        *(*TEXT_FIELDS, "timestamp", "tenant_id", *_LIST_FIELDS, "clearance_level", "vector", "metadata"),
    }
)
_EDGE_FIELDS = frozenset({"type", "from", "to", "edge_type", "confidence", "line"})


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
                    record = jsonl_record(parse_json(line, place), place)
                    if isinstance(record, SourceNode):
                        first_node = first_node or record
                        _check_vectors_agree(record, first_node)
                    yield record
        except OSError as error:
            raise IngestError(f"{self._path}: cannot be read ({error.strerror})") from error


def _check_vectors_agree(node: SourceNode, first: SourceNode) -> None:
    length, first_length = len(node.vector or ()), len(first.vector or ())
    if length != first_length:
        raise IngestError(
            f"{node.origin}: the vector has {length} numbers where the first node, {first.origin}, has {first_length}; "
            "give every node a vector of one length, or none"
        )


def jsonl_record(value: JsonValue, place: str) -> SourceNode | SourceEdge:
    """The node or edge of one line's value. Raises IngestError naming `place`, the field, its value and the rule."""
    if not isinstance(value, dict):
        raise IngestError(f'{place}: is no JSON object; write {{"type": "node", ...}} or {{"type": "edge", ...}}')
    fields = JsonFields(value, place)
    kind_of_record = fields.required_text("type")
    if kind_of_record == "node":
        return _node(fields)
    if kind_of_record == "edge":
        return _edge(fields)
    raise fields.refused("type", "be 'node' or 'edge'")


def _node(fields: JsonFields) -> SourceNode:
    fields.check_names(_NODE_FIELDS)
    kind = fields.required_text("kind")
    problem = kind_problem(kind)
    if problem:
        raise IngestError(f"{fields.place}: field 'kind' is {kind[:80]!r}; it {problem}")
    start_line, end_line = fields.whole_number("start_line"), fields.whole_number("end_line")
    if start_line > end_line or (start_line == 0) != (end_line == 0):
        raise fields.refused("end_line", f"not come before start_line ({start_line}); both are 0 when unknown")
    node = SourceNode(
        kind=kind,
        local_id=fields.bounded_text("local_id", MAX_ID_LENGTH),
        text=fields.required_text("text"),
        origin=fields.place,
        start_line=start_line,
        end_line=end_line,
        chunk_index=fields.whole_number("chunk_index"),
        is_latest=fields.flag("is_latest", default=True),
        deleted=fields.flag("deleted", default=False),
        is_test=fields.flag("is_test", default=False),
        is_generated=fields.flag("is_generated", default=False),
        timestamp=fields.timestamp("timestamp"),
        access=_access(fields),
        vector=_vector(fields),
        metadata=_metadata(fields),
        **{name: fields.text(name) for name in TEXT_FIELDS},
    )
    if (size := text_bytes(node)) > MAX_TEXT_BYTES:
        raise IngestError(
            f"{fields.place}: field 'text' takes {size} bytes with its symbol and twice its path; at most "
            f"{MAX_TEXT_BYTES} fit a response, cut it into several nodes"
        )
    return node


def _access(fields: JsonFields) -> StatedAccess:
    tenant_id = fields.text("tenant_id") if "tenant_id" in fields.values else None
    if tenant_id and len(tenant_id) > MAX_ACCESS_VALUE_LENGTH:
        raise fields.refused("tenant_id", f"hold at most {MAX_ACCESS_VALUE_LENGTH} characters")
    clearance_level = None
    if "clearance_level" in fields.values:
        clearance_level = 0 if fields.values["clearance_level"] is None else fields.whole_number("clearance_level")
    acl_tags, classification_labels = (fields.names(name) for name in _LIST_FIELDS)
    return StatedAccess(tenant_id, acl_tags, classification_labels, clearance_level)


def _vector(fields: JsonFields) -> tuple[float, ...] | None:
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


def _metadata(fields: JsonFields) -> Mapping[str, JsonValue]:
    value = fields.values.get("metadata", {})
    if not isinstance(value, dict):
        raise fields.refused("metadata", "be an object")
    return value


def _edge(fields: JsonFields) -> SourceEdge:
    fields.check_names(_EDGE_FIELDS)
    edge_type = fields.bounded_text("edge_type", MAX_ACCESS_VALUE_LENGTH)
    if edge_type == "*":
        raise fields.refused("edge_type", "be a name; '*' means all edge types in requests")
    return SourceEdge(
        from_key=_key(fields, "from"),
        to_key=_key(fields, "to"),
        edge_type=edge_type,
        origin=fields.place,
        confidence=_confidence(fields),
        line=fields.whole_number("line"),
    )


def _key(fields: JsonFields, name: str) -> str:
    kind, separator, local_id = fields.required_text(name).partition(SEPARATOR)
    if kind_problem(kind) or not separator or not local_id:
        raise fields.refused(name, f"name a node as <kind>{SEPARATOR}<local_id>")
    return f"{kind}{SEPARATOR}{local_id}"


def _confidence(fields: JsonFields) -> float:
    value = fields.values.get("confidence", 1.0)
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= 1:
        raise fields.refused("confidence", "be a number above 0 and at most 1")
    return float(value)
