"""Ranking: changes of a candidate's score by its file, its kind of text, its neighbours, and repetition.

A question about a repository is answered by a place in it. The words of the question are in the whole file rather than
in the member that answers. Tests, prose and fragments repeat the words of their subject. The answer is joined with
other things that match. A file that matches has many members that match. A longer declaration answers more,
and the member with the words of the question answers for its file. Each is one rule with one parameter.
"""

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from groundwire_index.nodes.purposes import PURPOSES, Purpose
from groundwire_server.domain.query.ranking_parameters import FRAGMENT_FACTOR, WITHIN_FILE_FACTOR
from groundwire_server.domain.search.candidates import NO_FILE, Floats, NodeColumns, Positions

FRAGMENT_CHARS = 80
"""A text of fewer characters is a fragment."""
SHORT_CHARS, LONG_CHARS = 150, 6_000
"""Between these lengths a longer text counts more."""


def purpose_factors(columns: NodeColumns, wanted: Collection[Purpose]) -> Floats:
    """For each candidate [n] the factor of its purpose, 1 for one that the question asks for."""
    by_purpose = np.asarray(
        [1.0 if Purpose(number) in wanted else row.factor for number, row in enumerate(PURPOSES)], dtype=np.float64
    )
    return by_purpose.take(columns.purposes)


def fragment_factors(char_counts: NDArray[np.integer]) -> Floats:
    """FRAGMENT_FACTOR for each text [n] that is a fragment, else 1."""
    return np.where(char_counts < FRAGMENT_CHARS, FRAGMENT_FACTOR, 1.0)


def is_data(columns: NodeColumns) -> NDArray[np.bool_]:
    """True for each candidate [n] whose file repeats one form: neither its length nor its parts say anything."""
    return np.asarray([row.is_data for row in PURPOSES], dtype=np.bool_).take(columns.purposes)


def length_factors(char_counts: NDArray[np.integer]) -> Floats:
    """The eighth root of each length [n] as a multiple of SHORT_CHARS: from 1 to 1.59."""
    lengths = np.clip(char_counts, SHORT_CHARS, LONG_CHARS) / SHORT_CHARS
    # Three square roots, because a power may differ in its last bit between processors.
    factors: Floats = np.sqrt(np.sqrt(np.sqrt(lengths)))
    return factors


def within_file_factors(scores: Floats, files: NDArray[np.integer]) -> Floats:
    """From WITHIN_FILE_FACTOR for a score of 0 to 1 for the best of a candidate's file; 1 where that is 0, or no file.

    `scores` [n] are at least 0, `files` [n] as in NodeColumns.
    """
    distinct, places = np.unique(files, return_inverse=True)
    best = np.zeros(len(distinct))
    np.maximum.at(best, places, scores)
    best = best[places]
    comparable = (best > 0.0) & (files != NO_FILE)
    shares = np.divide(scores, best, out=np.ones(len(scores)), where=comparable)
    return WITHIN_FILE_FACTOR + (1.0 - WITHIN_FILE_FACTOR) * shares


def file_shares(scores: Floats, is_alone: NDArray[np.bool_]) -> Floats:
    """The scores of candidates' files [n], at least 0 or NaN for none, as shares of the highest.

    A file of one node counts by that node's own words, as a file of several does by all of its words. Where every file
    has one node, none counts: the words would only count twice.
    """
    if not (~is_alone & (scores > 0.0)).any():
        return np.zeros(len(scores))
    return shares_of_best(np.nan_to_num(scores))


def shares_of_best(scores: Floats) -> Floats:
    """Scores of at least 0 as shares of the highest; all 0 when that is 0."""
    highest = scores.max(initial=0.0)
    return scores / highest if highest > 0.0 else np.zeros(len(scores))


def spread_out(scores: Floats, files: NDArray[np.integer], factor: float, count: int) -> tuple[Positions, Floats]:
    """The places of the best `count` items, each with `factor` to the power of the better items of its file.

    Scores are at least 0, best first, and count as multiplied by that. Equal ones keep their order. NO_FILE is no file.
    """
    better = _better_of_file(files)
    # Python's powers, since those of NumPy may differ in the last bit between processors.
    factors = np.asarray([factor**power for power in range(int(better.max(initial=0)) + 1)]).take(better)
    places = np.argsort(-(scores * factors), kind="stable")[:count]
    return places, factors.take(places)


def _better_of_file(files: NDArray[np.integer]) -> Positions:
    """For each item [n] how many items before it are of its file; 0 for no file."""
    by_file = np.argsort(files, kind="stable")
    sorted_files = files.take(by_file)
    better = np.empty(len(files), dtype=np.int64)
    better[by_file] = np.arange(len(files)) - np.searchsorted(sorted_files, sorted_files)
    better[files == NO_FILE] = 0
    return better
