"""The rows of an index, collected one after the other into segments."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from groundwire_index.files.segment import HeldSegment, Segment
from groundwire_index.lexical.lexical import LexicalRun
from groundwire_index.lexical.name_table import NAMES
from groundwire_index.lexical.term_runs import TermRun
from groundwire_index.nodes.categories import CategoryRun
from groundwire_index.nodes.metadata_terms import METADATA_TERMS, metadata_terms
from groundwire_index.nodes.node import Node
from groundwire_index.nodes.node_table import NodeColumns
from groundwire_index.nodes.policies import PolicyRun
from groundwire_index.text.trigram_names import node_names

ROWS_A_SEGMENT = 1 << 15
CHARACTERS_A_SEGMENT = 1 << 25
"""The limit of a segment, by the texts of its nodes; larger builds use the disk. Collecting it takes some 250 MB."""


class Rows:
    """Collects one row after the other, from `first_row` on, with its tokens for each of some lexical tables."""

    def __init__(self, first_row: int, lexical_tables: Iterable[str], most_rows: int = ROWS_A_SEGMENT) -> None:
        self._most_rows = most_rows
        self._first_row = first_row
        self._count = 0
        self._characters = 0
        self._columns, self._categories = NodeColumns(), CategoryRun()
        self._policies, self._names, self._metadata = PolicyRun(), TermRun(), TermRun()
        self._lexical = {name: LexicalRun(name) for name in lexical_tables}

    def add(self, node: Node, tokens: Mapping[str, Sequence[str]]) -> None:
        """Notes the next row; `tokens` are by the name of the lexical table."""
        self._columns.add(node)
        self._categories.add(node)
        self._policies.add(node.access)
        self._names.add(node_names(node.symbol, node.location.path))
        self._metadata.add(metadata_terms(node.metadata))
        for name, run in self._lexical.items():
            run.add(tokens[name])
        self._count += 1
        self._characters += len(node.text)

    @property
    def full(self) -> bool:
        """True if the rows are enough for a segment."""
        return self._count >= self._most_rows or self._characters >= CHARACTERS_A_SEGMENT

    def segment(self) -> HeldSegment:
        """The rows as a segment in memory."""
        parts = {**self._columns.parts(), **self._categories.parts(), **self._policies.parts()}
        parts |= {**self._names.parts(NAMES), **self._metadata.parts(METADATA_TERMS)}
        for run in self._lexical.values():
            parts |= run.parts()
        return HeldSegment(self._first_row, self._count, parts)


def segments_of(
    rows: Iterable[tuple[Node, Mapping[str, Sequence[str]]]],
    lexical_tables: Sequence[str],
    scratch: Path,
    rows_a_segment: int = ROWS_A_SEGMENT,
) -> Iterator[Segment]:
    """The segments of rows with their tokens, in order; all but the last wait in the folder `scratch`."""
    first_row = 0
    collected = Rows(first_row, lexical_tables, rows_a_segment)
    for count, (node, tokens) in enumerate(rows):
        if collected.full:
            yield collected.segment().spill(scratch / f"rows.{first_row}")
            first_row = count
            collected = Rows(first_row, lexical_tables, rows_a_segment)
        collected.add(node, tokens)
    yield collected.segment()
