"""Why a match is first, in words."""

from collections.abc import Iterator, Mapping, Sequence

from groundwire.v1.query_pb2 import QueryMatch, StageScores
from groundwire.v1.retrieval_pb2 import Retriever, SearchHit

_WAYS: Mapping[str, tuple[Retriever.ValueType, str]] = {
    "dense": (Retriever.RETRIEVER_DENSE, "meaning"),
    "bm25_code": (Retriever.RETRIEVER_BM25_CODE, "words of code"),
    "bm25_prose": (Retriever.RETRIEVER_BM25_PROSE, "words of prose"),
    "trigram": (Retriever.RETRIEVER_TRIGRAM, "parts of names"),
}
"""By the field of the scores each retriever, and what it compares."""
_FACTORS: Mapping[str, str] = {
    "kind_factor": "by its kind of text, such as tests or prose",
    "length_factor": "by its length",
    "within_file_factor": "as others of its file have more of the words",
    "repeat_factor": "as better matches come from its file",
    "older_definition_factor": "as a newer definition of its object exists",
}
_ORDINALS = ("best", "second", "third")
_MOST_BEHIND = 3


def why_first(matches: Sequence[QueryMatch]) -> str:
    """Sentences about the first match of a query beside the others; empty without scored matches."""
    scored = [match for match in matches if match.HasField("scores") and not match.meta.neighbor]
    if not scored:
        return ""
    first, *others = scored
    columns = {name: [_score(match.scores, name) for match in scored] for name in _WAYS}
    places = {
        way: _place(columns[name])
        for name, (_, way) in _WAYS.items()
        if columns[name][0] is not None and (columns[name][0] or way == "meaning")
    }
    reasons = [*_places(places), *_other_reasons(first.scores, [other.scores for other in others])]
    if not others:
        return f"{first.rank} is the only match."
    sentences = [f"{first.rank} is first: {'; '.join(reasons)}." if reasons else "", *_passed_by(first, others)]
    return " ".join(filter(None, sentences))


def why_first_hit(hits: Sequence[SearchHit]) -> str:
    """A sentence about the first hit of a search whose retrievers were explained; empty without."""
    if not hits or not hits[0].retrievers:
        return ""
    ways = dict(_WAYS.values())
    places = {ways[place.retriever]: place.rank for place in hits[0].retrievers if place.retriever in ways}
    return f"{hits[0].rank} is first: {'; '.join(_places(places))}." if places else ""


def _score(scores: StageScores, name: str) -> float | None:
    return {field.name: value for field, value in scores.ListFields()}.get(name)


def _place(column: Sequence[float | None]) -> int:
    """The place of the first of some scores among all of them; equal ones share a place."""
    first = column[0]
    assert first is not None
    return 1 + sum(other is not None and other > first for other in column)


def _places(places: Mapping[str, int]) -> Iterator[str]:
    """`best by meaning and by words of code`, `second by words of prose`."""
    for place in sorted({*places.values()}):
        ways = " and ".join(f"by {way}" for way, other_place in places.items() if other_place == place)
        yield f"{_ORDINALS[place - 1] if place <= len(_ORDINALS) else f'number {place}'} {ways}"


def _other_reasons(first: StageScores, others: Sequence[StageScores]) -> Iterator[str]:
    """What the later stages say for it."""
    if first.HasField("rerank") and all(first.rerank >= other.rerank for other in others):
        yield "the reranker prefers it"
    if first.file and all(first.file >= other.file for other in others):
        yield "its file matches best"
    if first.graph and all(first.graph >= other.graph for other in others):
        yield "its neighbours in the graph match best"
    if first.boost > 1:
        yield "the words of the query ask for its corpus or its definition"
    if first.older_definitions:
        yield f"{first.older_definitions} older definitions of it match as well"


def _passed_by(first: QueryMatch, others: Sequence[QueryMatch]) -> Iterator[str]:
    """Matches that the fusion put before it, and which rule put them behind."""
    behind = [other for other in others if other.scores.fused > first.scores.fused]
    for other in behind[:_MOST_BEHIND]:
        rules = [
            why
            for name, why in _FACTORS.items()
            if 0 < getattr(other.scores, name) < (getattr(first.scores, name) or 1)
        ]
        why = f": {' and '.join(rules)}" if rules else ""
        yield f"{other.rank} fits the query better by itself, but ranks lower{why}."
