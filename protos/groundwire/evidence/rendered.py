"""Evidence as text, taken apart by its lines, so that a prompt can show evidence of several calls within one budget."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from groundwire.evidence import layout
from groundwire.evidence.counter import Counter

_ROW = re.compile(r"\[([1-9][0-9]{0,8})\](?= |$)")
_TEXT_STARTS = (" ", "…", *"0123456789")
"""How a line of a passage's text begins, unless it is empty."""
_MORE = "…and "


@dataclass(frozen=True, slots=True)
class RenderedPassage:
    """A passage as evidence writes it.

    Attributes:
        number: Its number.
        file: The line of its file.
        row: Its row.
        lines: The lines below its row.
    """

    number: int
    file: str
    row: str
    lines: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Rendered:
    """Evidence by its parts, in their order: lines before everything else, passages, and the lines of named nodes."""

    notes: Sequence[str] = ()
    passages: Sequence[RenderedPassage] = ()
    named: Sequence[str] = ()

    @property
    def places(self) -> str:
        """The evidence without its texts."""
        return _text(
            self.notes,
            [RenderedPassage(passage.number, passage.file, passage.row) for passage in self.passages],
            self.named,
        )


@dataclass(slots=True)
class _Reading:
    notes: list[str] = field(default_factory=list[str])
    passages: list[RenderedPassage] = field(default_factory=list[RenderedPassage])
    lines: list[str] = field(default_factory=list[str])
    """The lines of the last passage."""
    file: str = ""

    def begin(self, number: int, row: str) -> None:
        if not self.passages and self.notes:
            self.file = self.notes.pop()
        self.lines = []
        self.passages.append(RenderedPassage(number, self.file, row, self.lines))


def taken_apart(rendered: str) -> Rendered:
    """The parts of evidence. A text without passages is all notes, unless it begins with named nodes."""
    reading = _Reading()
    lines = rendered.removesuffix("\n").split("\n") if rendered else []
    for place, line in enumerate(lines):
        row = _ROW.match(line)
        if line == layout.NAMED_HEADING or line.startswith(_MORE):
            return Rendered(reading.notes, reading.passages, lines[place:])
        if row is not None:
            reading.begin(int(row[1]), line)
        elif not reading.passages:
            reading.notes.append(line)
        elif not line or line.startswith(_TEXT_STARTS):
            reading.lines.append(line)
        else:
            reading.file = line
    return Rendered(reading.notes, reading.passages)


def without(rendered: Rendered, numbers: Iterable[int]) -> Rendered:
    """The evidence without passages of some numbers."""
    left_out = frozenset(numbers)
    return Rendered(
        rendered.notes, [passage for passage in rendered.passages if passage.number not in left_out], rendered.named
    )


def within(rendered: Rendered, budget: int, counter: Counter) -> Rendered:
    """As much of the evidence as fits a budget in tokens: notes as far as they fit, then passages, then named nodes."""
    left = budget
    notes: list[str] = []
    for line in rendered.notes:
        left -= counter.count(f"{line}\n")
        if left < 0:
            return Rendered(notes)
        notes.append(line)
    passages: list[RenderedPassage] = []
    for passage in rendered.passages:
        cost = counter.count(_text((), [passage], ()))
        if cost <= left:
            left -= cost
            passages.append(passage)
    named = rendered.named if len(passages) == len(rendered.passages) else ()
    return Rendered(notes, passages, named if counter.count(_text((), (), named)) <= left else ())


def as_text(rendered: Rendered) -> str:
    """The text of evidence, with a line break at its end unless it is empty."""
    return _text(rendered.notes, rendered.passages, rendered.named)


def _text(notes: Iterable[str], passages: Iterable[RenderedPassage], named: Iterable[str]) -> str:
    lines = [*notes]
    file: str | None = None
    for passage in passages:
        if passage.file != file:
            lines.append(passage.file)
            file = passage.file
        lines += (passage.row, *passage.lines)
    lines += named
    return "".join(f"{line}\n" for line in lines)
