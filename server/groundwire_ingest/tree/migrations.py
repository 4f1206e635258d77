"""Edges from entities to the migrations that create and change their tables."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from operator import itemgetter

from groundwire_ingest.records import SourceEdge
from groundwire_ingest.tree.facts import CodeFacts, TableChange
from groundwire_ingest.tree.folders import nearest, path_in
from groundwire_ingest.tree.model import EntityMapping

CREATED = 0.9
CHANGED = 0.7
MAX_CHANGES = 16
"""With more changes of a table than this, only those that create it get edges."""


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


def _plain(table: str) -> str:
    return table.replace("[", "").replace("]", "").replace('"', "").rpartition(".")[2].lower()
