"""Tables and views that the SQL of one repository names and another one defines."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from groundwire_index.repository_edges.confidences import EXACT, WILDCARD

ANY_SCHEMA = "*"
"""The schema of a name whose schema is not known."""
NAMED_DEFAULTS = frozenset({"dbo", "public"})
"""The schemas that database systems look into where none is stated."""


@dataclass(frozen=True, slots=True)
class OfferedTable:
    """A table or view by its folded name and schema, "" where none is known; `object_type` says which of them it is.

    `has_no_schema` is set if its database system has none, so that a qualifier names the database.
    """

    name: str
    schema: str
    object_type: str
    key: str
    has_no_schema: bool = False


@dataclass(frozen=True, slots=True)
class TableUse:
    """The node `key` names a table that its own repository does not define; names are folded.

    `schema` is "" where none is stated; the table is then first looked for in `home_schema`, unless that is None.
    `is_foreign`: the name states a database as well. `object_types` are those that the statement admits.
    `answered_by` are as in `NameUse`.
    """

    name: str
    schema: str
    object_types: tuple[str, ...]
    key: str
    edge_type: str
    line: int
    confidence: float
    home_schema: str | None = None
    is_foreign: bool = False
    answered_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TableIn:
    """A table, the place of its index among those asked, and the repository of that."""

    index: int
    repository: str
    table: OfferedTable


class TableMatching:
    """Finds tables by name; a name of which several repositories have a table leads to none."""

    def __init__(self, tables: Iterable[TableIn]) -> None:
        self._by_name: defaultdict[str, list[TableIn]] = defaultdict(list)
        for item in tables:
            self._by_name[item.table.name].append(item)

    def tables(self, index: int, repository: str, use: TableUse) -> Iterator[tuple[TableIn, float]]:
        """The definitions of the table that a statement means, and the confidence."""
        named = [item for item in self._by_name.get(use.name, ()) if item.table.object_type in use.object_types]
        others = [item for item in named if item.repository != repository]
        if any(item.index == index for item in named) or len({item.repository for item in others}) != 1:
            return
        meant, confidence = _meant(others, use)
        if len({item.table.schema for item in meant}) == 1:
            yield from ((item, min(confidence, use.confidence)) for item in meant)


def _meant(tables: Sequence[TableIn], use: TableUse) -> tuple[Sequence[TableIn], float]:
    """The tables in the schema that a name means, as `ObjectIndex.find` has it, and how sure that is."""
    if use.schema == ANY_SCHEMA:
        return tables, WILDCARD
    searched: list[frozenset[str | None]] = [frozenset({use.home_schema}), NAMED_DEFAULTS, frozenset({""})]
    stated = WILDCARD if use.is_foreign else EXACT
    if use.schema:
        is_default = use.schema in NAMED_DEFAULTS
        searched = [frozenset({use.schema}), frozenset({""} if is_default else {use.schema})]
    for schemas in searched:
        candidates = [item for item in tables if item.table.schema in schemas]
        if candidates:
            return candidates, stated
    if use.schema:
        tables = [item for item in tables if item.table.has_no_schema and not item.table.schema]
    return tables, WILDCARD
