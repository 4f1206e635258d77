"""A system behind `bench.speed.protocol` that is exact, and fails where a test wants it to.

Run as a program with the kinds of calls that it cannot do, fails at, and dies of.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from bench.speed.corpus import ANSWERS, Corpus
from bench.speed.protocol import Ask, Scenario, ThreadedAdapter, UnsupportedError, serve


class FakeAdapter(ThreadedAdapter):
    """Ranks by brute force."""

    def __init__(self, unsupported: str, failing: str, deadly: str) -> None:
        self._unsupported, self._failing, self._deadly = unsupported, failing, deadly
        self._corpus: Corpus

    def load(self, corpus: Corpus, work: Path) -> Mapping[str, str]:
        """See `Adapter.load`."""
        print("libraries print to stdout", flush=True)
        self._corpus = corpus
        return {"fake": "1.0"}

    def session(self, scenario: Scenario) -> Ask:
        """See `ThreadedAdapter.session`."""
        if scenario.kind == self._unsupported:
            raise UnsupportedError("it has no words")
        if scenario.kind == self._failing:
            raise ValueError("it fell over")
        if scenario.kind == self._deadly:
            os._exit(3)
        rows = np.flatnonzero(self._corpus.mask(scenario.filter))
        queries = self._corpus.query_vectors

        def ask(number: int) -> list[int]:
            scores = self._corpus.vectors[rows] @ queries[number % len(queries)]
            found: list[int] = rows[np.argsort(-scores)[:ANSWERS]].tolist()
            return found

        return ask

    def close(self) -> None:
        """See `Adapter.close`."""


if __name__ == "__main__":
    serve(FakeAdapter(*sys.argv[1:4]))
