"""Edges from code to tables by the entities of ORMs and the steps of migrations."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from operator import attrgetter, itemgetter

from groundwire_index.nodes.node import NodeAccess
from groundwire_index.repository_edges.nearest import nearest
from groundwire_index.repository_edges.tables import TableUse
from groundwire_ingest.records import SourceEdge
from groundwire_ingest.tree.code_facts import CodeFacts
from groundwire_ingest.tree.file_analysis import EntityMapping, StringLiteral
from groundwire_ingest.tree.folders import path_in
from groundwire_ingest.tree.framework_facts import EntityUse, TableChange
from groundwire_ingest.tree.literals import literal_edges
from groundwire_ingest.tree.sql.catalog import SqlCatalog, unique_edges
from groundwire_ingest.tree.sql.definitions import ObjectType
from groundwire_ingest.tree.sql.object_names import Relation, parse_name
from groundwire_ingest.tree.sql.objects import ONE_OF_SEVERAL_CONFIDENCE, SqlObject
from groundwire_ingest.tree.sql.standing import standing

CREATED = 0.9
CHANGED = 0.7
MAX_CHANGES = 16
"""With more changes of a table than this, only those that create it get edges."""
MAX_TABLES = 3
"""An entity that maps to more tables than this leads to none of them in particular."""
ALTERED = 0.8
"""A step of a migration in code names the table of an SQL file."""
_UNDOES = re.compile(r"[.#](?:Down|down|downgrade|[Dd]own(?=[A-Z_\d])\w*)(?:~\d+)?(?:@\d+)?$")


def entity_edges(catalog: SqlCatalog, mappings: Iterable[EntityMapping]) -> tuple[SourceEdge, ...]:
    """MapsTo edges from entities to the tables or views of `catalog` that they map to.

    Confidence is the mapping's, lowered to that of the name's resolution. A table that no SQL file defines
    makes no edge.
    """
    return unique_edges(edge for mapping in mappings for edge in _mapping_edges(catalog, mapping))


def entity_use_edges(
    catalog: SqlCatalog, mappings: Iterable[EntityMapping], uses: Iterable[EntityUse]
) -> Iterator[SourceEdge]:
    """ReadsFrom and WritesTo edges from code to the tables or views of `catalog` that the entities it uses map to.

    The surest mapping of an entity counts. Confidence is that of the use, lowered to those of the mapping and of the
    name's resolution, and ONE_OF_SEVERAL_CONFIDENCE where an entity maps to several tables.
    """
    tables: defaultdict[str, list[EntityMapping]] = defaultdict(list)
    for mapping in mappings:
        tables[mapping.from_key].append(mapping)
    for use in uses:
        known = tables.get(use.entity_key, [])
        most = max((mapping.confidence for mapping in known), default=0.0)
        surest = sorted({mapping.table for mapping in known if mapping.confidence == most})
        confidence = min(use.confidence, most if len(surest) == 1 else ONE_OF_SEVERAL_CONFIDENCE)
        relation = Relation.WRITES if use.writes else Relation.READS
        for table in surest if len(surest) <= MAX_TABLES else ():
            name = parse_name(table)
            if name is not None:
                literal = StringLiteral(use.from_key, table, use.line)
                yield from literal_edges(catalog, literal, [(relation, name, confidence)])


def _mapping_edges(catalog: SqlCatalog, mapping: EntityMapping) -> Iterator[SourceEdge]:
    name = parse_name(mapping.table)
    table = None if name is None else catalog.find(name, frozenset({ObjectType.TABLE, ObjectType.VIEW}))
    if table is not None:
        key = mapping.from_key
        yield from table.edges(path_in(key), key, "MapsTo", key, mapping.confidence)


def shared_entity_uses(
    catalog: SqlCatalog, mappings: Iterable[EntityMapping], demand_of_node: Callable[[str], NodeAccess]
) -> Iterator[TableUse]:
    """The tables that entities map to and the tree does not define, for other trees.

    `demand_of_node` returns the access rules of a node by its key.
    """
    for mapping in mappings:
        name = parse_name(mapping.table)
        place = (demand_of_node(mapping.from_key), mapping.from_key, 0)
        use = None if name is None else catalog.shared_use(name, Relation.READS, place, mapping.confidence)
        if use is not None:
            yield replace(use, edge_type="MapsTo")


def migration_edges(files: Iterable[CodeFacts], mappings: Iterable[EntityMapping]) -> Iterator[SourceEdge]:
    """MapsTo edges from what maps to a table to the nodes that create or change a table of that name.

    Names are compared without case, quotes and schema. If several projects of a tree have a table of the
    name, only the nearest changes count, which share the most folders with the entity.
    """
    changes: defaultdict[str, list[tuple[str, TableChange]]] = defaultdict(list)
    for facts in files:
        for change in facts.table_changes:
            changes[_plain(change.table)].append((facts.path, change))
    for of_table in changes.values():
        of_table.sort(key=itemgetter(0))
    for mapping in mappings:
        near = nearest(path_in(mapping.from_key), changes.get(_plain(mapping.table), []), itemgetter(0))
        created = (item for item in near if item[1].creates)
        for path, change in near if len(near) <= MAX_CHANGES else islice(created, MAX_CHANGES):
            confidence = min(mapping.confidence, CREATED if change.creates else CHANGED)
            yield SourceEdge(mapping.from_key, change.from_key, "MapsTo", f"{path}:{change.line}", confidence, 0)


def define_created_tables(files: Iterable[CodeFacts], catalog: SqlCatalog) -> None:
    """Makes the tables known to `catalog` that no SQL file defines and that migrations in Go create with SQL.

    The node of the function that creates a table stands for it.
    """
    for facts in sorted(files, key=attrgetter("path")):
        for change in facts.table_changes if facts.language == "go" and not facts.is_test else ():
            name = parse_name(change.table) if change.creates and not _UNDOES.search(change.from_key) else None
            if name is not None:
                place = standing(facts.path, name.folded[1])
                origin = f"{facts.path}:{change.line}"
                table = SqlObject(change.from_key, ObjectType.TABLE, "", True, place, origin)
                catalog.define_in_code(name, table)


def altering_edges(files: Iterable[CodeFacts], catalog: SqlCatalog) -> Iterator[SourceEdge]:
    """Alters edges from the steps of migrations to the tables of SQL files, those that undo a step aside."""
    for facts in files:
        for change in facts.table_changes:
            name = None if _UNDOES.search(change.from_key) else parse_name(change.table)
            table = None if name is None else catalog.find(name, frozenset({ObjectType.TABLE}))
            if table is not None:
                origin = f"{facts.path}:{change.line}"
                yield from table.edges(facts.path, change.from_key, Relation.ALTERS.value, origin, ALTERED)


def _plain(table: str) -> str:
    return table.replace("[", "").replace("]", "").replace('"', "").rpartition(".")[2].lower()
