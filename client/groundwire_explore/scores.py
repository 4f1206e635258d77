"""The scores of each stage as bars.

A score that has an upper bound is drawn as a share of it; any other one as a share of the best of its page.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from groundwire_client import QueryMatch, RankingParameters, Retriever, SearchHit, StageScores, choice
from groundwire_explore.results import Bar, Stage

_STAGES: Mapping[str, Stage] = {
    "dense": "retriever",
    "bm25_code": "retriever",
    "bm25_prose": "retriever",
    "trigram": "retriever",
    "fused": "fusion",
    "file": "ranking",
    "graph": "ranking",
    "rerank": "rerank",
    "freshness": "ranking",
    "best_older_definition": "ranking",
    "final": "final",
}
_BOUNDED = frozenset({"dense", "trigram", "file", "graph", "freshness", "rerank"})
_SHORT_TEXT = 80


def query_bars(match: QueryMatch, matches: Sequence[QueryMatch], ranking: RankingParameters) -> tuple[Bar, ...]:
    """The bars of a match of `Query`, in the order of the stages; a stage that did not score it has none."""
    others = [_given(other.scores) for other in matches]
    scores = _given(match.scores)
    bars = {
        name: Bar(stage, name, f"{value:.4g}", _share(name, value, [other.get(name, 0.0) for other in others]))
        for name, stage in _STAGES.items()
        if (value := scores.get(name)) is not None
    }
    adjusted = (
        *_kind_factor(match, ranking),
        *_factor("length_factor", match.scores.length_factor, "its text is long"),
        *_factor("within_file_factor", match.scores.within_file_factor, "others of its file have more of the words"),
        *_factor("boost", match.scores.boost, "the words of the query ask for its corpus or its definition"),
        *_factor("repeat_factor", match.scores.repeat_factor, "better matches come from the same file"),
        *_factor("older_definition_factor", match.scores.older_definition_factor, "its object has a newer definition"),
    )
    final = bars.pop("final", None)
    return (*bars.values(), *adjusted, *([final] if final else ()))


def hit_bars(hit: SearchHit, hits: Sequence[SearchHit]) -> tuple[Bar, ...]:
    """The bars of a hit of `SearchNodes`: its place in each retriever's list, then its score."""
    bars = [
        Bar(
            "retriever",
            name,
            f"{retriever_score.score:.4g}",
            _share(name, retriever_score.score, scores),
            f"#{retriever_score.rank}",
        )
        for retriever_score in hit.retrievers
        for name in (choice(Retriever, retriever_score.retriever),)
        for scores in (
            [
                other_score.score
                for other in hits
                for other_score in other.retrievers
                if other_score.retriever == retriever_score.retriever
            ],
        )
    ]
    best = max(other.score for other in hits)
    return (*bars, Bar("final", "score", f"{hit.score:.4g}", _part(hit.score, best)))


def _given(scores: StageScores) -> dict[str, float]:
    return {field.name: value for field, value in scores.ListFields()}


def _kind_factor(match: QueryMatch, ranking: RankingParameters) -> Iterator[Bar]:
    applied = {
        f"of the purpose {match.scores.purpose.replace('_', ' ')}": match.scores.purpose_factor not in (0, 1),
        "a short text": not match.text_omitted
        and len(match.text) < _SHORT_TEXT
        and ranking.HasField("fragment_factor"),
    }
    reasons = [word for word, holds in applied.items() if holds]
    yield from _factor("kind_factor", match.scores.kind_factor, "it is " + " and ".join(reasons) if reasons else "")


def _factor(name: str, factor: float, reason: str) -> Iterator[Bar]:
    """A factor of 1 changed nothing and is left out, as is 0: a server that does not know it."""
    if factor not in (0, 1):
        yield Bar("ranking", name, f"\N{MULTIPLICATION SIGN} {factor:.3g}", min(factor, 1.0), reason)


def _share(name: str, value: float, others: Iterable[float]) -> float:
    return _part(value, 1.0 if name in _BOUNDED else max(others, default=0.0))


def _part(value: float, whole: float) -> float:
    return min(max(value / whole, 0.0), 1.0) if whole > 0 else 0.0
