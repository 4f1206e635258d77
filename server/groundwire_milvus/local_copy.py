"""A version in Milvus as files of a folder, for what reads all of its nodes and edges."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from groundwire_index.graph.edges import EdgeTable
from groundwire_index.index_errors import IndexDamagedError
from groundwire_index.nodes.node import Node
from groundwire_index.scope import Scope
from groundwire_index.store.loaded import LoadedIndex
from groundwire_index.store.rows import segments_of
from groundwire_index.store.writer import Origin, seal_index, write_tables
from groundwire_index.vectors.vector_file import VectorFile
from groundwire_milvus.catalogue import Catalogue
from groundwire_milvus.document import VersionDocument
from groundwire_milvus.facts import unspilled
from groundwire_milvus.packing import EDGE, OUTGOING, unpacked_edges, unpacked_node
from groundwire_milvus.schema import EDGES_SCHEMA, VersionCollections
from groundwire_milvus.storage_errors import CollectionMissingError
from groundwire_milvus.store import MilvusStore
from groundwire_milvus.verification import pages

_PACKED = ("label", "rest", "text")


def local_copy(catalogue: Catalogue, scope: Scope, directory: Path) -> LoadedIndex:
    """Copies the version that `scope` pins into an empty folder, and opens the copy.

    It has no lexical tables, and vectors only where the source had brought its own: others are made of the texts.
    Raises VersionNotFoundError, VersionDeletedError, IndexDamagedError and StorageUnavailableError.
    """
    entry = catalogue.require(scope)
    document = catalogue.document(entry)
    try:
        _write(directory, catalogue.store, entry.collections, document)
    except CollectionMissingError as error:
        catalogue.require(scope)  # where it was deleted in between
        raise IndexDamagedError(str(error)) from error
    return LoadedIndex(directory)


def _write(directory: Path, store: MilvusStore, collections: VersionCollections, document: VersionDocument) -> None:
    manifest, edges = document.manifest, _edges(store, collections, document)
    scope = Scope(manifest.repository, manifest.branch, manifest.version)
    with TemporaryDirectory(prefix=".", dir=directory) as scratch:
        no_tokens: Mapping[str, list[str]] = {}
        rows = ((node, no_tokens) for node in _nodes(store, collections, document))
        segments = list(segments_of(rows, (), Path(scratch)))
        sizes = write_tables(directory, scope, segments, edges, {}, (), Path(scratch))
    space = manifest.vector_space
    own_space = None if space is None or space.embedder else space
    if own_space is not None:
        with VectorFile(directory, manifest.node_count, own_space.dimension) as file:
            for rows_of_page, vectors in _vectors(store, collections, document, own_space.dimension):
                file.put(rows_of_page, vectors)
    origin = Origin(
        scope=scope,
        created=manifest.created,
        source=manifest.source,
        token_counter=manifest.token_counter,
        token_counter_fingerprint=manifest.token_counter_fingerprint,
        vector_space=own_space,
        tokenizers={},
        skipped=(),
        inputs=manifest.inputs,
        link_template=manifest.link_template,
    )
    seal_index(directory, origin, manifest.node_count, edges, sizes)


def _nodes(store: MilvusStore, collections: VersionCollections, document: VersionDocument) -> Iterator[Node]:
    """The nodes in the order of their rows."""
    for page in pages(store, collections.nodes, "row", document.nodes_state, ("class", *_PACKED)):
        columns = unspilled(store, collections.facts, page, _PACKED)
        classes = [document.classes[place] for place in page.integers("class").tolist()]
        for node_class, label, rest, text in zip(classes, *(columns[field] for field in _PACKED), strict=True):
            yield unpacked_node(label, rest, text, document.policies[node_class.policy], deleted=node_class.deleted)


def _vectors(
    store: MilvusStore, collections: VersionCollections, document: VersionDocument, dimension: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
    """Rows [m] that have a vector, ascending, and their vectors [m, dimension]."""
    for page in pages(store, collections.nodes, "row", document.nodes_state, ("has_vector", "vector")):
        has_vector = page.flags("has_vector")
        yield page.integers("row")[has_vector], page.dense("vector", dimension)[has_vector]


def _edges(store: MilvusStore, collections: VersionCollections, document: VersionDocument) -> EdgeTable:
    """The edges, each from the chunk of the near end that it leaves."""
    fields, order = ("near", "content"), EDGES_SCHEMA.order
    nears, edge_arrays = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=EDGE)]
    for page in pages(store, collections.edges, order, document.edges_state, fields):
        for near, content in zip(page.integers("near").tolist(), page.strings("content"), strict=True):
            row, direction = divmod(near, 2)
            if direction == OUTGOING:
                edge_arrays.append(unpacked_edges(content))
                nears.append(np.full(len(edge_arrays[-1]), row))
    edges = np.concatenate(edge_arrays)
    return EdgeTable(
        document.manifest.edge_types,
        np.concatenate(nears).astype(np.int32),
        edges["far"].astype(np.int32),
        edges["type"],
        edges["confidence"].astype(np.float64),
        edges["line"],
    )
