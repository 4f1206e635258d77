"""Which rows have which metadata: postings of the scalar values under top-level keys, those in lists included."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_index.lexical.postings import Postings
from groundwire_index.nodes.node import JsonValue, MetadataScalar

METADATA_TERMS = "metadata_terms"
"""The name of the terms in a segment and in an index."""
METADATA_FILES = tuple(
    f"{METADATA_TERMS}.{part}" for part in ("terms.utf8", "terms.offsets.bin", "starts.bin", "rows.bin")
)
"""Terms, and the rows that have each."""


class MetadataTerms:
    """The mapped metadata terms of an index."""

    def __init__(self, directory: Path) -> None:
        """Maps the terms. Raises IndexDamagedError."""
        self._postings = Postings(directory, METADATA_TERMS)

    def rows_with(self, key: str, value: MetadataScalar) -> NDArray[np.int32]:
        """The rows, ascending, whose metadata has `key` with this value or a list that holds it.

        1 and 1.0 are equal, 1 and true are not.
        """
        return self._postings.rows_with(metadata_term(key, value))

    def rows_with_prefix(self, key: str, prefix: str) -> NDArray[np.int32]:
        """The rows whose metadata has `key` with a string that starts so and is not empty, or a list that holds one.

        A row occurs once for each such string.
        """
        # JSON writes each character by itself, so without its closing quote a prefix begins what it is a prefix of.
        term_range = self._postings.terms.prefix_range(metadata_term(key, prefix).removesuffix('"'))
        empty = self._postings.terms.find(metadata_term(key, ""))
        if empty is None or empty not in term_range:
            return self._postings.rows_of(term_range)
        around = (range(term_range.start, empty), range(empty + 1, term_range.stop))
        return np.concatenate([self._postings.rows_of(positions) for positions in around])


def metadata_terms(metadata: Mapping[str, JsonValue]) -> set[str]:
    """The terms of a node's metadata."""
    return {metadata_term(key, scalar) for key, value in metadata.items() for scalar in _scalars(value)}


def metadata_term(key: str, value: MetadataScalar) -> str:
    """The term of a value under a key: equal for values that a filter takes for equal."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    # JSON escapes control characters, so only what joins the two is NUL; and its numbers and words differ in form.
    return f"{json.dumps(key)}\0{json.dumps(value)}"


def _scalars(value: JsonValue) -> list[MetadataScalar]:
    elements = value if isinstance(value, list) else [value]
    return [element for element in elements if not isinstance(element, list | dict)]
