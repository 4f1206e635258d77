"""What files give their nodes, and which items come first when those of one file make room for others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.domain.query.ranking import file_shares, spread_out
from groundwire_server.domain.search.candidates import NO_FILE
from support.growth import check_linear

_SCORES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.9, 1.0]), max_size=12).map(
    lambda scores: sorted(scores, reverse=True)
)


@given(_SCORES, st.data(), st.sampled_from([0.0, 0.5, 0.85, 1.0]), st.integers(1, 12))
def test_each_item_chosen_is_the_best_of_those_left(
    scores: list[float], data: st.DataObject, factor: float, count: int
) -> None:
    files = [data.draw(st.sampled_from([NO_FILE, 0, 1, 2])) for _ in scores]
    left, taken = list(range(len(scores))), [0, 0, 0]
    expected: list[tuple[int, float]] = []
    while left and len(expected) < count:
        better = {place: 0 if (file := files[place]) == NO_FILE else taken[file] for place in left}
        best = min(left, key=lambda place: (-scores[place] * factor ** better[place], place))
        expected.append((best, factor ** better[best]))
        left.remove(best)
        if (file := files[best]) != NO_FILE:
            taken[file] += 1
    places, factors = spread_out(np.asarray(scores), np.asarray(files, dtype=np.int64), factor, count)
    assert list(zip(places.tolist(), factors.tolist(), strict=True)) == expected


def test_equal_items_of_one_file_cost_no_more_than_others() -> None:
    check_linear(lambda count: spread_out(np.ones(count), np.zeros(count, dtype=np.int64), 0.85, count), 1_000)


def _shares(scores: list[float | None], is_alone: list[bool]) -> list[float]:
    return [*map(float, file_shares(np.asarray(scores, dtype=np.float64), np.asarray(is_alone, dtype=np.bool_)))]


def test_files_of_one_node_count_beside_files_of_several() -> None:
    assert _shares([4.0, 2.0, None, 0.0], [True, False, False, True]) == [1.0, 0.5, 0.0, 0.0]


@pytest.mark.parametrize("several", [[], [0.0], [None]])
def test_files_of_one_node_do_not_count_where_no_file_of_several_matches(several: list[float | None]) -> None:
    """A file of several nodes without a word of the question, or without a score, says nothing about the others."""
    scores = [4.0, 2.0, *several]
    assert _shares(scores, [True, True, *[False] * len(several)]) == [0.0] * len(scores)
