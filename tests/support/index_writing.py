"""Writes whole indexes from what a test holds in memory, by the same tables and the same seal as a build."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from groundwire_index.graph.edges import EdgeTable
from groundwire_index.lexical.lexical import CODE, PROSE
from groundwire_index.nodes.node import Edge, Node
from groundwire_index.scope import Scope
from groundwire_index.store.manifest import Manifest, VectorSpace
from groundwire_index.store.rows import ROWS_A_SEGMENT, segments_of
from groundwire_index.store.writer import Origin, seal_index, write_tables
from groundwire_index.vectors.vector_file import VectorFile


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


def write_index(directory: Path, content: IndexContent, rows_a_segment: int = ROWS_A_SEGMENT) -> Manifest:
    """Fills an empty directory; after it returns, the index survives a crash of the machine."""
    tokens = {CODE: content.lexicon.code, PROSE: content.lexicon.prose}
    given = {name: table for name, table in tokens.items() if table is not None}
    edges = _edge_table(content)
    with TemporaryDirectory(prefix=".", dir=directory) as scratch:
        segments = list(segments_of(_rows(content.nodes, given), tuple(given), Path(scratch), rows_a_segment))
        sizes = write_tables(directory, content.scope, segments, edges, {}, tuple(given), Path(scratch))
    if content.vectors is not None:
        write_vectors(directory, content.vectors.rows, content.vectors.present)
    origin = Origin(
        scope=content.scope,
        created=content.created,
        source=content.source,
        token_counter=content.token_counter,
        token_counter_fingerprint=content.token_counter_fingerprint,
        vector_space=None if content.vectors is None else content.vectors.space,
        tokenizers={name: table.tokenizer for name, table in given.items()},
        skipped=content.skipped,
    )
    return seal_index(directory, origin, len(content.nodes), edges, sizes)


def _rows(nodes: Sequence[Node], tokens: Mapping[str, Tokens]) -> Iterator[tuple[Node, Mapping[str, Sequence[str]]]]:
    """Every node with its tokens by the name of the lexical table."""
    documents = [iter(table.documents) for table in tokens.values()]
    for node in nodes:
        yield node, {name: next(table_documents) for name, table_documents in zip(tokens, documents, strict=True)}


def _edge_table(content: IndexContent) -> EdgeTable:
    rows = {node.id: row for row, node in enumerate(content.nodes)}
    edge_types = tuple(sorted({edge.edge_type for edge in content.edges}))
    codes = {edge_type: code for code, edge_type in enumerate(edge_types)}
    return EdgeTable(
        edge_types,
        np.asarray([rows[edge.from_id] for edge in content.edges], dtype=np.int32),
        np.asarray([rows[edge.to_id] for edge in content.edges], dtype=np.int32),
        np.asarray([codes[edge.edge_type] for edge in content.edges], dtype=np.int32),
        np.asarray([edge.confidence for edge in content.edges], dtype=np.float64),
        np.asarray([edge.line for edge in content.edges], dtype=np.int32),
    )


def write_vectors(directory: Path, vectors: NDArray[np.float32], present: NDArray[np.bool_]) -> None:
    """Writes vectors [n, dimension] of unit length, and for each row whether it has one (a text may be empty)."""
    with VectorFile(directory, *vectors.shape) as file:
        rows = np.flatnonzero(present)
        file.put(rows, vectors[rows])
