"""Nodes and edges as lines of JSONL, for exports."""

import json
from collections.abc import Iterator
from dataclasses import MISSING, fields

from groundwire_ingest.records import SourceEdge, SourceNode
from groundwire_ingest.timestamps import timestamp_text

_DEFAULTS = {
    field.name: field.default for field in fields(SourceNode) if field.default is not MISSING and field.name != "vector"
}
"""Of the fields that are left out at their default, in the order in which they are written."""


def jsonl_line(record: SourceNode | SourceEdge) -> str:
    """The record as one canonical line, without its line feed; reading it gives the record again, `origin` aside.

    Fields are in a fixed order and keys of metadata sorted; a timestamp, which must have a zone, is written in UTC.
    Fields at their default are left out, except access data: what is stated is written, even where it is empty.
    """
    written = _node_values(record) if isinstance(record, SourceNode) else _edge_values(record)
    members = (
        f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False)}"
        for name, value in written
    )
    return f"{{{', '.join(members)}}}"


def _node_values(node: SourceNode) -> Iterator[tuple[str, object]]:
    yield from (("type", "node"), ("kind", node.kind), ("local_id", node.local_id), ("text", node.text))
    for name, default in _DEFAULTS.items():
        value = getattr(node, name)
        if value != default:
            yield name, timestamp_text(value) if name == "timestamp" else value
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
    if edge.line:
        yield "line", edge.line
