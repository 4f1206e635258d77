"""The tables of a set: questions with the places that answer them, relations between places, subjects of commits."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

_PLACES, _ALTERNATIVES, _SYMBOL = ";", "|", "#"


class TableError(Exception):
    """A table breaks a rule; the message says where, and what to write."""


@dataclass(frozen=True, slots=True)
class Place:
    """A declaration in the file whose path ends with `path`, or the file itself where `symbol` is empty."""

    path: str
    symbol: str


Alternatives = tuple[Place, ...]
"""Alternative places, at least one; each of them counts."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the places of its answer, the primary one first, and the question in the words of code."""

    text: str
    places: tuple[Alternatives, ...]
    phrasings: tuple[str, ...] = ()

    @property
    def primary(self) -> Alternatives:
        """The most important place."""
        return self.places[0]


@dataclass(frozen=True, slots=True)
class Relation:
    """A true relation from one place to another that a reader would follow, and its kind in words."""

    start: Alternatives
    end: Alternatives
    kind: str


@dataclass(frozen=True, slots=True)
class Change:
    """A commit: the prose of its subject, and the sources that it touched, at least one."""

    text: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Revision:
    """The origin of a set's sources, and the paths that it keeps, as git pathspecs."""

    repository: str
    commit: str
    licence: str
    pathspecs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tables:
    """All tables of a set; one that it does not have is empty."""

    questions: Sequence[Question]
    relations: Sequence[Relation]
    changes: Sequence[Change]


def read_tables(folder: Path) -> Tables:
    """The tables of a set, at least one. Raises OSError, TableError."""
    questions, relations, changes = (folder / f"{name}.tsv" for name in ("questions", "relations", "commits"))
    if not any(path.exists() for path in (questions, relations, changes)):
        raise TableError(f"{folder}: no questions.tsv, relations.tsv or commits.tsv: a set needs one of them or more")
    read_set = read_questions(questions) if questions.exists() else []
    phrasings = folder / "phrasings.tsv"
    return Tables(
        with_phrasings(read_set, phrasings) if phrasings.exists() else read_set,
        read_relations(relations) if relations.exists() else [],
        read_changes(changes) if changes.exists() else [],
    )


def read_revision(path: Path) -> Revision:
    """`repository commit licence`, and pathspecs below, one a line. Raises OSError, TableError."""
    first, *pathspecs = path.read_text(encoding="utf-8").splitlines() or [""]
    try:
        repository, commit, licence = first.split()
    except ValueError:
        raise TableError(f"{path}:1: {first!r}: write repository, commit and licence with blanks between") from None
    return Revision(repository, commit, licence, tuple(filter(None, map(str.strip, pathspecs))) or (".",))


def read_changes(path: Path) -> list[Change]:
    """The lines `number, subject, files` of a table. Raises TableError."""
    changes = []
    for line, (_, text, files) in _rows(path, ("number", "subject", "files")):
        paths = tuple(filter(None, map(str.strip, files.split(_PLACES))))
        if not paths:
            raise TableError(f"{line}: no file: a subject needs one file or more")
        changes.append(Change(text, paths))
    return changes


def fits_table(path: str) -> bool:
    """True if a table can hold the path of a file: it has no character that ends a path, a cell or a line."""
    return path == path.strip() and not {_PLACES, "\t"} & set(path) and len(path.splitlines()) == 1


def write_changes(path: Path, changes: Sequence[Change]) -> None:
    """Writes a table that `read_changes` reads; each path must fit. Raises OSError."""
    rows = (
        f"{number}\t{change.text}\t{_PLACES.join(change.paths)}\n" for number, change in enumerate(changes, start=1)
    )
    path.write_text("".join(rows), encoding="utf-8")


def read_questions(path: Path) -> list[Question]:
    """The lines `number, question, places` of a table. Raises TableError."""
    questions = []
    for line, (_, text, places) in _rows(path, ("number", "question", "places")):
        answers = tuple(read_alternatives(place, line) for place in places.split(_PLACES) if place.strip())
        if not answers:
            raise TableError(f"{line}: no place: a question needs one place or more")
        questions.append(Question(text, answers))
    return questions


def with_phrasings(questions: Sequence[Question], path: Path) -> list[Question]:
    """The questions with the phrasings of a table, whose lines are `number, terms, identifiers, other words`.

    The first two are used. Raises TableError.
    """
    columns = ("number", "terms", "identifiers", "other words")
    rows = [(terms, names) for _, (_, terms, names, _) in _rows(path, columns)]
    if len(rows) != len(questions):
        raise TableError(f"{path}: {len(rows)} lines for {len(questions)} questions: write one for each, in order")
    return [replace(question, phrasings=row) for question, row in zip(questions, rows, strict=True)]


def read_relations(path: Path) -> list[Relation]:
    """The lines `from, to, kind, how` of a table. Raises TableError."""
    return [
        Relation(read_alternatives(start, line), read_alternatives(end, line), kind)
        for line, (start, end, kind, _) in _rows(path, ("from", "to", "kind", "how"))
    ]


def read_alternatives(text: str, line: str) -> Alternatives:
    """`path#symbol`, or several with `|` between; `line` says where the text stands. Raises TableError."""
    places = []
    for alternative in text.split(_ALTERNATIVES):
        path, sign, symbol = alternative.strip().partition(_SYMBOL)
        if not path or not sign:
            raise TableError(f"{line}: {alternative!r} is no place: write path#symbol, or path# for the file")
        places.append(Place(path, symbol))
    return tuple(places)


def _rows(path: Path, columns: tuple[str, ...]) -> Iterator[tuple[str, list[str]]]:
    """Where each line stands, and its cells; lines that are blank are left out."""
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        rows = [(f"{path}:{reader.line_num}", cells) for cells in reader if any(map(str.strip, cells))]
    if not rows:
        raise TableError(f"{path}: is empty: write one line or more")
    for line, cells in rows:
        if len(cells) != len(columns):
            raise TableError(f"{line}: {len(cells)} columns: write {', '.join(columns)} with tabs between")
        yield line, cells
