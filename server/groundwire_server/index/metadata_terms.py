"""Which rows have which metadata: postings of the scalar values under top-level keys, those in lists included."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_server.domain.nodes import JsonValue
from groundwire_server.domain.search import MetadataScalar
from groundwire_server.index.postings import Postings, PostingsWriter

_NAME = "metadata_terms"


def write_metadata_terms(directory: Path, metadata: Iterable[Mapping[str, JsonValue]]) -> None:
    """Writes the terms of every row's metadata, in row order."""
    postings = PostingsWriter()
    for row, values in enumerate(metadata):
        terms = {_term(key, scalar) for key, value in values.items() for scalar in _scalars(value)}
        for term in sorted(terms):
            postings.add(term, row)
    postings.write(directory, _NAME)


class MetadataTerms:
    """The mapped metadata terms of an index."""

    def __init__(self, directory: Path) -> None:
        """Maps the terms. Raises IndexDamagedError."""
        self._postings = Postings(directory, _NAME)

    def rows_with(self, key: str, value: MetadataScalar) -> NDArray[np.int32]:
        """The rows, ascending, whose metadata has `key` with this value or a list that holds it.

        1 and 1.0 are equal, 1 and true are not.
        """
        return self._postings.rows_with(_term(key, value))


def _scalars(value: JsonValue) -> list[MetadataScalar]:
    elements = value if isinstance(value, list) else [value]
    return [element for element in elements if not isinstance(element, list | dict)]


def _term(key: str, value: MetadataScalar) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    # JSON escapes control characters, so only what joins the two is NUL; and its numbers and words differ in form.
    return f"{json.dumps(key)}\0{json.dumps(value)}"
