"""The pass that joins the nodes of a tree: all edges between files."""

from collections.abc import Generator, Iterable, Iterator

from groundwire_ingest.frameworks.registry import FRAMEWORKS
from groundwire_ingest.records import SkippedFile
from groundwire_ingest.tree.declaring import DeclaredTree
from groundwire_ingest.tree.files.paths import path_edges
from groundwire_ingest.tree.files.proto import proto_edges
from groundwire_ingest.tree.folders import path_in
from groundwire_ingest.tree.literals import Statement, literal_edges, references_in, text_edges, text_statements
from groundwire_ingest.tree.model import TreeEdges
from groundwire_ingest.tree.resolve import Resolution
from groundwire_ingest.tree.tables import altering_edges, entity_edges, entity_use_edges, migration_edges
from groundwire_ingest.workers import GivenUp, Workers


def join_tree(tree: DeclaredTree, resolution: Resolution, workers: Workers) -> Generator[SkippedFile, None, TreeEdges]:
    """Yields the SQL in strings that cannot be read, and returns the edges."""
    edges, catalog, files = TreeEdges(), tree.catalog, tree.files
    references = [reference for file in files for reference in file.references]
    keys_by_line = {file.path: file.keys for file in files if file.references}
    for file in files:
        edges.add(file.edges)
    edges.add(tree.procedures)
    edges.add(text_edges(catalog, resolution.texts))
    yield from _add_statements((*tree.statements, *text_statements(catalog, resolution.texts)), tree, edges, workers)
    edges.add(resolution.edges)
    edges.add(catalog.edges())
    edges.add(path_edges(references, keys_by_line, tree.first_keys))
    edges.add(proto_edges(tree.protos))
    edges.add(tree.mentioned)
    edges.add(entity_edges(catalog, resolution.mappings))
    edges.add(entity_use_edges(catalog, resolution.mappings, resolution.entity_uses))
    edges.add(migration_edges(tree.code, resolution.mappings))
    edges.add(altering_edges(tree.code, catalog))
    for framework in FRAMEWORKS:
        if framework.file_edges is not None:
            edges.add(framework.file_edges(files, tree.code))
    return edges


def _add_statements(
    statements: Iterable[Statement], tree: DeclaredTree, edges: TreeEdges, workers: Workers
) -> Iterator[SkippedFile]:
    """Adds the edges of SQL in strings; gives what could not be read."""
    listed = tuple(statements)
    # A string that is read where its constant is used is the same in many places.
    distinct = {item.reading: item for item in reversed(listed)}
    references = dict(zip(distinct, workers.map(references_in, distinct.values(), _length), strict=True))
    for statement in listed:
        result = references[statement.reading]
        if isinstance(result, GivenUp):
            path = path_in(statement.literal.from_key)
            yield SkippedFile(path, f"the SQL in the string at line {statement.literal.line} {result.why}")
        else:
            edges.add(literal_edges(tree.catalog, statement.literal, result, statement.most))


def _length(statement: Statement) -> int:
    return len(statement.sql)
