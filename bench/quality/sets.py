"""A corpus and its judged queries: read, checked, and written as Groundwire's JSONL.

`corpus.jsonl` holds `{"id": ..., "text": ...}` and any other field of a node (`docs/jsonl.md`), `queries.jsonl` holds
`{"query": ..., "relevant": [ids]}`, one object a line. A query may name `parts` of the set that it belongs to, which
are reported separately, and have a `vector` if the documents have.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

KIND = "doc"
"""The kind of documents without one."""


class SetError(Exception):
    """A file breaks a rule of its format; names the line and the rule."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document's id, and its other fields as in the file."""

    id: str
    fields: Mapping[str, object]

    @property
    def kind(self) -> str:
        """The node's kind."""
        return str(self.fields.get("kind", KIND))

    @property
    def symbol(self) -> str:
        """The qualified name; empty when it has none."""
        return str(self.fields.get("symbol", ""))


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """A query, the ids that are relevant to it, the parts of the set that it is in, and its vector if it has one."""

    query: str
    relevant: tuple[str, ...]
    parts: tuple[str, ...] = ()
    vector: tuple[float, ...] = ()


def read_corpus(path: Path) -> list[Document]:
    """The documents in the order of the file. Raises SetError."""
    documents = [
        Document(_text(line, "id", place), {name: value for name, value in line.items() if name != "id"})
        for place, line in _lines(path)
    ]
    if len({document.id for document in documents}) < len(documents):
        raise SetError(f"{path}: an id stands twice: ids must be distinct")
    if not documents:
        raise SetError(f"{path}: holds no document")
    return documents


def read_queries(path: Path, corpus: Sequence[Document]) -> list[JudgedQuery]:
    """The queries in the order of the file; the corpus has all of their relevant ids. Raises SetError."""
    known = {document.id for document in corpus}
    queries = []
    for place, line in _lines(path):
        query = JudgedQuery(
            query=_text(line, "query", place),
            relevant=tuple(map(str, _list(line, "relevant", place))),
            parts=tuple(map(str, _list(line, "parts", place))),
            vector=_numbers(line, "vector", place),
        )
        unknown = sorted(set(query.relevant) - known)
        if not query.relevant or unknown:
            raise SetError(f"{place}: 'relevant' is {list(query.relevant)}: must name documents of the corpus")
        queries.append(query)
    if not queries:
        raise SetError(f"{path}: holds no query")
    return queries


def write_queries(path: Path, queries: Iterable[JudgedQuery]) -> None:
    """Writes queries as `read_queries` reads them."""
    write_lines(path, ({"query": one.query, "relevant": one.relevant, "parts": one.parts} for one in queries))


def write_nodes(path: Path, corpus: Iterable[Document]) -> None:
    """Writes a corpus as Groundwire's JSONL; a document's id becomes the node's `local_id`."""
    write_lines(
        path,
        ({"type": "node", "kind": document.kind, "local_id": document.id, **document.fields} for document in corpus),
    )


def write_lines(path: Path, lines: Iterable[Mapping[str, object]]) -> None:
    """Writes one JSON object per line, in UTF-8."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _lines(path: Path) -> Iterator[tuple[str, dict[str, object]]]:
    with path.open(encoding="utf-8") as file:
        for number, text in enumerate(file, start=1):
            place = f"{path}:{number}"
            try:
                line = json.loads(text)
            except ValueError as error:
                raise SetError(f"{place}: is no JSON ({error}): write one object a line") from None
            if not isinstance(line, dict):
                raise SetError(f"{place}: is no JSON object: write one object a line")
            yield place, line


def _text(line: Mapping[str, object], name: str, place: str) -> str:
    value = line.get(name)
    if not isinstance(value, str) or not value.strip():
        raise SetError(f"{place}: {name!r} is {value!r}: must be a string that is not blank")
    return value


def _list(line: Mapping[str, object], name: str, place: str) -> list[object]:
    value = line.get(name, [])
    if not isinstance(value, list):
        raise SetError(f"{place}: {name!r} is {value!r}: must be a list")
    return value


def _numbers(line: Mapping[str, object], name: str, place: str) -> tuple[float, ...]:
    values = _list(line, name, place)
    numbers = tuple(float(value) for value in values if isinstance(value, int | float))
    if len(numbers) < len(values):
        raise SetError(f"{place}: {name!r} is {values!r}: must be numbers")
    return numbers
