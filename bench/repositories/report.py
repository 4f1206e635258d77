"""The figures of all sets as tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

import numpy as np

from bench.repositories.figures import Evidence, Found, FoundFiles
from bench.repositories.relations import Reached
from bench.shared.results import Grid
from bench.shared.statistics import paired_difference

BASELINE = "files"
_OF_QUESTIONS = {
    "method_5": "method@5",
    "file_5": "file@5",
    "items_5": "items@5",
    "mrr_10": "MRR@10",
    "primary_50": "primary@50",
}
_OF_CHANGES = {"hit_5": "Hit@5", "files_5": "Hit@5 of files", "mrr_10": "MRR@10"}
_MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class SetFigures:
    """All figures of one set. `rankings` and `changes` include the baseline; `evidence` is by system.

    If the set has no questions, or no subjects, the systems are there without figures.
    """

    name: str
    nodes: int
    edges: int
    index_seconds: float
    index_peak_bytes: int
    chunks: int
    rankings: Mapping[str, Sequence[Found]]
    changes: Mapping[str, Sequence[FoundFiles]]
    evidence: Mapping[str, Sequence[Evidence]]
    relations: Sequence[Reached]


def grids(sets: Sequence[SetFigures], budget: int) -> list[Grid]:
    """Tables of indexing, of what was found in each set with differences to the baseline, and of evidence.

    If several sets have commit subjects, there is also a table of all of them.
    """
    tables = [_index_grid(sets)]
    for one in sets:
        nodes = f"{one.nodes:,} nodes"
        tables += _ranking_grids(one.name, "questions", nodes, one.rankings, _OF_QUESTIONS)
        tables += _ranking_grids(one.name, "subjects of commits", nodes, one.changes, _OF_CHANGES)
    asked = [one.changes for one in sets if one.changes[BASELINE]]
    if len(asked) > 1:
        pooled = {system: [each for one in asked for each in one[system]] for system in asked[0]}
        tables += _ranking_grids("all", "subjects of commits", f"{len(asked)} sets", pooled, _OF_CHANGES)
    tables += _evidence_grids([one for one in sets if any(one.evidence.values())], budget)
    return [*tables, *(_relations_grid(one) for one in sets if one.relations)]


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


def _ranking_grids(
    name: str, asked: str, of: str, rankings: Mapping[str, Sequence[Found | FoundFiles]], titles: Mapping[str, str]
) -> list[Grid]:
    """The means of each ranking, and the differences to the baseline; nothing where nothing was asked."""
    values = {
        system: [np.array([getattr(one, measure) for one in found], dtype=np.float64) for measure in titles]
        for system, found in rankings.items()
    }
    plain = values[BASELINE]
    if not plain[0].size:
        return []
    means = [[system, *(f"{fmean(column):.3f}" for column in columns)] for system, columns in values.items()]
    differences = [
        [system, *(str(paired_difference(*pair)) for pair in zip(columns, plain, strict=True))]
        for system, columns in values.items()
        if system != BASELINE
    ]
    headings = ["search", *titles.values()]
    return [
        Grid(f"{name}: {plain[0].size} {asked}, {of}", headings, means),
        Grid(f"{name}, {asked}: difference to {BASELINE}", headings, differences),
    ]


def _evidence_grids(sets: Sequence[SetFigures], budget: int) -> list[Grid]:
    if not sets:
        return []
    headings = ["set", "from", "primary place", "places", "tokens, median", "tokens, most", "over the budget"]
    headings += ["budget used", "text tokens, median", "overhead"]
    rows = [
        [one.name, system, *_evidence_cells(evidence, budget)]
        for one in sets
        for system, evidence in one.evidence.items()
    ]
    return [Grid(f"Evidence, budget of {budget:,} tokens", headings, rows)]


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
    rows = []
    for kind in ("all", *sorted({each.kind for each in one.relations})):
        found = [each for each in one.relations if kind in ("all", each.kind)]
        counts = len(found), sum(each.by_one for each in found), sum(each.by_two for each in found)
        rows.append([kind, *map(str, counts)])
    return Grid(f"{one.name}: relations found", ["kind", "relations", "one edge", "within two"], rows)
