"""Which items come first when those of one file make room for others."""

from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.domain.query.ranking import spread_out
from groundwire_server.domain.search.candidates import NO_FILE
from support.growth import check_linear

_SCORES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.9, 1.0]), max_size=12).map(lambda one: sorted(one, reverse=True))


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
    assert spread_out(scores, files, factor, count) == expected


def test_equal_items_of_one_file_cost_no_more_than_others() -> None:
    check_linear(lambda count: spread_out([1.0] * count, [0] * count, 0.85, count), 1_000)
