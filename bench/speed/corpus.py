"""A corpus on disk, as numpy files, with the true neighbours of its queries."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ANSWERS = 10
"""The hits that every query asks for, and the true neighbours that are kept of each."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Passes the rows whose `column` is `value`, a share of about `passes`."""

    column: str
    value: str
    passes: float


RANDOM, CLUSTERED, EVERY = "random_group", "clustered_group", "language"
"""The text columns that filters name: drawn at random, following the clusters of the vectors, one value for all."""
GROUPS: Mapping[str, float] = {"permille": 0.001, "percent": 0.01, "tenth": 0.1, "rest": 0.889}
"""The values of the first two columns, each with its share of the rows."""
LANGUAGE = "synthetic"
_BATCH = 65_536

FILTERS: Mapping[str, Filter] = {
    "100 %": Filter(EVERY, LANGUAGE, 1.0),
    **{
        f"{100 * GROUPS[group]:g} % {name}": Filter(column, group, GROUPS[group])
        for group in ("tenth", "percent", "permille")
        for name, column in (("random", RANDOM), ("clustered", CLUSTERED))
    },
}
"""The filters, by their names in scenarios and tables."""


class Corpus:
    """Rows, queries and their true neighbours. `vectors` [n, dimension] are mapped; `query_vectors` [q, dimension]."""

    def __init__(self, folder: Path) -> None:
        """Opens what `bench.speed.synthesis` wrote. Raises OSError."""
        self.folder = folder
        self.shape: dict[str, int] = json.loads((folder / "shape.json").read_text(encoding="utf-8"))
        self.vectors: NDArray[np.float32] = np.load(folder / "vectors.npy", mmap_mode="r")
        self.query_vectors: NDArray[np.float32] = np.load(folder / "query_vectors.npy")
        self.query_texts: list[str] = json.loads((folder / "query_texts.json").read_text(encoding="utf-8"))
        self._text_ends: NDArray[np.int64] = np.load(folder / "text_ends.npy", mmap_mode="r")
        self._texts = np.memmap(folder / "texts.bin", dtype=np.uint8, mode="r")
        self._groups = {
            RANDOM: np.load(folder / "random_group.npy", mmap_mode="r"),
            CLUSTERED: np.load(folder / "clustered_group.npy", mmap_mode="r"),
        }
        self.policy_classes: NDArray[np.int32] = np.load(folder / "policy_classes.npy", mmap_mode="r")
        self.edges: NDArray[np.int32] = np.load(folder / "edges.npy", mmap_mode="r")

    def __len__(self) -> int:
        return len(self.vectors)

    def text(self, row: int) -> str:
        """One row's text."""
        start = int(self._text_ends[row - 1]) if row else 0
        return self._texts[start : int(self._text_ends[row])].tobytes().decode()

    def value(self, column: str, row: int) -> str:
        """One row's value in a filter column."""
        return LANGUAGE if column == EVERY else tuple(GROUPS)[self._groups[column][row]]

    def mask(self, filter_name: str) -> NDArray[np.bool_]:
        """True if each row [n] passes; all do for an empty name."""
        if not filter_name or FILTERS[filter_name].column == EVERY:
            return np.ones(len(self), dtype=np.bool_)
        wanted = FILTERS[filter_name]
        passing: NDArray[np.bool_] = self._groups[wanted.column] == tuple(GROUPS).index(wanted.value)
        return passing

    def neighbours(self, filter_name: str) -> NDArray[np.int32]:
        """The rows [q, up to 10] nearest to each query among those that pass, nearest first; kept for later runs."""
        plain = "".join(filter(str.isalnum, filter_name)) or "unfiltered"
        file = self.folder / f"truth_{plain}.npy"
        if not file.exists():
            np.save(file, nearest(self.vectors, self.query_vectors, self.mask(filter_name)))
        rows: NDArray[np.int32] = np.load(file)
        return rows

    def recall(self, filter_name: str, first: int, answers: Sequence[Sequence[int]]) -> float:
        """The mean share of a query's true neighbours that its answer holds; answer i is that of query first + i."""
        truth = self.neighbours(filter_name)
        shares = []
        for number, answer in enumerate(answers, start=first):
            wanted = set(truth[number % len(truth)].tolist())
            shares.append(len(wanted.intersection(answer)) / len(wanted))
        return sum(shares) / len(shares)


def nearest(vectors: NDArray[np.float32], queries: NDArray[np.float32], mask: NDArray[np.bool_]) -> NDArray[np.int32]:
    """The masked rows [q, up to 10] of highest inner product with each query [q, dimension], by brute force.

    Single precision selects three times as many; double precision decides among these.
    """
    rows = np.flatnonzero(mask)
    width = min(3 * ANSWERS, len(rows))
    best_scores = np.full((len(queries), 0), -np.inf, dtype=np.float32)
    best_rows = np.zeros((len(queries), 0), dtype=np.int64)
    for start in range(0, len(rows), _BATCH):
        part = rows[start : start + _BATCH]
        scores = np.concatenate([best_scores, queries @ vectors[part].T], axis=1)
        candidates = np.concatenate([best_rows, np.broadcast_to(part, (len(queries), len(part)))], axis=1)
        kept = np.argpartition(-scores, min(width, scores.shape[1]) - 1, axis=1)[:, :width]
        best_scores = np.take_along_axis(scores, kept, axis=1)
        best_rows = np.take_along_axis(candidates, kept, axis=1)
    exact = np.einsum("qd,qkd->qk", queries.astype(np.float64), vectors[best_rows].astype(np.float64))
    order = np.lexsort((best_rows, -exact), axis=1)[:, :ANSWERS]
    ordered: NDArray[np.int32] = np.take_along_axis(best_rows, order, axis=1).astype(np.int32)
    return ordered
