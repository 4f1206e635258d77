"""Fusion of candidates by rank and by weight, each against its definition in exact fractions."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.domain.search.fusion import alpha_weights
from groundwire_server.domain.search.search import Retriever
from support.listed_candidates import FusedCandidate, Place, candidates_of, fuse_by_rank, fuse_by_weight

LEXICAL = (Retriever.BM25_CODE, Retriever.BM25_PROSE, Retriever.TRIGRAM)
Column = list[Place | None]


def ranked(scores: Sequence[float | None], length: int) -> Column:
    """Scores with the ranks of a list that holds at most `length` of those above 0, ties by position."""
    order = sorted((-score, position) for position, score in enumerate(scores) if score is not None and score > 0.0)
    ranks = {position: rank for rank, (_, position) in enumerate(order[:length], start=1)}
    return [None if score is None else Place(score, ranks.get(position)) for position, score in enumerate(scores)]


@st.composite
def pools(draw: st.DrawFn) -> dict[Retriever, Column]:
    """A column a source that is asked, of one length; few scores are ties, none and nought are frequent."""
    size = draw(st.integers(0, 14))
    columns: dict[Retriever, Column] = {}
    for source in draw(st.lists(st.sampled_from(Retriever), min_size=1, unique=True)):
        if source is Retriever.DENSE:
            scores = st.one_of(st.none(), st.sampled_from([-0.5, 0.0, 0.25, 0.5]), st.floats(-1, 1))
        else:
            highest = 1 if source is Retriever.TRIGRAM else 40
            scores = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, highest))
        values = draw(st.lists(scores, min_size=size, max_size=size))
        columns[source] = ranked(values, draw(st.integers(0, size)))
    return {source: columns[source] for source in Retriever if source in columns}


def positions_best_first(scores: Mapping[int, float]) -> list[int]:
    """By trying: each place goes to the highest score that is left, ties to the smaller position."""
    left = dict(scores)
    order = []
    while left:
        best = min(position for position, score in left.items() if score == max(left.values()))
        order.append(best)
        del left[best]
    return order


def rank_oracle(columns: Mapping[Retriever, Column], rrf_k: int) -> list[FusedCandidate]:
    terms: dict[int, list[Fraction]] = {}
    for column in columns.values():
        for position, score in enumerate(column):
            if score is not None and score.rank is not None:
                terms.setdefault(position, []).append(Fraction(1.0 / (rrf_k + score.rank)))
    scores = {position: float(sum(parts)) for position, parts in terms.items()}
    most = float(len(columns) * Fraction(1.0 / (rrf_k + 1)))
    return [
        FusedCandidate(position, scores[position], scores[position] / most) for position in positions_best_first(scores)
    ]


@given(columns=pools(), rrf_k=st.integers(1, 1_000_000))
def test_fusion_by_rank_equals_the_formula(columns: dict[Retriever, Column], rrf_k: int) -> None:
    assert fuse_by_rank(candidates_of(columns), rrf_k) == rank_oracle(columns, rrf_k)


def normalised(source: Retriever, scores: list[Fraction | None]) -> list[Fraction]:
    """Each source's rule, written down again."""
    present = [score for score in scores if score is not None]
    highest = max(present, default=Fraction(0))
    better_than = {score: sum(other > score for other in present) for score in present}
    eleventh = min((score for score in present if better_than[score] <= 10), default=Fraction(0))
    shares = []
    for score in scores:
        share = Fraction(0)
        if score is not None and source is Retriever.TRIGRAM:
            share = score
        elif score is not None and source is Retriever.DENSE:
            share = (score - min(present)) / (highest - min(present)) if highest > min(present) else Fraction(1)
        elif score is not None and highest > 0:
            lead = max(Fraction(0), score - (eleventh if len(present) > 10 else 0))
            share = (lead * 9 + score) / highest / 10
        shares.append(share)
    return shares


@given(columns=pools(), parts=st.lists(st.sampled_from([0, 1, 2, 7]), min_size=4, max_size=4))
def test_fusion_by_weight_equals_the_formula(columns: dict[Retriever, Column], parts: list[int]) -> None:
    chosen = dict(zip(columns, parts, strict=False))
    total = sum(chosen.values()) or 1
    weights = {source: part / total for source, part in chosen.items()}
    fused = fuse_by_weight(candidates_of(columns), weights)
    kept = [
        position
        for position in range(len(next(iter(columns.values()))))
        if any(
            weights[source] > 0 and (score := column[position]) is not None and score.rank is not None
            for source, column in columns.items()
        )
    ]
    shares = {
        source: normalised(
            source, [None if score is None else Fraction(score.score) for score in map(column.__getitem__, kept)]
        )
        for source, column in columns.items()
    }
    expected = {
        position: float(sum(Fraction(weights[source]) * shares[source][row] for source in columns))
        for row, position in enumerate(kept)
    }
    assert {entry.position for entry in fused} == set(kept)
    assert [entry.fused for entry in fused] == pytest.approx(
        [expected[entry.position] for entry in fused], rel=1e-12, abs=1e-300
    )
    assert [entry.position for entry in fused] == positions_best_first({e.position: e.fused for e in fused})
    assert all(entry.relevance == entry.fused and 0.0 <= entry.fused <= 1.0 for entry in fused)


@pytest.mark.parametrize("sources", [chosen for size in range(1, 5) for chosen in combinations(Retriever, size)])
@pytest.mark.parametrize("rrf_k", [1, 7, 60, 1_000_000])
def test_the_first_of_every_list_is_as_relevant_as_can_be(sources: tuple[Retriever, ...], rrf_k: int) -> None:
    candidates = candidates_of({source: ranked([1.0, 0.5, 0.1], 3) for source in sources})
    by_rank = fuse_by_rank(candidates, rrf_k)
    by_weight = fuse_by_weight(candidates, dict(alpha_weights(0.7, sources)))
    for fused in (by_rank, by_weight):
        assert fused[0].position == 0
        assert 1.0 - 1e-15 <= fused[0].relevance <= 1.0
        assert 0.0 < fused[1].relevance < 1.0


def test_weights_whose_rounded_sum_exceeds_one_give_at_most_one() -> None:
    total = 0.03 + 0.29
    weights = {Retriever.DENSE: 0.03 / total, Retriever.TRIGRAM: 0.29 / total}
    assert sum(weights.values()) > 1.0
    columns = {source: ranked([1.0], 1) for source in weights}
    assert fuse_by_weight(candidates_of(columns), weights) == [FusedCandidate(0, 1.0, 1.0)]


def test_a_list_without_candidates_counts_among_the_asked() -> None:
    """One first place of two: half of the most that there is to have."""
    columns: dict[Retriever, Column] = {Retriever.BM25_CODE: ranked([3.0], 1), Retriever.TRIGRAM: ranked([0.0], 1)}
    assert fuse_by_rank(candidates_of(columns), 60) == [FusedCandidate(0, 1 / 61, 0.5)]


@pytest.mark.parametrize("source", LEXICAL)
def test_what_only_a_lexical_source_found_takes_part_fully(source: Retriever) -> None:
    columns: dict[Retriever, Column] = {
        Retriever.DENSE: ranked([None, 0.9, 0.8], 2),
        source: ranked([5.0, 0.0, 0.0], 1),
    }
    candidates = candidates_of(columns)
    assert [entry.position for entry in fuse_by_rank(candidates, 60)] == [0, 1, 2]
    assert [entry.position for entry in fuse_by_weight(candidates, {Retriever.DENSE: 0.4, source: 0.6})] == [0, 1, 2]


@pytest.mark.parametrize("source", LEXICAL)
def test_a_source_that_matches_nothing_gives_nothing(source: Retriever) -> None:
    columns: dict[Retriever, Column] = {Retriever.DENSE: ranked([0.9, 0.8], 2), source: ranked([0.0, 0.0], 2)}
    fused = fuse_by_weight(candidates_of(columns), {Retriever.DENSE: 0.5, source: 0.5})
    assert fused == [FusedCandidate(0, 0.5, 0.5), FusedCandidate(1, 0.0, 0.0)]


def test_scores_beyond_the_end_of_a_list_count() -> None:
    """The second candidate's score in the code list counts although that list ended before it."""
    columns: dict[Retriever, Column] = {
        Retriever.BM25_CODE: [Place(4.0, 1), Place(3.0, None)],
        Retriever.BM25_PROSE: [Place(0.0, None), Place(2.0, 1)],
    }
    fused = fuse_by_weight(candidates_of(columns), {Retriever.BM25_CODE: 0.5, Retriever.BM25_PROSE: 0.5})
    assert fused == [FusedCandidate(1, 0.875, 0.875), FusedCandidate(0, 0.5, 0.5)]


def test_the_last_of_a_dense_list_stays() -> None:
    fused = fuse_by_weight(candidates_of({Retriever.DENSE: ranked([0.5, 0.75, 0.5625], 3)}), {Retriever.DENSE: 1.0})
    assert fused == [FusedCandidate(1, 1.0, 1.0), FusedCandidate(2, 0.25, 0.25), FusedCandidate(0, 0.0, 0.0)]


def test_equally_similar_candidates_are_all_the_best() -> None:
    fused = fuse_by_weight(candidates_of({Retriever.DENSE: ranked([0.5, 0.5], 2)}), {Retriever.DENSE: 1.0})
    assert [entry.fused for entry in fused] == [1.0, 1.0]


@pytest.mark.parametrize("source", [Retriever.BM25_CODE, Retriever.BM25_PROSE])
def test_a_lexical_score_counts_by_how_far_it_leads_what_comes_after_the_first_ten(source: Retriever) -> None:
    columns = {source: ranked([20.0, 10.0, *[5.0] * 9, 4.0], 12)}
    fused = fuse_by_weight(candidates_of(columns), {source: 1.0})
    assert [entry.fused for entry in fused] == pytest.approx([0.775, 0.275, *[0.025] * 9, 0.02])
    assert [entry.position for entry in fused] == list(range(12))


def test_the_best_of_a_dense_list_counts_in_full_and_the_least_similar_candidate_not_at_all() -> None:
    """The third stands in the lexical list alone; the fourth has no vector."""
    columns: dict[Retriever, Column] = {
        Retriever.DENSE: [Place(0.75, 1), Place(0.5, 2), Place(0.25, None), None],
        Retriever.BM25_CODE: [Place(0.0, None), Place(0.0, None), Place(2.0, 1), Place(1.0, 2)],
    }
    fused = fuse_by_weight(candidates_of(columns), {Retriever.DENSE: 0.75, Retriever.BM25_CODE: 0.25})
    assert {entry.position: entry.fused for entry in fused} == {0: 0.75, 1: 0.375, 2: 0.25, 3: 0.125}


def test_a_weak_trigram_match_stays_weak_however_good_it_is_among_its_list() -> None:
    fused = fuse_by_weight(candidates_of({Retriever.TRIGRAM: ranked([0.375, 0.5], 2)}), {Retriever.TRIGRAM: 1.0})
    assert fused == [FusedCandidate(1, 0.5, 0.5), FusedCandidate(0, 0.375, 0.375)]


def test_what_a_source_without_weight_proposed_is_left_out_and_shifts_no_score() -> None:
    columns: dict[Retriever, Column] = {
        Retriever.DENSE: [Place(0.75, 1), Place(0.5, 2), Place(0.25, 3), Place(0.0, None)],
        Retriever.TRIGRAM: [*[Place(0.0, None)] * 3, Place(1.0, 1)],
    }
    fused = fuse_by_weight(candidates_of(columns), {Retriever.DENSE: 1.0, Retriever.TRIGRAM: 0.0})
    assert fused == [FusedCandidate(0, 1.0, 1.0), FusedCandidate(1, 0.5, 0.5), FusedCandidate(2, 0.0, 0.0)]


def test_what_no_source_of_any_weight_speaks_for_is_left_out() -> None:
    columns: dict[Retriever, Column] = {
        Retriever.DENSE: ranked([None, 0.9], 2),
        Retriever.TRIGRAM: ranked([1.0, 0.0], 1),
    }
    fused = fuse_by_weight(candidates_of(columns), {Retriever.DENSE: 1.0, Retriever.TRIGRAM: 0.0})
    assert [entry.position for entry in fused] == [1]


def test_without_candidates_there_is_nothing_to_fuse() -> None:
    nothing = candidates_of({source: [] for source in Retriever})
    assert fuse_by_rank(nothing, 60) == []
    assert fuse_by_weight(nothing, dict.fromkeys(Retriever, 0.25)) == []


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.7, 1.0])
@pytest.mark.parametrize("lexical", [chosen for size in range(1, 4) for chosen in combinations(LEXICAL, size)])
def test_alpha_is_the_weight_of_the_dense_source_and_the_others_share_the_rest(
    alpha: float, lexical: tuple[Retriever, ...]
) -> None:
    rest = (1.0 - alpha) / len(lexical)
    assert alpha_weights(alpha, (Retriever.DENSE, *lexical)) == (
        (Retriever.DENSE, alpha),
        *((source, rest) for source in lexical),
    )
    assert alpha_weights(alpha, lexical) == tuple((source, 1.0 / len(lexical)) for source in lexical)


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_the_dense_source_alone_has_all_the_weight(alpha: float) -> None:
    assert alpha_weights(alpha, [Retriever.DENSE]) == ((Retriever.DENSE, 1.0),)


def test_weights_stand_in_the_order_of_the_sources() -> None:
    assert [source for source, _ in alpha_weights(0.7, [Retriever.TRIGRAM, Retriever.DENSE])] == [
        Retriever.TRIGRAM,
        Retriever.DENSE,
    ]
