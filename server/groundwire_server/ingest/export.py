"""From an index back to the JSONL that makes it (design §7)."""

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from itertools import chain
from pathlib import Path

from groundwire_server.domain.access import NodeAccess
from groundwire_server.domain.errors import IngestError
from groundwire_server.domain.scope import SEPARATOR, Scope
from groundwire_server.index.loaded import LoadedIndex, open_version
from groundwire_server.index.store import IndexStore
from groundwire_server.ingest.jsonl import jsonl_line
from groundwire_server.ingest.records import SourceEdge, SourceNode, StatedAccess

STANDARD_OUTPUT = Path("-")


def export_index(data: Path, scope: Scope, output: Path) -> int:
    """Writes a version, the active one unless pinned, to a file or `-`; returns the number of lines.

    Vectors are written where the source had brought its own; others are made anew from the texts. Raises IngestError,
    NotFoundError, PreconditionError, IndexDamagedError.
    """
    store = IndexStore(data)
    pinned = replace(scope, active_index=scope.active_index or store.active(scope))
    if not pinned.active_index:
        raise IngestError(f"{scope.repository} {scope.branch} has no active version in {data}; name one with --version")
    index = open_version(store.require(pinned), pinned)
    count = 0
    with nullcontext(sys.stdout) if output == STANDARD_OUTPUT else output.open("w", encoding="utf-8") as stream:
        records: Iterator[SourceNode | SourceEdge] = chain(_nodes(index), _edges(index))
        for record in records:
            stream.write(jsonl_line(record) + "\n")
            count += 1
    return count


def _nodes(index: LoadedIndex) -> Iterator[SourceNode]:
    nodes = index.nodes
    for row in range(len(nodes.ids)):
        kind, local_id = _split(index, row)
        location = nodes.location(row)
        yield SourceNode(
            kind=kind,
            local_id=local_id,
            text=nodes.texts[row],
            origin=nodes.ids[row],
            path=location.path,
            start_line=location.start_line,
            end_line=location.end_line,
            symbol=nodes.symbols[row],
            signature=nodes.signatures[row],
            language=nodes.categories["language"][row],
            data_type=nodes.categories["data_type"][row],
            corpus_type=nodes.categories["corpus_type"][row],
            collection_id=nodes.categories["collection_id"][row],
            document_id=nodes.categories["document_id"][row],
            access=_stated(index.policies[int(index.policy_codes[row])]),
            vector=_own_vector(index, row),
            metadata=nodes.metadata(row),
        )


def _edges(index: LoadedIndex) -> Iterator[SourceEdge]:
    owners, ends = index.outgoing.all_ends()
    for position, (from_row, to_row) in enumerate(zip(owners.tolist(), ends.tolist(), strict=True)):
        yield SourceEdge(
            from_key=SEPARATOR.join(_split(index, from_row)),
            to_key=SEPARATOR.join(_split(index, to_row)),
            edge_type=index.manifest.edge_types[int(index.outgoing.types[position])],
            origin=index.nodes.ids[from_row],
            # The shortest decimal that stands for the stored single-precision number: 0.9, not 0.8999999761581421.
            confidence=float(str(index.outgoing.confidences[position])),
        )


def _split(index: LoadedIndex, row: int) -> tuple[str, str]:
    """Kind and local id: what follows the scope in a canonical id."""
    prefix = SEPARATOR.join((index.manifest.repository, index.manifest.branch, ""))
    kind, _, local_id = index.nodes.ids[row].removeprefix(prefix).partition(SEPARATOR)
    return kind, local_id


def _stated(access: NodeAccess) -> StatedAccess:
    return StatedAccess(
        tenant_id=access.tenant_id,
        acl_tags=access.acl_tags,
        classification_labels=access.classification_labels,
        clearance_level=access.clearance_level,
    )


def _own_vector(index: LoadedIndex, row: int) -> tuple[float, ...] | None:
    space = index.manifest.vector_space
    if space is None or index.vectors is None or space.embedder:
        return None
    return tuple(index.vectors.rows[row].tolist())
