"""The figures of all sets as tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

import numpy as np
from numpy.typing import NDArray

from bench.quality.bootstrap import Difference, paired_difference
from bench.repositories.figures import Evidence, Found
from bench.repositories.relations import Reached
from bench.speed.report import Grid

BASELINE = "files"
_TITLES = {
    "method_5": "method@5",
    "file_5": "file@5",
    "items_5": "items@5",
    "mrr_10": "MRR@10",
    "primary_50": "primary@50",
}
_MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class SetFigures:
    """All figures of one set. `rankings` has the baseline too; `evidence` and `relations` are by system."""

    name: str
    nodes: int
    edges: int
    index_seconds: float
    index_peak_bytes: int
    chunks: int
    rankings: Mapping[str, Sequence[Found]]
    evidence: Mapping[str, Sequence[Evidence]]
    relations: Mapping[str, Sequence[Reached]]


def grids(sets: Sequence[SetFigures], budget: int) -> list[Grid]:
    """What indexing took, then questions, differences and relations of each set, and the evidence of all."""
    tables = [_index_grid(sets)]
    for one in sets:
        tables += [_questions_grid(one), _differences_grid(one)]
    tables.append(_evidence_grid(sets, budget))
    return [*tables, *map(_relations_grid, sets)]


def _index_grid(sets: Sequence[SetFigures]) -> Grid:
    headings = ["set", "nodes", "edges", "index s", "peak MiB", "chunks of the baseline"]
    rows = [
        [
            one.name,
            f"{one.nodes:,}",
            f"{one.edges:,}",
            f"{one.index_seconds:.1f}",
            f"{one.index_peak_bytes / _MEBIBYTE:,.0f}",
            f"{one.chunks:,}",
        ]
        for one in sets
    ]
    return Grid("Indexes", headings, rows)


def _questions_grid(one: SetFigures) -> Grid:
    rows = [
        [system, *(f"{fmean(_values(found, measure)):.3f}" for measure in _TITLES)]
        for system, found in one.rankings.items()
    ]
    title = f"{one.name}: {len(one.rankings[BASELINE])} questions, {one.nodes:,} nodes"
    return Grid(title, ["search", *_TITLES.values()], rows)


def _differences_grid(one: SetFigures) -> Grid:
    rows = [
        [
            system,
            *(
                _difference(paired_difference(_values(found, measure), _values(one.rankings[BASELINE], measure)))
                for measure in _TITLES
            ),
        ]
        for system, found in one.rankings.items()
        if system != BASELINE
    ]
    return Grid(f"{one.name}: difference to {BASELINE}", ["search", *_TITLES.values()], rows)


def _evidence_grid(sets: Sequence[SetFigures], budget: int) -> Grid:
    headings = ["set", "from", "primary place", "places", "tokens, median", "tokens, most", "over the budget"]
    headings += ["budget used", "text tokens, median", "overhead"]
    rows = [
        [one.name, system, *_evidence_cells(evidence, budget)]
        for one in sets
        for system, evidence in one.evidence.items()
    ]
    return Grid(f"Evidence, budget of {budget:,} tokens", headings, rows)


def _evidence_cells(evidence: Sequence[Evidence], budget: int) -> list[str]:
    tokens, text_tokens = [each.tokens for each in evidence], [each.text_tokens for each in evidence]
    found, places = sum(each.found for each in evidence), sum(each.places for each in evidence)
    primary = sum(each.is_primary_found for each in evidence)
    return [
        f"{primary} of {len(evidence)} ({primary / len(evidence):.2f})",
        f"{found} of {places} ({found / places:.2f})",
        f"{median(tokens):,.0f}",
        f"{max(tokens):,}",
        f"{sum(count > budget for count in tokens)} of {len(tokens)}",
        f"{fmean(tokens) / budget:.2f}",
        f"{median(text_tokens):,.0f}",
        f"{sum(tokens) / max(sum(text_tokens), 1):.2f}",
    ]


def _relations_grid(one: SetFigures) -> Grid:
    kinds = sorted({each.kind for found in one.relations.values() for each in found})
    rows = [_relations_row("all", one)] + [_relations_row(kind, one, kind) for kind in kinds]
    columns = [f"{system}, {reach}" for system in one.relations for reach in ("one edge", "within two")]
    return Grid(f"{one.name}: relations found", ["kind", "relations", *columns], rows)


def _relations_row(title: str, one: SetFigures, kind: str | None = None) -> list[str]:
    counted = [[each for each in found if kind is None or each.kind == kind] for found in one.relations.values()]
    cells = [
        str(count)
        for found in counted
        for count in (sum(each.by_one for each in found), sum(each.by_two for each in found))
    ]
    return [title, str(len(counted[0])), *cells]


def _values(found: Sequence[Found], measure: str) -> NDArray[np.float64]:
    return np.array([getattr(one, measure) for one in found], dtype=np.float64)


def _difference(one: Difference) -> str:
    return f"{one.mean:+.3f} [{one.low:+.3f}, {one.high:+.3f}]"
