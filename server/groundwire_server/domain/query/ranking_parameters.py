"""The weights and factors of the rules in `ranking`; see `groundwire.v1.RankingParameters`. Loads no numeric library.

`docs/adr/0028-ranking-rules-for-repositories.md` and `0063-ranking-rules-from-commits.md` say how the numbers were
chosen.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from groundwire_index.nodes.purposes import PURPOSES, Purpose, lowering_factors
from groundwire_server.domain.search.search import Retriever

FILE_WEIGHT = 0.3
FRAGMENT_FACTOR = 0.85
GRAPH_WEIGHT = 0.3
REPEAT_FACTOR = 0.85
LENGTH_EXPONENT = 0.125
WITHIN_FILE_FACTOR = 0.75
OLDER_DEFINITION_FACTOR = 0.5
OLDER_DEFINITION_FACTOR_IN_HISTORY = 0.95


@dataclass(frozen=True, slots=True)
class RankingParameters:
    """Those that could change an answer; None for one that could not.

    `purpose_factors` are by the names of purposes.
    """

    file_weight: float | None = None
    test_factor: float | None = None
    generated_factor: float | None = None
    prose_factor: float | None = None
    fragment_factor: float | None = None
    graph_weight: float | None = None
    repeat_factor: float | None = None
    length_exponent: float | None = None
    within_file_factor: float | None = None
    older_definition_factor: float | None = None
    purpose_factors: Mapping[str, float] = field(default_factory=dict)


def applied_ranking(wanted: Collection[Purpose], retrievers: Sequence[Retriever]) -> RankingParameters:
    """Those that the retrievers give something to act on. A factor for what the question asks for does not apply."""
    factors = lowering_factors(wanted)
    return RankingParameters(
        file_weight=FILE_WEIGHT if Retriever.BM25_CODE in retrievers else None,
        test_factor=factors.get(PURPOSES[Purpose.TEST].name),
        generated_factor=factors.get(PURPOSES[Purpose.GENERATED].name),
        prose_factor=factors.get(PURPOSES[Purpose.DOCUMENTATION].name),
        purpose_factors=factors,
        fragment_factor=FRAGMENT_FACTOR,
        graph_weight=GRAPH_WEIGHT,
        repeat_factor=REPEAT_FACTOR,
        length_exponent=LENGTH_EXPONENT,
        within_file_factor=WITHIN_FILE_FACTOR if Retriever.BM25_CODE in retrievers else None,
    )
