"""The best rows out of proposals whose scores are rough, however many tie, against all exact scores."""

import numpy as np
from hypothesis import event, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from groundwire_server.backends.shared.listing import Listing, Proposal
from groundwire_server.backends.shared.scoring import RankedRows, top_rows
from support.properties import costly

MOST_ROWS = 16_384


class Proposer:
    """What a search over exact scores [n] proposes whose own scores are off by up to `error`."""

    def __init__(self, scores: NDArray[np.float64], error: float, seed: int) -> None:
        self._error = error
        self._rough = scores + np.random.default_rng(seed).uniform(-error, error, len(scores))
        self.calls = 0

    def __call__(self, first: int, end: int, limit: int) -> Proposal:
        assert limit <= MOST_ROWS
        self.calls += 1
        part = self._rough[first:end]
        order = np.argsort(-part)[:limit]
        rest = -np.inf if len(part) <= limit else float(part[order[-1]]) + self._error
        return Proposal(order + first, rest)


def listed(scores: NDArray[np.float64], propose: Proposer, count: int, least: float) -> RankedRows:
    listing = Listing(propose, count, least, len(scores), margin=4, most=MOST_ROWS)
    return listing.settled(lambda rows: scores[rows])


@costly()
@given(
    size=st.sampled_from([0, 1, 5, 300, 40_000]),
    distinct=st.sampled_from([1, 3, 50, 100_000]),
    count=st.sampled_from([1, 5, 200]),
    least=st.sampled_from([-np.inf, 0.3, 0.95, 2.0]),
    error=st.sampled_from([0.0, 1e-3, 0.2]),
    seed=st.integers(0, 1_000),
)
def test_the_list_is_that_of_the_exact_scores(
    size: int, distinct: int, count: int, least: float, error: float, seed: int
) -> None:
    scores = np.random.default_rng(seed).integers(0, distinct, size) / distinct
    propose = Proposer(scores, error, seed)
    ranked = listed(scores, propose, count, least)
    rows = np.flatnonzero(scores >= least)
    expected = top_rows(rows, scores[rows], count)
    assert ranked.rows.tolist() == expected.rows.tolist()
    assert ranked.scores.tolist() == expected.scores.tolist()
    event(f"asked {min(propose.calls, 10)} times")


def test_a_clear_list_is_asked_for_once() -> None:
    propose = Proposer(np.arange(1_000.0), 0.1, seed=1)
    assert listed(np.arange(1_000.0), propose, 10, -np.inf).rows.tolist() == [*range(999, 989, -1)]
    assert propose.calls == 1
