"""The pass that joins the nodes of a tree: all edges between files, and the ends of edges to other trees."""

from collections.abc import Generator, Iterable
from dataclasses import dataclass, replace

from groundwire_index.repository_edges.ends import Ends
from groundwire_index.repository_edges.tables import TableUse
from groundwire_ingest.frameworks.registry import FRAMEWORKS
from groundwire_ingest.records import SkippedFile
from groundwire_ingest.tree.declaring import DeclaredTree
from groundwire_ingest.tree.file_analysis import TreeEdges
from groundwire_ingest.tree.files.paths import path_edges
from groundwire_ingest.tree.files.proto import proto_edges
from groundwire_ingest.tree.folders import path_in
from groundwire_ingest.tree.literals import (
    Statement,
    literal_edges,
    references_in,
    shared_table_uses,
    text_edges,
    text_statements,
)
from groundwire_ingest.tree.resolve import Resolution
from groundwire_ingest.tree.tables import (
    altering_edges,
    entity_edges,
    entity_use_edges,
    migration_edges,
    shared_entity_uses,
)
from groundwire_ingest.workers import GivenUp, Workers


@dataclass(frozen=True, slots=True)
class JoinedTree:
    """All edges of a tree, and the ends of edges to other trees."""

    edges: TreeEdges
    ends: Ends


def join_tree(tree: DeclaredTree, resolution: Resolution, workers: Workers) -> Generator[SkippedFile, None, JoinedTree]:
    """Yields the SQL in strings that cannot be read, and returns what joins the tree."""
    edges, catalog, files = TreeEdges(), tree.catalog, tree.files
    references = [reference for file in files for reference in file.references]
    keys_by_line = {file.path: file.keys for file in files if file.references}
    for file in files:
        edges.add(file.edges)
    edges.add(tree.procedures)
    edges.add(text_edges(catalog, resolution.texts))
    in_strings = (*tree.statements, *text_statements(resolution.texts))
    table_uses = yield from _add_statements(in_strings, tree, edges, workers)
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
    return JoinedTree(edges, _ends(tree, resolution, table_uses))


def _ends(tree: DeclaredTree, resolution: Resolution, uses_in_strings: Iterable[TableUse]) -> Ends:
    """The ends of edges to other trees: those of code, those of packages, and tables."""
    names, uses = list(resolution.ends.names), list(resolution.ends.uses)
    for file in sorted(tree.files, key=lambda file: file.path):
        if file.packages is not None and file.first_key:
            names.extend(file.packages.offered(file.first_key))
            uses.extend(file.packages.uses(file.keys, file.first_key))
    in_entities = shared_entity_uses(tree.catalog, resolution.mappings, tree.layout.demand_of_node)
    table_uses = dict.fromkeys((*tree.catalog.shared_uses(), *uses_in_strings, *in_entities))
    return replace(
        resolution.ends,
        names=tuple(names),
        uses=tuple(uses),
        tables=tuple(tree.catalog.tables()),
        table_uses=tuple(table_uses),
    )


def _add_statements(
    statements: Iterable[Statement], tree: DeclaredTree, edges: TreeEdges, workers: Workers
) -> Generator[SkippedFile, None, list[TableUse]]:
    """Adds the edges of SQL in strings; yields what could not be read, and returns the uses of other trees' tables."""
    table_uses: list[TableUse] = []
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
            demand = tree.layout.demand_of_node(statement.literal.from_key)
            table_uses += shared_table_uses(tree.catalog, statement.literal, result, demand, statement.most)
    return table_uses


def _length(statement: Statement) -> int:
    return len(statement.sql)
