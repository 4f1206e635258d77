from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_pipelines.drawing.branches import Branch, back_branches, ranks_of
from groundwire_pipelines.drawing.layout import lay_out
from groundwire_pipelines.drawing.spreading import spread

STEPS = "abcdefgh"
BRANCHES = st.lists(
    st.builds(Branch, st.sampled_from(STEPS), st.sampled_from(STEPS), st.just("on_x")), max_size=16, unique=True
)


@given(branches=BRANCHES)
def test_without_its_back_branches_a_graph_leads_down(branches: list[Branch]) -> None:
    back = back_branches(STEPS, branches)
    forward = [branch for branch in branches if branch not in back]
    ranks = ranks_of(STEPS, forward)
    assert all(ranks[branch.source] < ranks[branch.target] for branch in forward)
    assert all(rank == 0 or any(branch.target == step for branch in forward) for step, rank in ranks.items())


@given(branches=BRANCHES)
def test_nothing_in_a_row_overlaps(branches: list[Branch]) -> None:
    back = back_branches(STEPS, branches)
    forward = {branch: 40.0 for branch in branches if branch not in back}
    layout = lay_out(ranks_of(STEPS, list(forward)), dict.fromkeys(STEPS, 100.0), forward)
    for row in layout.rows:
        for left, right in pairwise(row):
            assert right.x - left.x >= (left.width + right.width) / 2


def test_branches_that_need_not_cross_do_not() -> None:
    """The end of a follow-up loop, given in an order that makes the first guess cross."""
    forward = dict.fromkeys(
        (
            Branch("read", "persist", "on_answer"),
            Branch("read", "guard", "on_request"),
            Branch("guard", "more", "on_continue"),
            Branch("guard", "persist", "on_limit"),
        ),
        60.0,
    )
    ranks = {"read": 0, "guard": 1, "more": 2, "persist": 2}
    layout = lay_out(ranks, dict.fromkeys(ranks, 100.0), forward)
    straight, _, more, limit = (layout.bends[branch][-1].x for branch in forward)
    assert (more - straight) * (more - limit) > 0


@pytest.mark.parametrize(
    ("wanted", "weights", "centres"),
    [
        ([0, 100], [1, 1], [0, 100]),
        ([0, 0], [1, 1], [-5, 5]),
        ([0, 0], [1, 3], [-7.5, 2.5]),
        ([10, 0, 50], [1, 1, 1], [0, 10, 50]),
        ([], [], []),
    ],
)
def test_intervals_move_no_farther_than_they_must(
    wanted: list[float], weights: list[float], centres: list[float]
) -> None:
    assert spread(wanted, [10.0] * len(wanted), weights) == pytest.approx(centres)
