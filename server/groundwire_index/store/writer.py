"""Writes an index directory: tables, then the manifest with their checksums, all forced to disk."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
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
from groundwire_index.store.files import make_durable, sha256
from groundwire_index.store.manifest import FORMAT, FORMAT_VERSION, FileEntry, LexicalSpace, Manifest, VectorSpace
from groundwire_index.store.rows import segments_of
from groundwire_index.store.tables import LexicalSize, write_tables
from groundwire_index.vectors.vectors import write_vectors

SKIPPED_FILE = "skipped.tsv"

_THREADED_BYTES = 1 << 24
"""Files of so many bytes together are hashed by several threads; for fewer, starting those takes longer."""


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


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an index comes from, by its manifest.

    `tokenizers` are the fingerprints of those that made its lexical tables, by the table's name. `skipped` are paths of
    the source that could not be used, in whole or part, and why.
    """

    scope: Scope
    created: datetime
    source: str
    token_counter: str
    token_counter_fingerprint: str
    vector_space: VectorSpace | None
    tokenizers: Mapping[str, str]
    skipped: Sequence[tuple[str, str]]


def write_index(directory: Path, content: IndexContent) -> Manifest:
    """Fills an empty directory; after it returns, the index survives a crash of the machine."""
    tokens = {CODE: content.lexicon.code, PROSE: content.lexicon.prose}
    given = {name: own for name, own in tokens.items() if own is not None}
    edges = _edge_table(content)
    with TemporaryDirectory(prefix=".", dir=directory) as scratch:
        segments = list(segments_of(_rows(content.nodes, given), tuple(given), Path(scratch)))
        sizes = write_tables(directory, segments, edges, tuple(given), Path(scratch))
    if content.vectors is not None:
        write_vectors(directory, content.vectors.rows, content.vectors.present)
    origin = Origin(
        scope=content.scope,
        created=content.created,
        source=content.source,
        token_counter=content.token_counter,
        token_counter_fingerprint=content.token_counter_fingerprint,
        vector_space=None if content.vectors is None else content.vectors.space,
        tokenizers={name: own.tokenizer for name, own in given.items()},
        skipped=content.skipped,
    )
    return seal_index(directory, origin, len(content.nodes), edges, sizes)


def seal_index(
    directory: Path, origin: Origin, node_count: int, edges: EdgeTable, lexical: Mapping[str, LexicalSize]
) -> Manifest:
    """Completes a directory that holds every table with its manifest, and forces all of it to disk."""
    (directory / SKIPPED_FILE).write_text("".join(f"{path}\t{why}\n" for path, why in origin.skipped), encoding="utf-8")
    spaces = {name: LexicalSpace(origin.tokenizers[name], *size) for name, size in lexical.items()}
    manifest = Manifest(
        format=FORMAT,
        format_version=FORMAT_VERSION,
        repository=origin.scope.repository,
        branch=origin.scope.branch,
        version=origin.scope.active_index,
        created=origin.created,
        source=origin.source,
        node_count=node_count,
        edge_count=len(edges),
        edge_types=edges.edge_types,
        vector_space=origin.vector_space,
        code=spaces.get(CODE),
        prose=spaces.get(PROSE),
        token_counter=origin.token_counter,
        token_counter_fingerprint=origin.token_counter_fingerprint,
        files=_seal(directory),
    )
    manifest.write(directory)
    for path in (*directory.iterdir(), directory):
        make_durable(path)
    return manifest


def _rows(nodes: Sequence[Node], tokens: Mapping[str, Tokens]) -> Iterator[tuple[Node, Mapping[str, Sequence[str]]]]:
    """Every node with its tokens by the name of the lexical table."""
    documents = [iter(own.documents) for own in tokens.values()]
    for node in nodes:
        yield node, {name: next(own) for name, own in zip(tokens, documents, strict=True)}


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


def _seal(directory: Path) -> tuple[FileEntry, ...]:
    paths = sorted(directory.iterdir())
    sizes = [path.stat().st_size for path in paths]
    with ThreadPoolExecutor() as threads:
        checksums = (threads.map if sum(sizes) > _THREADED_BYTES else map)(sha256, paths)
        return tuple(map(FileEntry, (path.name for path in paths), sizes, checksums))
