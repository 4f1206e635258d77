"""Edges from entities to the migrations that create and change their tables."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from groundwire_server.ingest.records import SourceEdge
from groundwire_server.ingest.tree.facts import CodeFacts, TableChange
from groundwire_server.ingest.tree.model import EntityMapping

CREATED = 0.9
CHANGED = 0.7
MAX_CHANGES = 16
"""Of more changes to a table than this, only those that create it are told."""


def migration_edges(files: Iterable[CodeFacts], mappings: Iterable[EntityMapping]) -> Iterator[SourceEdge]:
    """MapsTo edges from what maps to a table to the nodes that create or change a table of that name.

    Names are compared without case, quotes and schema. Where several projects of a tree have a table of the name, the
    changes count whose paths share the most folders with the entity's.
    """
    changes: defaultdict[str, list[tuple[str, TableChange]]] = defaultdict(list)
    for facts in files:
        for change in facts.table_changes:
            changes[_plain(change.table)].append((facts.path, change))
    for mapping in mappings:
        near = _nearest(mapping.from_key, changes.get(_plain(mapping.table), []))
        created = [item for item in near if item[1].creates]
        for path, change in near if len(near) <= MAX_CHANGES else created[:MAX_CHANGES]:
            confidence = min(mapping.confidence, CREATED if change.creates else CHANGED)
            yield SourceEdge(mapping.from_key, change.from_key, "MapsTo", f"{path}:{change.line}", confidence, 0)


def _plain(table: str) -> str:
    return table.replace("[", "").replace("]", "").replace('"', "").rpartition(".")[2].lower()


def _nearest(key: str, found: list[tuple[str, TableChange]]) -> list[tuple[str, TableChange]]:
    if not found:
        return []
    folders = key.partition("::")[2].partition("#")[0].split("/")[:-1]
    shared = [_common(folders, path.split("/")[:-1]) for path, _ in found]
    return [item for item, length in zip(found, shared, strict=True) if length == max(shared)]


def _common(left: list[str], right: list[str]) -> int:
    return next((at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
