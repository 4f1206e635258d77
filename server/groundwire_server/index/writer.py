"""Writes an index directory: tables, then the manifest with their checksums, all forced to disk."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_server.domain.nodes import CONTAINS, Edge, Node
from groundwire_server.domain.scope import Scope
from groundwire_server.index.adjacency import EdgeRow, write_adjacency
from groundwire_server.index.files import make_durable, sha256, write_array
from groundwire_server.index.lexical import CODE, PROSE, write_lexical
from groundwire_server.index.loaded import POLICY_COLUMN
from groundwire_server.index.manifest import FORMAT, FORMAT_VERSION, FileEntry, LexicalSpace, Manifest, VectorSpace
from groundwire_server.index.metadata_terms import write_metadata_terms
from groundwire_server.index.names import write_names
from groundwire_server.index.node_table import write_node_table
from groundwire_server.index.policies import intern, write_policies
from groundwire_server.index.reading_order import write_reading_order
from groundwire_server.index.service_edges import write_service_edges
from groundwire_server.index.vectors import write_vectors
from groundwire_server.text.names import node_names

SKIPPED_FILE = "skipped.tsv"


@dataclass(frozen=True, slots=True)
class Vectors:
    """Unit vectors [n, dimension] in node order, which rows have one, and the space they live in."""

    space: VectorSpace
    rows: NDArray[np.float32]
    present: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of every node in node order, read once, and the fingerprint of the tokeniser that makes them."""

    tokenizer: str
    documents: Iterable[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The tokens of an index's lexical tables; None for a table that it shall not have."""

    code: Tokens | None = None
    prose: Tokens | None = None


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
    lexicon: Lexicon
    skipped: Sequence[tuple[str, str]] = ()


def write_index(directory: Path, content: IndexContent) -> Manifest:
    """Fills an empty directory; after it returns, the index survives a crash of the machine."""
    edge_types = tuple(sorted({edge.edge_type for edge in content.edges}))
    _write_nodes(directory, content.nodes)
    _write_edges(directory, content, edge_types)
    if content.vectors is not None:
        write_vectors(directory, content.vectors.rows, content.vectors.present)
    code = _write_lexical(directory, CODE, content.lexicon.code)
    prose = _write_lexical(directory, PROSE, content.lexicon.prose)
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
        edge_types=edge_types,
        vector_space=None if content.vectors is None else content.vectors.space,
        code=code,
        prose=prose,
        token_counter=content.token_counter,
        token_counter_fingerprint=content.token_counter_fingerprint,
        files=_seal(directory),
    )
    manifest.write(directory)
    for path in (*directory.iterdir(), directory):
        make_durable(path)
    return manifest


def _write_nodes(directory: Path, nodes: Sequence[Node]) -> None:
    write_node_table(directory, nodes)
    classes, policy_codes = intern([node.access for node in nodes])
    write_policies(directory, classes)
    write_array(directory / POLICY_COLUMN, policy_codes)
    write_names(directory, (node_names(node.symbol, node.location.path) for node in nodes))
    write_metadata_terms(directory, (node.metadata for node in nodes))
    write_reading_order(directory, nodes)


def _write_edges(directory: Path, content: IndexContent, edge_types: tuple[str, ...]) -> None:
    edges = _edge_rows(content, edge_types)
    write_adjacency(directory, len(content.nodes), edges)
    contains = edge_types.index(CONTAINS) if CONTAINS in edge_types else None
    write_service_edges(directory, [node.service_name for node in content.nodes], edges, contains)


def _write_lexical(directory: Path, name: str, tokens: Tokens | None) -> LexicalSpace | None:
    if tokens is None:
        return None
    term_count, posting_count = write_lexical(directory, name, tokens.documents)
    return LexicalSpace(tokens.tokenizer, term_count, posting_count)


def _edge_rows(content: IndexContent, edge_types: tuple[str, ...]) -> list[EdgeRow]:
    rows = {node.id: row for row, node in enumerate(content.nodes)}
    codes = {edge_type: code for code, edge_type in enumerate(edge_types)}
    return [
        EdgeRow(rows[edge.from_id], rows[edge.to_id], codes[edge.edge_type], edge.confidence) for edge in content.edges
    ]


def _seal(directory: Path) -> tuple[FileEntry, ...]:
    return tuple(FileEntry(path.name, path.stat().st_size, sha256(path)) for path in sorted(directory.iterdir()))
