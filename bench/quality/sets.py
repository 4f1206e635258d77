"""A corpus and its judged queries: read, checked, and written as Groundwire's JSONL.

`corpus.jsonl` holds `{"id": ..., "text": ...}` and any other field of a node (`docs/jsonl.md`), `queries.jsonl` holds
`{"query": ..., "relevant": [ids]}`, one object a line. A query may name `parts` of the set that it belongs to, which
are reported separately, and have a `vector` if the documents have.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

NotBlank: TypeAlias = Annotated[str, Field(pattern=r"\S")]
"""A string with a character that is not white space."""


class SetError(Exception):
    """A file breaks a rule of its format; names the line, the field, the value and the rule."""


class Document(BaseModel):
    """A document: its id, kind and qualified name, and its other fields as in the file."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True)
    id: NotBlank
    kind: str = "doc"
    symbol: str = ""


class JudgedQuery(BaseModel):
    """A query, the ids that are relevant to it, the parts of the set that it is in, and its vector if it has one."""

    model_config = ConfigDict(frozen=True, strict=True)
    query: NotBlank
    relevant: Annotated[tuple[str, ...], Field(min_length=1)]
    parts: tuple[str, ...] = ()
    vector: tuple[float, ...] = ()


Line = TypeVar("Line", Document, JudgedQuery)


def read_corpus(path: Path) -> list[Document]:
    """The documents in the order of the file. Raises SetError."""
    documents = _lines(path, Document)
    if len({document.id for document in documents}) < len(documents):
        raise SetError(f"{path}: an id stands twice: ids must be distinct")
    return documents


def read_queries(path: Path, corpus: Sequence[Document]) -> list[JudgedQuery]:
    """The queries in the order of the file; the corpus has all of their relevant ids. Raises SetError."""
    known = {document.id for document in corpus}
    queries = _lines(path, JudgedQuery)
    for number, query in enumerate(queries, start=1):
        if not known.issuperset(query.relevant):
            raise SetError(f"{path}:{number}: relevant is {query.relevant}: must name documents of the corpus")
    return queries


def write_queries(path: Path, queries: Iterable[JudgedQuery]) -> None:
    """Writes queries as `read_queries` reads them."""
    _write(path, (query.model_dump(exclude={"vector"}) for query in queries))


def write_nodes(path: Path, corpus: Iterable[Document]) -> None:
    """Writes a corpus as Groundwire's JSONL; a document's id becomes the node's `local_id`."""
    _write(
        path,
        (
            {
                "type": "node",
                "kind": corpus_node.kind,
                "local_id": corpus_node.id,
                **corpus_node.model_dump(exclude={"id"}, exclude_unset=True),
            }
            for corpus_node in corpus
        ),
    )


def _write(path: Path, lines: Iterable[Mapping[str, object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _lines(path: Path, model: type[Line]) -> list[Line]:
    records = []
    with path.open(encoding="utf-8") as file:
        for number, text in enumerate(file, start=1):
            try:
                records.append(model.model_validate_json(text))
            except ValidationError as error:
                first = error.errors()[0]
                field = ".".join(map(str, first["loc"]))
                raise SetError(f"{path}:{number}: {field} is {first['input']!r}: {first['msg']}") from None
    if not records:
        raise SetError(f"{path}: is empty: write one object a line")
    return records
