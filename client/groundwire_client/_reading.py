"""The result of `read`: the lines and texts that names mean, as many as fit a budget, and the names that mean none."""

from collections.abc import Iterator
from dataclasses import dataclass

from groundwire.printable_text import one_line
from groundwire.v1.scope_pb2 import IndexScope
from groundwire_client._source_lines import Run


@dataclass(frozen=True, slots=True)
class ReadText:
    """What is shown for a name.

    Attributes:
        id: The node's canonical id; empty for lines of a file.
        citation: Path and lines, such as `src/a.py:10-40`; the id in place of a path that is unknown.
        symbol: The node's name beside its path; empty for lines of a file.
        repository: Its repository and branch if several were asked; else empty.
        runs: The shown lines, in order. A run without lines stands for lines that are in no text.
        remarks: What a reader must know of them, such as `outline`.
        rest: What is left out for lack of budget, and how to get it; empty for none.
    """

    id: str
    citation: str
    symbol: str
    repository: str
    runs: tuple[Run, ...]
    remarks: tuple[str, ...] = ()
    rest: str = ""

    @property
    def heading(self) -> str:
        """The line above the text. It is one line, even if a path or a symbol has a line break."""
        remarks = f"({'; '.join(self.remarks)})" if self.remarks else ""
        return one_line(" ".join(filter(None, (self.repository, self.citation, self.symbol, remarks))))

    @property
    def text(self) -> str:
        """The shown lines."""
        return "\n".join(line for run in self.runs for line in run.lines)

    def rows(self) -> Iterator[str]:
        """The lines below the heading, each with its number, `…` or a blank at its beginning."""
        width = len(str(max((run.last for run in self.runs if run.is_numbered), default=0)))
        for run in self.runs:
            if not run.lines:
                yield f"…{_span(run)} in no text"
            elif run.first and not run.is_numbered:
                yield f"…{_span(run)}, blank lines left out:"
            yield from run.rows(width if run.is_numbered else 0)
        if self.rest:
            yield f"…{self.rest}"


@dataclass(frozen=True, slots=True)
class Unread:
    """A name without a text.

    Attributes:
        name: The name.
        reason: Why, with candidates below it.
        occurrences: Where its text stands, such as `src/a.py:3 x = 1`.
    """

    name: str
    reason: str
    occurrences: tuple[str, ...] = ()

    def rows(self) -> Iterator[str]:
        """The reason, and the places."""
        yield self.reason
        if self.occurrences:
            yield "Its text occurs at"
            yield from (f"  {line}" for line in self.occurrences)


@dataclass(frozen=True, slots=True)
class Reading:
    """The texts of names, in the order of the names.

    As a string it is `rendered`.

    Attributes:
        texts: What is shown.
        left_out: Places that do not fit the budget, and how to get them.
        unread: The names that mean no node, or several that differ.
        used: The tokens or characters of the texts.
        unit: `tokens` or `characters`.
        index: The index version that answered; empty for several scopes.
        scopes: The versions of several scopes that answered.
    """

    texts: tuple[ReadText, ...]
    left_out: tuple[str, ...]
    unread: tuple[Unread, ...]
    used: int
    unit: str
    index: str
    scopes: tuple[IndexScope, ...]

    def __str__(self) -> str:
        return self.rendered

    @property
    def rendered(self) -> str:
        """All of it as text for people and models, each line with its end."""
        return "".join(f"{row}\n" for row in (*self.text_rows(), *self.unread_rows()))

    def text_rows(self) -> Iterator[str]:
        """Each text below its heading, then the places that are left out."""
        for text in self.texts:
            yield text.heading
            yield from text.rows()
        yield from (f"left out: {place}" for place in self.left_out)

    def unread_rows(self) -> Iterator[str]:
        """The names without a text, and why."""
        for unread in self.unread:
            yield from unread.rows()


def _span(run: Run) -> str:
    return f"{run.first}-{run.last}" if run.last > run.first else str(run.first)
