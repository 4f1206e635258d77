"""Of several definitions of one object the current one comes first."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.domain.query.definitions import DefinitionScores, current_first
from groundwire_server.domain.search.candidates import as_positions
from support.growth import check_linear

_PLACES = 6


def _scored(scores: list[float], redefined: list[tuple[int, int]]) -> DefinitionScores:
    """`redefined` are pairs of the places of an older and a newer definition."""
    older, newer = (as_positions(pair[end] for pair in redefined) for end in (0, 1))
    return current_first(np.asarray(scores), older, newer, 0.5)


def _finals(scores: list[float], redefined: list[tuple[int, int]]) -> list[float]:
    return [*map(float, _scored(scores, redefined).final)]


def test_the_current_definition_has_the_best_score_of_its_object_and_older_ones_half_of_theirs() -> None:
    assert _finals([0.8, 0.2, 0.6, 0.7], [(0, 1), (2, 1)]) == [0.4, 0.8, 0.3, 0.7]


def test_the_current_definition_keeps_a_better_score() -> None:
    assert _finals([0.4, 0.9], [(0, 1)]) == [0.2, 0.9]


def test_the_last_of_a_chain_is_current() -> None:
    """As where current definitions with several demands lead on to each other."""
    scored = _scored([0.9, 0.5, 0.1, 0.3], [(0, 1), (1, 2), (1, 3), (2, 3)])
    assert scored.final.tolist() == [0.45, 0.25, 0.05, 0.9]
    assert scored.older_counts.tolist() == [0, 0, 0, 3]
    assert scored.factors.tolist() == [0.5, 0.5, 0.5, 1.0]
    assert scored.best_older[3] == 0.9
    assert np.isnan(scored.best_older[:3]).all()


def test_definitions_that_lead_in_a_circle_have_no_current_one() -> None:
    assert _finals([0.9, 0.5, 0.4], [(0, 1), (1, 0), (2, 0)]) == [0.9, 0.5, 0.4]


@given(
    st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=_PLACES, max_size=_PLACES),
    st.lists(st.integers(0, _PLACES - 1), min_size=_PLACES, max_size=_PLACES),
)
def test_no_definition_has_more_than_the_current_one(scores: list[float], objects: list[int]) -> None:
    """`objects` has the number of each definition's object; its last definition is current."""
    current = {number: place for place, number in enumerate(objects)}
    redefined = [(place, current[number]) for place, number in enumerate(objects) if current[number] != place]
    finals = _finals(scores, redefined)
    for place, number in enumerate(objects):
        assert finals[place] <= finals[current[number]]
        assert finals[current[number]] == max(
            score for score, other in zip(scores, objects, strict=True) if other == number
        )
    assert finals == _finals(scores, redefined[::-1])


def test_a_long_chain_costs_no_more_than_others() -> None:
    check_linear(lambda count: current_first(np.ones(count), np.arange(count - 1), np.arange(1, count), 0.5), 1_000)
