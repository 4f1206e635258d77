"""The stages that rank a repository: what a candidate gains or loses by its file, its kind of text and its neighbours.

See `domain.ranking` for the rules and their parameters.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from groundwire_server.backends.interface import RetrievalSnapshot
from groundwire_server.domain.corpus_boost import BoostRule
from groundwire_server.domain.neighbourhood import neighbour_gains
from groundwire_server.domain.ranking import (
    PROSE_PREFIX,
    Ranking,
    Traits,
    shares_of_best,
    spread_out,
    trait_factor,
)
from groundwire_server.engine.query_stages import Ranked, best_first

_TEST_WORDS = frozenset({"tests", "specs", "fixtures"})
"""In the plural: "in a test" and "the test client" say where or by what, not what is looked for."""
_GENERATED_WORDS = frozenset({"generated"})
_PROSE_WORDS = frozenset({"docs", "documentation", "documented", "readme", "guide", "tutorial", "manual", "changelog"})


def asked_traits(query: str, boosts: Sequence[BoostRule]) -> Traits:
    """What kinds of text a question is about: its words name them, or it calls for a corpus boost of prose."""
    words = set(re.findall(r"\w+", query.casefold()))
    calls_for_prose = any(corpus.startswith(PROSE_PREFIX) for rule in boosts for corpus in rule.corpus_types)
    return Traits(
        is_test=not words.isdisjoint(_TEST_WORDS),
        is_generated=not words.isdisjoint(_GENERATED_WORDS),
        is_prose=calls_for_prose or not words.isdisjoint(_PROSE_WORDS),
    )


def ranked_by_surroundings(
    fused: Sequence[Ranked], asked: Traits, ranking: Ranking, snapshot: RetrievalSnapshot
) -> list[Ranked]:
    """Candidates with what their files give them, weighed by what kind of text they are, and with what neighbours give.

    In this order: what a neighbour gives is worth as much as it counts itself.
    """
    by_id = sorted(fused, key=lambda entry: entry.id)
    files = [0.0] * len(by_id)
    if ranking.file_weight > 0.0:
        files = shares_of_best([entry.candidate.file_score or 0.0 for entry in by_id])
    factors = [trait_factor(entry.candidate.traits, asked, ranking) for entry in by_id]
    scores = [
        (entry.final + ranking.file_weight * share) * factor
        for entry, share, factor in zip(by_id, files, factors, strict=True)
    ]
    gains = [0.0] * len(by_id)
    if ranking.graph_weight > 0.0 and by_id:
        gains = neighbour_gains(scores, snapshot.neighbourhood([entry.id for entry in by_id]))
    return best_first(
        [
            Ranked(
                candidate=entry.candidate,
                fused=entry.fused,
                final=score + ranking.graph_weight * gain,
                file=share if ranking.file_weight > 0.0 else None,
                kind_factor=factor,
                graph=gain if ranking.graph_weight > 0.0 else None,
            )
            for entry, score, share, factor, gain in zip(by_id, scores, files, factors, gains, strict=True)
        ]
    )


def spread_over_files(ranked: Sequence[Ranked], factor: float, count: int) -> list[Ranked]:
    """The best `count` when a candidate counts less for every better one of its file."""
    order = spread_out([entry.final for entry in ranked], [entry.candidate.file for entry in ranked], factor, count)
    return [
        ranked[position]
        if repeat == 1.0
        else replace(ranked[position], repeat_factor=repeat, final=ranked[position].final * repeat)
        for position, repeat in order
    ]
