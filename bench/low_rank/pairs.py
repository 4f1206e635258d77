"""Pairs of a sentence and the code that it describes."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from bench.low_rank.declarations import LANGUAGES, documented_declarations
from bench.quality.functions import documented_functions

LARGEST_FILE = 200_000
"""In bytes; larger files are generated, or data."""
_LEFT_OUT = re.compile(
    r"(^|/)(tests?|testing|testdata|__tests__|spec|_?vendor|third_party|node_modules|examples?|benchmarks?|migrations)/"
    r"|(^|/)test_[^/]*$|_test\.\w+$|[.-](test|spec|d|g|pb|designer)\.\w+$|_pb2?\w*\.\w+$|Tests?\.\w+$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Pair:
    """A sentence, and the code that it documents: qualified name, head of its type, and undocumented lines.

    `context` is empty outside of types, and in Python.
    """

    package: str
    path: str
    symbol: str
    context: str
    sentence: str
    text: str

    @property
    def id(self) -> str:
        """The id of the code; overloads and redefinitions share it."""
        return f"{self.package}/{self.path}#{self.symbol}"


def is_wanted(path: str) -> bool:
    """Whether a file is source code in a supported language, and neither a test nor generated."""
    return PurePosixPath(path).suffix in {".py", *LANGUAGES} and not _LEFT_OUT.search(path)


def pairs_of(package: str, path: str, source: bytes) -> Iterator[Pair]:
    """The pairs of a file, by line; none if it cannot be parsed as its suffix says."""
    if len(source) > LARGEST_FILE:
        return
    if path.endswith(".py"):
        for sentence, symbol, text in described_functions(source.decode(errors="replace")):
            yield Pair(package, path, symbol, "", sentence, text)
    else:
        for found in documented_declarations(source, LANGUAGES[PurePosixPath(path).suffix]):
            yield Pair(package, path, found.symbol, found.context, found.sentence, found.text)


def described_functions(source: str) -> list[tuple[str, str, str]]:
    """Sentence, qualified name and text of the documented functions; none if the source is not Python."""
    try:
        return [(one.sentence, one.name, one.text) for one in documented_functions(source)]
    except (SyntaxError, ValueError):
        return []


def distinct(pairs: Iterable[Pair], seen: set[str]) -> Iterator[Pair]:
    """The pairs whose sentence and text are not among the `seen` keys; adds their keys to `seen`."""
    for pair in pairs:
        keys = {key(pair.sentence), key(pair.text)}
        if seen.isdisjoint(keys):
            yield pair
        seen |= keys


def key(text: str) -> str:
    """A key that is equal for texts that differ only in white space and case."""
    return " ".join(text.split()).casefold()
