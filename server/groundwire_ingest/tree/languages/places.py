"""Which declarations have lines of their own, and which lines those are."""

from collections.abc import Container, Iterator
from dataclasses import dataclass, field

from groundwire_ingest.tree.languages.nodes import end_row
from groundwire_ingest.tree.languages.outline import MAX_SYMBOL_CHARACTERS, Declared, ParsedFile
from groundwire_ingest.tree.languages.syntax import Syntax

MIN_MEMBER_LINES = 4
MIN_GIVEN_LINES = 6
"""The least lines of a function that is given to a call, such as a test case, for a place of its own."""
MIN_DATA_LINES = 10
"""The least lines of a type that has only fields, where types have their outlines with others."""
MIN_LOCAL_LINES = 10


@dataclass(slots=True, eq=False)
class Place:
    """The file (`declared` None) or a declaration that is a chunk; `inner` are the places within it, in order.

    Rows are 0-based and inclusive. `head_row` is the last row that holds the declaration's own name;
    `index` is the number of its definition. `is_short_variable`: it is a constant or variable of few lines.
    """

    declared: Declared | None
    index: int
    first_row: int
    head_row: int
    last_row: int
    inner: list["Place"] = field(default_factory=list)
    is_short_variable: bool = False

    def own_rows(self) -> Iterator[int]:
        """The rows that no inner place holds."""
        row = self.first_row
        for place in self.inner:
            yield from range(row, place.first_row)
            row = place.last_row + 1
        yield from range(row, self.last_row + 1)


def assign_places(parsed: ParsedFile, notices: Container[int]) -> tuple[Place, ...]:
    """The file's place and that of each declaration that a person would point to, outer before inner.

    Definition 0 is the file and definition i the i-th declaration, counted from 1.
    Types, functions and members with a body have a place, and so have the members of an interface. So has a constant
    or variable that is long, or that other files may use by its name. A field, a short
    property, a member that only keeps or hands out fields has none: it reads better inside its type. So does what is
    declared inside a callable, unless it is long and yet not the most part of it. Neither has a place what starts on a
    line of something else, or has a symbol longer than MAX_SYMBOL_CHARACTERS, which no node id could hold. A place
    starts below the rows of `notices` at its start.
    """
    file = Place(None, 0, 0, -1, len(parsed.lines) - 1)
    places = [file]
    home: dict[Declared, Place] = {}
    slight: set[Declared] = set()
    variables = [(item.node, item.shape.name) for item in parsed.declared if item.shape.construct == "value"]
    shared = parsed.syntax.shared_variables(parsed.root, variables)
    for index, item in enumerate(parsed.declared, 1):
        outer = home[item.parent] if item.parent else file
        free_row = (outer.inner[-1].last_row if outer.inner else outer.head_row) + 1
        row, last_row = item.node.start_point.row, end_row(item.node)
        is_slight = item.parent in slight or _is_slight(parsed.syntax, item, shared)
        if row < free_row or is_slight or len(item.symbol) > MAX_SYMBOL_CHARACTERS:
            home[item] = outer
            slight.add(item)
            continue
        name = item.node.child_by_field_name("name")
        first_row = max(item.first_row, free_row)
        while first_row in notices:
            first_row += 1
        place = Place(item, index, first_row, end_row(name) if name else row, last_row)
        place.is_short_variable = item.shape.construct == "value" and _rows(item) < MIN_MEMBER_LINES
        home[item] = place
        outer.inner.append(place)
        places.append(place)
    return tuple(places)


def _is_slight(syntax: Syntax, item: Declared, shared: frozenset[int]) -> bool:
    shape, parent = item.shape, item.parent
    rows = _rows(item)
    if item.node.type in syntax.given:
        return rows < MIN_GIVEN_LINES
    if parent is not None and item.is_local:
        return rows < MIN_LOCAL_LINES or 2 * rows > _rows(parent)
    is_short = rows < MIN_MEMBER_LINES
    if shape.construct == "value":
        return is_short and item.node.start_byte not in shared
    if shape.construct == "type" and item.node.type in syntax.data_types:
        return rows < MIN_DATA_LINES and not syntax.has_methods(item.node)
    if shape.construct == "type" and parent is not None:
        return rows < MIN_LOCAL_LINES and syntax.is_slight(item.node, shape)
    if shape.construct != "callable":
        return False
    is_abstract = parent is not None and (
        "abstract" in syntax.traits(item.node, parent.node) or "interface" in syntax.traits(parent.node, None)
    )
    if shape.body is None:
        return is_short and not is_abstract
    return parent is not None and not is_abstract and syntax.is_slight(item.node, shape)


def _rows(item: Declared) -> int:
    return end_row(item.node) - item.node.start_point.row + 1
