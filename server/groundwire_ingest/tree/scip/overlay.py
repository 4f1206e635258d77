"""A document of a SCIP index laid over the file of the tree that it describes."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from groundwire_ingest.records import SourceNode
from groundwire_ingest.tree.code_facts import CodeFacts, Definition
from groundwire_ingest.tree.scip.documents import Document
from groundwire_ingest.tree.scip.positions import Occurrence, SourceText, Span, innermost
from groundwire_ingest.tree.scip.symbols import CONSTRUCTOR_NAMES, is_module, plain_name
from groundwire_ingest.tree.walk import ListedFile

LEAST_FITTING_SHARE = 0.9
"""The share of an index's definitions in a file that must be at their places; less means that the file has changed."""


@dataclass(frozen=True, slots=True)
class TreeFile:
    """A file of code that has been read: `key` is the node of the file itself, `spans` are the rows of all its nodes.

    `abstract` are the nodes of types and members that must be implemented. `calls` are the lines on which a node calls
    a name, `uses` the lines and names of calls and references. `imports` are the names that the file imports,
    `import_lines` the lines on which its imports start. `names` has what each node is called where it is used,
    `declared` the declarations by line and name, `keys_by_symbol` the nodes of declarations by their symbols. Lines are
    1-based.
    """

    listed: ListedFile
    key: str
    spans: tuple[Span, ...]
    abstract: frozenset[str]
    calls: Mapping[tuple[str, str], frozenset[int]]
    uses: frozenset[tuple[int, str]]
    imports: frozenset[str]
    import_lines: frozenset[int]
    names: Mapping[str, str]
    declared: Mapping[tuple[int, str], Definition]
    keys_by_symbol: Mapping[str, str]
    is_test: bool

    @property
    def path(self) -> str:
        """The file's path in the tree."""
        return self.listed.path


@dataclass(frozen=True, slots=True)
class Overlay:
    """The content of an index about a file. `keys` has for each row the node around it.

    `definitions` and `references` are in the order of the file.
    """

    file: TreeFile
    document: Document
    text: SourceText
    keys: Sequence[str]
    definitions: Sequence[Occurrence]
    references: Sequence[Occurrence]


def spans_of(nodes: Iterable[SourceNode]) -> tuple[Span, ...]:
    """The rows of nodes."""
    return tuple(Span(node.start_line - 1, node.end_line - 1, node.key) for node in nodes)


def tree_file(listed: ListedFile, spans: tuple[Span, ...], facts: CodeFacts) -> TreeFile:
    """The facts about a file that are needed after it has been read."""
    # A node is what its first definition says; further ones are fields and the like that share it.
    first = {definition.key: definition for definition in reversed(facts.definitions)}
    calls: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    for call in facts.calls:
        calls[call.from_key, call.name].add(call.line)
    return TreeFile(
        listed=listed,
        key=facts.definitions[0].key,
        spans=spans,
        abstract=_abstract(facts.definitions),
        calls={place: frozenset(lines) for place, lines in calls.items()},
        uses=frozenset(_uses(facts)),
        import_lines=frozenset(item.line for item in facts.imports),
        imports=frozenset(name for item in facts.imports for name in (item.name, item.alias) if name),
        names={key: _name(definition, facts) for key, definition in first.items()},
        declared={(definition.line, definition.name): definition for definition in reversed(facts.definitions[1:])},
        keys_by_symbol={definition.symbol: key for key, definition in reversed(first.items())},
        is_test=facts.is_test,
    )


def overlay(document: Document, file: TreeFile, text: str) -> Overlay | None:
    """The document laid over the file's text; None when it was made from another version of the file.

    That is so when a place is outside of the text, or when less than LEAST_FITTING_SHARE of the definitions with a
    plain name have that name in the text. Those that do not are left out.
    """
    source = SourceText(text, document.unit)
    items = sorted(document.occurrences, key=lambda item: (item.row, item.start))
    if any(not 0 <= item.row < source.row_count for item in items):
        return None
    definitions = [item for item in items if item.is_definition]
    named = {(item.row, item.start) for item in definitions if plain_name(item.symbol) and item.start != item.end}
    fitting = {(item.row, item.start) for item in definitions if source.written(item) == plain_name(item.symbol)}
    misplaced = named - fitting
    if len(misplaced) > (1 - LEAST_FITTING_SHARE) * len(named):
        return None
    definitions = [item for item in definitions if (item.row, item.start) not in misplaced]
    return Overlay(
        file=file,
        document=document,
        text=source,
        keys=_keys(file, definitions, source.row_count),
        definitions=definitions,
        references=[item for item in items if not item.is_definition],
    )


def _keys(file: TreeFile, definitions: Sequence[Occurrence], row_count: int) -> Sequence[str]:
    """For each row the innermost node around it.

    Rows of a definition that are in no node's text belong to the node that holds its name.
    """
    inner_first = file.spans[::-1]
    held = innermost(inner_first, row_count, file.key)
    around = (
        Span(item.first_row, item.last_row, held[item.row])
        for item in definitions
        if item.first_row >= 0 and not is_module(item.symbol)
    )
    return innermost((*inner_first, *around), row_count, file.key)


def _uses(facts: CodeFacts) -> Iterator[tuple[int, str]]:
    for call in facts.calls:
        yield call.line, call.name
    for reference in facts.references:
        for name in reference.name.split("."):
            yield reference.line, name


def _abstract(definitions: Sequence[Definition]) -> frozenset[str]:
    """The nodes of interfaces, of abstract types and members, and of types with an abstract member."""
    abstract = [definition for definition in definitions if definition.is_abstract]
    owners = (definitions[member.parent] for member in abstract if member.parent > 0)
    return frozenset(definition.key for definition in (*abstract, *owners))


def _name(definition: Definition, facts: CodeFacts) -> str:
    parent = facts.definitions[definition.parent] if definition.parent >= 0 else definition
    return parent.name if definition.name in CONSTRUCTOR_NAMES else definition.name
