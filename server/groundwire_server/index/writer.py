"""Writes an index directory: tables, then the manifest with their checksums, all forced to disk."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_server.domain.nodes import Edge, Node
from groundwire_server.domain.scope import Scope
from groundwire_server.index.adjacency import EdgeRow, write_adjacency
from groundwire_server.index.files import make_durable, sha256, write_array
from groundwire_server.index.lexical import write_lexical
from groundwire_server.index.loaded import POLICY_COLUMN
from groundwire_server.index.manifest import FORMAT, FORMAT_VERSION, FileEntry, Manifest, VectorSpace
from groundwire_server.index.node_table import write_node_table
from groundwire_server.index.policies import intern, write_policies
from groundwire_server.index.vectors import write_vectors

SKIPPED_FILE = "skipped.tsv"


@dataclass(frozen=True, slots=True)
class Vectors:
    """Unit vectors [n, dimension] in node order, which rows have one, and the space they live in."""

    space: VectorSpace
    rows: NDArray[np.float32]
    present: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The tokens of every node in node order, and the fingerprint of the tokeniser that made them."""

    tokenizer: str
    documents: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class IndexContent:
    """All that goes into an index. Nodes are sorted by id and distinct; edges are distinct and name nodes of it.

    `skipped` are paths of the source that could not be used, in whole or part, and why.
    """

    scope: Scope
    created: datetime
    source: str
    token_counter: str
    token_counter_fingerprint: str
    nodes: Sequence[Node]
    edges: Sequence[Edge]
    vectors: Vectors | None
    lexicon: Lexicon | None
    skipped: Sequence[tuple[str, str]] = ()


def write_index(directory: Path, content: IndexContent) -> Manifest:
    """Fills an empty directory; after it returns, the index survives a crash of the machine."""
    write_node_table(directory, content.nodes)
    classes, policy_codes = intern([node.access for node in content.nodes])
    write_policies(directory, classes)
    write_array(directory / POLICY_COLUMN, policy_codes)
    edge_types = tuple(sorted({edge.edge_type for edge in content.edges}))
    write_adjacency(directory, len(content.nodes), _edge_rows(content, edge_types))
    if content.vectors is not None:
        write_vectors(directory, content.vectors.rows, content.vectors.present)
    term_count, posting_count = (
        (0, 0) if content.lexicon is None else write_lexical(directory, content.lexicon.documents)
    )
    (directory / SKIPPED_FILE).write_text(
        "".join(f"{path}\t{why}\n" for path, why in content.skipped), encoding="utf-8"
    )
    manifest = Manifest(
        format=FORMAT,
        format_version=FORMAT_VERSION,
        repository=content.scope.repository,
        branch=content.scope.branch,
        version=content.scope.active_index,
        created=content.created,
        source=content.source,
        node_count=len(content.nodes),
        edge_count=len(content.edges),
        term_count=term_count,
        posting_count=posting_count,
        edge_types=edge_types,
        vector_space=None if content.vectors is None else content.vectors.space,
        tokenizer="" if content.lexicon is None else content.lexicon.tokenizer,
        token_counter=content.token_counter,
        token_counter_fingerprint=content.token_counter_fingerprint,
        files=_seal(directory),
    )
    manifest.write(directory)
    for path in (*directory.iterdir(), directory):
        make_durable(path)
    return manifest


def _edge_rows(content: IndexContent, edge_types: tuple[str, ...]) -> list[EdgeRow]:
    rows = {node.id: row for row, node in enumerate(content.nodes)}
    codes = {edge_type: code for code, edge_type in enumerate(edge_types)}
    return [
        EdgeRow(rows[edge.from_id], rows[edge.to_id], codes[edge.edge_type], edge.confidence) for edge in content.edges
    ]


def _seal(directory: Path) -> tuple[FileEntry, ...]:
    return tuple(FileEntry(path.name, path.stat().st_size, sha256(path)) for path in sorted(directory.iterdir()))
