"""The stages that rank a repository: what a candidate gains or loses by its file, its kind of text and its neighbours.

Each takes candidates, best first, and returns them reordered; see `domain.ranking` for the rules and their parameters.
"""

from collections.abc import Sequence
from dataclasses import replace

from groundwire_server.backends.interface import RetrievalSnapshot
from groundwire_server.domain.corpus_boost import BoostRule
from groundwire_server.domain.ranking import (
    PROSE_CORPORA,
    Ranking,
    Traits,
    neighbour_gains,
    shares_of_best,
    spread_out,
    trait_factor,
)
from groundwire_server.engine.query_stages import Ranked, best_first
from groundwire_server.text.prose_tokenizer import stems

_TEST_WORDS = frozenset(stems("test spec fixture mock"))
_GENERATED_WORDS = frozenset(stems("generated"))
_PROSE_WORDS = frozenset(stems("document documentation docs readme guide tutorial manual changelog describe"))


def asked_traits(query: str, boosts: Sequence[BoostRule]) -> Traits:
    """What kinds of text a question is about: its words name them, or it calls for a corpus boost of prose."""
    words = set(stems(query))
    calls_for_prose = any(corpus.startswith(PROSE_CORPORA) for rule in boosts for corpus in rule.corpus_types)
    return Traits(
        is_test=not words.isdisjoint(_TEST_WORDS),
        is_generated=not words.isdisjoint(_GENERATED_WORDS),
        is_prose=calls_for_prose or not words.isdisjoint(_PROSE_WORDS),
    )


def with_files(ranked: Sequence[Ranked], weight: float) -> list[Ranked]:
    """A candidate gains `weight` times its file's score as a share of the best file's."""
    if weight == 0.0:
        return list(ranked)
    shares = shares_of_best([entry.candidate.file_score or 0.0 for entry in ranked])
    return best_first(
        [
            replace(entry, file=share, final=entry.final + weight * share)
            for entry, share in zip(ranked, shares, strict=True)
        ]
    )


def weighed_by_kind(ranked: Sequence[Ranked], asked: Traits, ranking: Ranking) -> list[Ranked]:
    """Tests, generated code, prose and fragments count less, unless the question is about them."""
    factors = [trait_factor(entry.candidate.traits, asked, ranking) for entry in ranked]
    return best_first(
        [
            replace(entry, kind_factor=factor, final=entry.final * factor)
            for entry, factor in zip(ranked, factors, strict=True)
        ]
    )


def with_neighbours(ranked: Sequence[Ranked], weight: float, snapshot: RetrievalSnapshot) -> list[Ranked]:
    """A candidate gains `weight` times what its neighbours among the candidates give it."""
    if weight == 0.0 or not ranked:
        return list(ranked)
    by_id = sorted(ranked, key=lambda entry: entry.id)
    gains = neighbour_gains([entry.final for entry in by_id], snapshot.neighbourhood([entry.id for entry in by_id]))
    return best_first(
        [
            replace(entry, graph=gain, final=entry.final + weight * gain)
            for entry, gain in zip(by_id, gains, strict=True)
        ]
    )


def spread_over_files(ranked: Sequence[Ranked], factor: float) -> list[Ranked]:
    """A candidate counts less for every better one of its file."""
    if factor == 1.0:
        return list(ranked)
    order = spread_out([entry.final for entry in ranked], [entry.candidate.file for entry in ranked], factor)
    chosen = ((ranked[position], repeat) for position, repeat in order)
    return [replace(entry, repeat_factor=repeat, final=entry.final * repeat) for entry, repeat in chosen]
