"""Asks the subjects of pairs with other numbers in two rules of the ranking, over the indexes that the pairs are of."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from bench.ranking.pairs import Source, read_pairs
from bench.shared.programs import BRANCH
from bench.shared.results import Grid
from bench.shared.statistics import paired_difference
from groundwire_index.embedding.model_names import DEFAULT_MODEL
from groundwire_index.scope import Scope
from groundwire_server.config import Settings
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.query.query import QueryRequest
from groundwire_server.domain.query.ranking import LONG_CHARS, SHORT_CHARS
from groundwire_server.engine.engine import RetrievalEngine
from groundwire_server.rpc.serving.compose import compose

DEPTH = 10
_FIRST = 5
_NOW = datetime(2026, 1, 1, tzinfo=UTC)

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Numbers:
    """The exponent of a text's length, 0 for no rule, and the factor for no word within the file, 1 for no rule."""

    length_exponent: float
    within_file_factor: float

    def __str__(self) -> str:
        return f"length ^ {self.length_exponent:g}, within file {self.within_file_factor:g}"


BASELINE = Numbers(0.0, 1.0)
COMPARED = (
    *(Numbers(exponent, 1.0) for exponent in (0.0625, 0.125, 0.25)),
    *(Numbers(0.0, factor) for factor in (0.75, 0.5)),
    *(Numbers(0.125, factor) for factor in (0.85, 0.75, 0.5)),
)


class _Call:
    """A Call that runs each part where it is awaited, and never stops."""

    def checkpoint(self) -> None: ...

    async def compute(self, part: Callable[[], Result]) -> Result:
        return part()

    async def wait_for(self, part: Callable[[], Result]) -> Result:
        return part()

    async def wait_until_done(self, work: Future[Result]) -> Result:
        return work.result()

    async def ask_model(self, part: Callable[[], Result]) -> Result:
        return part()


@contextmanager
def _using(numbers: Numbers) -> Iterator[None]:
    def lengths(char_counts: NDArray[np.integer]) -> NDArray[np.float64]:
        multiples = np.clip(char_counts, SHORT_CHARS, LONG_CHARS) / SHORT_CHARS
        return np.asarray(multiples**numbers.length_exponent)

    factor = "groundwire_server.domain.query.ranking.WITHIN_FILE_FACTOR"
    with patch("groundwire_server.engine.stages.length_factors", lengths), patch(factor, numbers.within_file_factor):
        yield


def reciprocal_ranks(data: Path, folder: Path, numbers: Sequence[Numbers]) -> Mapping[Numbers, NDArray[np.float64]]:
    """For each choice of numbers, of each pair in a folder: 1 / rank of its first node, 0 beyond the first ten."""
    engine, _ = compose(Settings(data=data, embedders=(DEFAULT_MODEL,)))
    pairs = read_pairs(folder / "pairs.jsonl")
    ranks_by_rule = {}
    for rule in numbers:
        with _using(rule):
            ranks_by_rule[rule] = np.asarray(
                [asyncio.run(_reciprocal_rank(engine, folder.name, pair.question, pair.nodes)) for pair in pairs]
            )
    return ranks_by_rule


async def _reciprocal_rank(engine: RetrievalEngine, name: str, question: str, nodes: Sequence[str]) -> float:
    request = QueryRequest(
        scope=Scope(name, BRANCH), access=AccessContext(), query=question, now=_NOW, top_k=DEPTH, include_parents=False
    )
    result = await engine.query(request, _Call())
    ranks = [match.rank for match in result.matches if match.node.id in nodes]
    return 1.0 / min(ranks) if ranks else 0.0


def grid(part: str, by_source: Mapping[Source, Mapping[Numbers, NDArray[np.float64]]]) -> Grid:
    """Of all subjects of a part: Hit@5 and MRR@10, each with its difference to the ranking without both rules."""
    chosen = {
        rule: np.concatenate([ranks_by_rule[rule] for ranks_by_rule in by_source.values()])
        for rule in (BASELINE, *COMPARED)
    }
    without = chosen[BASELINE]
    rows = []
    for numbers, ranks in chosen.items():
        row = [str(numbers)]
        for values, others in ((ranks >= 1.0 / _FIRST, without >= 1.0 / _FIRST), (ranks, without)):
            row += [f"{values.mean():.3f}", str(paired_difference(values, others))]
        rows.append(row)
    headings = ["numbers", "Hit@5", "difference", "MRR@10", "difference"]
    return Grid(f"{part}: {len(without)} subjects of {len(by_source)} repositories", headings, rows)
