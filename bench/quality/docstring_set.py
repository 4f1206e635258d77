"""Builds a docstring -> function set from the sources of installed packages.

A document is a function without its docstring, a query the first sentence of a docstring; the function with that
docstring is the relevant document. The same versions of the same packages give the same set, byte for byte.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution
from pathlib import Path

from bench.quality.functions import DocumentedFunction, documented_functions
from bench.quality.sets import write_lines

DISTRIBUTIONS = tuple(
    """
    anyio attrs click cryptography fsspec grpcio huggingface_hub hypothesis Jinja2 joblib jsonschema mypy networkx numpy
    openai pydantic Pygments pytest requests rich scikit-learn scipy sentence-transformers setuptools sqlglot structlog
    sympy tqdm typer urllib3
    """.split()
)
"""Packages of the development environment, chosen to cover many authors and fields."""
DOCUMENTS, QUERIES = 10_000, 1_000

_TEST_FOLDERS = frozenset({"test", "tests", "testing"})


@dataclass(frozen=True, slots=True)
class Document:
    """A function and its file; the path is relative to the folder that the package is installed in."""

    path: str
    function: DocumentedFunction

    @property
    def id(self) -> str:
        """Path, qualified name and line, since a module may define a name twice."""
        return f"{self.path}#{self.function.name}:{self.function.start_line}"


def documents_of(package: Distribution) -> Iterator[Document]:
    """The documented functions in a package's sources, by path and line; its tests are left out."""
    for file in sorted(package.files or (), key=str):
        if file.suffix != ".py" or not _TEST_FOLDERS.isdisjoint(file.parts):
            continue
        try:
            functions = list(documented_functions(Path(str(file.locate())).read_text(encoding="utf-8")))
        except (SyntaxError, ValueError):
            # Templates, and sources for other versions of Python, which this version cannot parse.
            continue
        yield from (Document(file.as_posix(), function) for function in functions)


def distinct(documents: Iterable[Document]) -> list[Document]:
    """The documents whose text and sentence no earlier one has, ignoring white space and case."""
    seen: set[str] = set()
    kept = []
    for document in documents:
        keys = {_key("text", document.function.text), _key("sentence", document.function.sentence)}
        if seen.isdisjoint(keys):
            kept.append(document)
        seen |= keys
    return kept


def sample(documents: Sequence[Document], count: int, salt: str) -> list[Document]:
    """`count` documents, or all if there are fewer, chosen by a hash of their ids; sorted by id."""
    chosen = sorted(documents, key=lambda document: hashlib.sha256(f"{salt} {document.id}".encode()).digest())[:count]
    return sorted(chosen, key=lambda document: document.id)


def build_docstring_set(names: Sequence[str], documents: int, queries: int, folder: Path) -> None:
    """Writes `corpus.jsonl`, `queries.jsonl`, and `metadata.json` with the packages and their versions.

    `documents` and `queries` limit their numbers. Raises PackageNotFoundError.
    """
    packages = [distribution(name) for name in names]
    corpus = sample(
        distinct(document for package in packages for document in documents_of(package)), documents, "corpus"
    )
    asked = sample(corpus, queries, "queries")
    write_lines(folder / "corpus.jsonl", (_node(document) for document in corpus))
    write_lines(folder / "queries.jsonl", ({"query": one.function.sentence, "relevant": [one.id]} for one in asked))
    metadata = {
        "documents": len(corpus),
        "queries": len(asked),
        "distributions": {package.name: package.version for package in packages},
    }
    (folder / "metadata.json").write_text(json.dumps(metadata, indent=2) + "\n", encoding="utf-8")


def _node(document: Document) -> dict[str, object]:
    function = document.function
    return {
        "id": document.id,
        "text": function.text,
        "path": document.path,
        "symbol": function.name,
        "start_line": function.start_line,
        "end_line": function.end_line,
    }


def _key(part: str, text: str) -> str:
    return f"{part} {' '.join(text.split()).casefold()}"
