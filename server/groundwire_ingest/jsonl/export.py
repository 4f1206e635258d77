"""From an index back to the lines of JSONL that make it."""

import json
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import MISSING, asdict, fields
from itertools import chain
from pathlib import Path

import numpy as np

from groundwire_index.scope import SEPARATOR
from groundwire_index.store.loaded import LoadedIndex
from groundwire_ingest.records import SourceEdge, SourceNode, StatedAccess, stored_fields
from groundwire_ingest.timestamps import timestamp_text

STANDARD_OUTPUT = Path("-")


def export_index(index: LoadedIndex, output: Path) -> int:
    """Writes a version to a file or `-`; returns the number of lines.

    Vectors are written where the source had brought its own; others are made anew from the texts.
    """
    count = 0
    with nullcontext(sys.stdout) if output == STANDARD_OUTPUT else output.open("w", encoding="utf-8") as stream:
        records: Iterator[SourceNode | SourceEdge] = chain(_nodes(index), _edges(index))
        for record in records:
            stream.write(jsonl_line(record) + "\n")
            count += 1
    return count


def _nodes(index: LoadedIndex) -> Iterator[SourceNode]:
    for row in range(len(index.nodes.ids)):
        access = index.policies.of(row)
        node = index.nodes.node(row, access)
        # The scope's own name is what an empty one means, so that the export fits under another scope as well.
        repo_name = "" if node.repo_name == index.manifest.repository else node.repo_name
        yield SourceNode(
            **stored_fields(node, repo_name),
            origin=node.id,
            path=node.location.path,
            start_line=node.location.start_line,
            end_line=node.location.end_line,
            access=StatedAccess(**asdict(access)),
            vector=_own_vector(index, row),
        )


def _edges(index: LoadedIndex) -> Iterator[SourceEdge]:
    edges = index.edges
    for position in np.lexsort((edges.to_rows, edges.types, edges.from_rows)).tolist():
        from_row, to_row = int(edges.from_rows[position]), int(edges.to_rows[position])
        yield SourceEdge(
            from_key=_key(index, from_row),
            to_key=_key(index, to_row),
            edge_type=index.manifest.edge_types[int(edges.types[position])],
            origin=index.nodes.ids[from_row],
            # The shortest decimal that rounds to the stored single-precision number: 0.9, not 0.8999999761581421.
            confidence=float(str(edges.confidences[position])),
            line=int(edges.lines[position]),
        )


def _key(index: LoadedIndex, row: int) -> str:
    """The name that edges use: what follows the scope in a canonical id."""
    return index.nodes.ids[row].removeprefix(SEPARATOR.join((index.manifest.repository, index.manifest.branch, "")))


def _own_vector(index: LoadedIndex, row: int) -> tuple[float, ...] | None:
    space = index.manifest.vector_space
    if space is None or index.vectors is None or space.embedder:
        return None
    return tuple(index.vectors.rows[row].tolist())


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
    stated = {**asdict(node.access), "vector": node.vector, "metadata": dict(node.metadata) or None}
    yield from ((name, value) for name, value in stated.items() if value is not None)


def _edge_values(edge: SourceEdge) -> Iterator[tuple[str, object]]:
    yield from (("type", "edge"), ("from", edge.from_key), ("to", edge.to_key), ("edge_type", edge.edge_type))
    if edge.confidence != 1.0:
        yield "confidence", edge.confidence
    if edge.line:
        yield "line", edge.line
