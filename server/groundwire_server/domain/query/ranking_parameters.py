"""The parameters of the rules in `ranking`, and their defaults. Loads no numeric library."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from groundwire_server.domain.query.query import QueryClass, RankingParameters


@dataclass(frozen=True, slots=True)
class Ranking:
    """Ranking parameters without gaps, each in [0, 1]; see `groundwire.v1.RankingParameters`."""

    file_weight: float
    test_factor: float
    generated_factor: float
    prose_factor: float
    fragment_factor: float
    graph_weight: float
    repeat_factor: float


BY_WORDS = Ranking(
    file_weight=0.3,
    test_factor=0.5,
    generated_factor=0.5,
    prose_factor=0.75,
    fragment_factor=0.85,
    graph_weight=0.3,
    repeat_factor=0.85,
)
"""For questions in words. `docs/adr/0028-ranking-rules-for-repositories.md` tells how the numbers were chosen."""
BY_NAME = Ranking(
    file_weight=0.0,
    test_factor=1.0,
    generated_factor=1.0,
    prose_factor=1.0,
    fragment_factor=1.0,
    graph_weight=0.0,
    repeat_factor=1.0,
)
"""Who asks for a name, a path or a quotation gets what is called or written so, whatever stands around it."""
_DEFAULTS: Mapping[QueryClass, Ranking] = {
    QueryClass.NATURAL_LANGUAGE: BY_WORDS,
    QueryClass.MIXED: BY_WORDS,
    QueryClass.IDENTIFIER: BY_NAME,
    QueryClass.QUOTED: BY_NAME,
    QueryClass.PATH: BY_NAME,
}


@dataclass(frozen=True, slots=True)
class Traits:
    """What kinds of text a question is about."""

    is_test: bool = False
    is_generated: bool = False
    is_prose: bool = False


def effective_ranking(given: RankingParameters, query_class: QueryClass) -> Ranking:
    """The parameters given, and for the others the defaults of the query's class."""
    return replace(_DEFAULTS[query_class], **{name: one for name, one in asdict(given).items() if one is not None})
