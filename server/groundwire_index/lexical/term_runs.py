"""Postings that do not fit in memory: sorted runs of them, which are merged into the postings of an index.

A run has the (term, row) pairs of one segment. Merging reads the vocabularies of all runs term by term and their pairs
in blocks. So memory holds one run while collecting, and the vocabularies of all runs and one block while merging.
"""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from itertools import accumulate, pairwise, repeat
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_index.files.durable_files import write_array
from groundwire_index.files.segment import Parts, Segment, bytes_part
from groundwire_index.files.string_column import StringColumn

PAIRS_A_BLOCK = 1 << 21
"""Pairs that are merged at once: some 60 MB."""


class TermRun:
    """Collects the terms of one row after another."""

    def __init__(self) -> None:
        # Flat machine integers: a list of pairs would need ten times the memory.
        self._pairs, self._degrees = array("i"), array("i")
        self._codes: defaultdict[str, int] = defaultdict()
        self._codes.default_factory = self._codes.__len__

    def add(self, terms: Iterable[str]) -> None:
        """Adds the distinct terms of the next row."""
        before = len(self._pairs)
        self._pairs.extend(map(self._codes.__getitem__, terms))
        self._degrees.append(len(self._pairs) - before)

    def parts(self, name: str, frequencies: "array[int] | None" = None) -> Parts:
        """The run as parts of a segment: `<name>.terms`, `.sizes` and `.counts` per term, `.rows` per pair.

        `frequencies` are one per pair, in the order in which pairs were added; they become `<name>.frequencies`.
        """
        terms = sorted(self._codes)
        ranks = np.empty(len(terms), dtype=np.int32)
        ranks[[self._codes[term] for term in terms]] = np.arange(len(terms), dtype=np.int32)
        ranked = ranks[np.asarray(self._pairs, dtype=np.int32)]
        order = np.argsort(ranked, kind="stable")
        rows = np.repeat(np.arange(len(self._degrees), dtype=np.int32), np.asarray(self._degrees))
        parts: Parts = {
            **vocabulary_parts(name, terms),
            f"{name}.counts": np.bincount(ranked, minlength=len(terms)).astype(np.int32),
            f"{name}.rows": rows[order],
        }
        if frequencies is not None:
            parts[f"{name}.frequencies"] = np.asarray(frequencies, dtype=np.int32)[order]
        return parts


def vocabulary_parts(name: str, terms: Sequence[str]) -> Parts:
    """Sorted terms as parts of a segment."""
    encoded = [term.encode() for term in terms]
    sizes = np.fromiter(map(len, encoded), dtype=np.int32, count=len(encoded))
    return {f"{name}.terms": bytes_part(b"".join(encoded)), f"{name}.sizes": sizes}


def merged_terms(vocabularies: Sequence[Iterable[bytes]], ranks: Sequence["array[int]"]) -> Iterator[bytes]:
    """The sorted distinct terms of sorted vocabularies; fills `ranks` with the positions of each one's terms."""
    last, rank = None, -1
    labelled = (zip(vocabulary, repeat(number)) for number, vocabulary in enumerate(vocabularies))
    for term, number in merge(*labelled):
        if term != last:
            yield term
            last, rank = term, rank + 1
        ranks[number].append(rank)


def merged_vocabulary(segments: Sequence[Segment], name: str, ranks: Sequence["array[int]"]) -> Iterator[bytes]:
    """The distinct terms that the segments have under a name, as `merged_terms` yields them."""
    return merged_terms([_vocabulary(segment, name) for segment in segments], ranks)


def write_merged_postings(
    directory: Path,
    name: str,
    segments: Sequence[Segment],
    *,
    frequencies: bool = False,
    pairs_a_block: int = PAIRS_A_BLOCK,
) -> tuple[int, int]:
    """Merges the runs of a name into the files that `Postings` maps; returns the counts of terms and of pairs.

    `frequencies`, where the runs have them, are written to `<name>.frequencies.bin` in the order of the pairs.
    """
    ranks = [array("i") for _ in segments]
    StringColumn.write_encoded(directory, f"{name}.terms", merged_vocabulary(segments, name, ranks))
    runs = [_Run(segment, name, np.asarray(places)) for segment, places in zip(segments, ranks, strict=True)]
    term_count = max((int(run.ranks[-1]) + 1 for run in runs if len(run.ranks)), default=0)
    counts = np.zeros(term_count, dtype=np.int64)
    for run in runs:
        counts[run.ranks] += np.diff(run.starts)
    starts = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts)))
    write_array(directory / f"{name}.starts.bin", starts)
    blocks = _blocks(starts, pairs_a_block)
    _write_pairs(directory / f"{name}.rows.bin", blocks, runs, "rows")
    if frequencies:
        _write_pairs(directory / f"{name}.frequencies.bin", blocks, runs, "frequencies")
    return term_count, int(starts[-1])


class _Run:
    """The pairs of one segment: those of its term `t` are from `starts[t]` to `starts[t + 1]`.

    `ranks` [terms] are the positions of its terms among those of all runs.
    """

    def __init__(self, segment: Segment, name: str, ranks: NDArray[np.int32]) -> None:
        self.ranks = ranks
        self.starts = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(segment.part(f"{name}.counts"))))
        self._segment, self._name = segment, name

    def pairs(self, first: int, last: int, part: str) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Rank of the term, and value, of all pairs with ranks from `first` up to, not including, `last`."""
        start, end = np.searchsorted(self.ranks, (first, last)).tolist()
        degrees = np.diff(self.starts[start : end + 1])
        values = self._segment.part(f"{self._name}.{part}", int(self.starts[start]), int(self.starts[end]))
        shift = self._segment.first_row if part == "rows" else 0
        return np.repeat(self.ranks[start:end], degrees), values + np.int32(shift)


def _write_pairs(path: Path, blocks: Sequence[int], runs: Sequence[_Run], part: str) -> None:
    """Writes one value per pair, sorted by term and then by run, and so by row."""
    with path.open("wb") as file:
        for first, last in pairwise(blocks):
            pairs = [run.pairs(first, last, part) for run in runs]
            terms = np.concatenate([terms for terms, _ in pairs])
            values = np.concatenate([values for _, values in pairs])
            file.write(values[np.argsort(terms, kind="stable")].astype("<i4", copy=False).tobytes())


def _blocks(starts: NDArray[np.int64], pairs_a_block: int) -> list[int]:
    """Ranks that cut the terms into blocks of about `pairs_a_block` pairs; a term is never cut."""
    edges = np.arange(0, int(starts[-1]), pairs_a_block)
    cuts = np.searchsorted(starts, edges, side="left").tolist()
    return list(dict.fromkeys([*cuts, len(starts) - 1])) if len(starts) > 1 else []


def _vocabulary(segment: Segment, name: str) -> Iterator[bytes]:
    content = segment.part(f"{name}.terms").tobytes()
    bounds = accumulate(segment.part(f"{name}.sizes").tolist(), initial=0)
    return (content[start:end] for start, end in pairwise(bounds))
