"""The figures of all sets as tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bench.repositories.figures import Evidence, Found
from bench.repositories.relations import Reached
from bench.shared.results import Grid
from bench.shared.statistics import paired_difference

BASELINE = "files"


@dataclass(frozen=True, slots=True)
class SetFigures:
    """All figures of one set. `rankings` and `changes` include the baseline; `evidence` is by system.

    If the set has no questions, or no subjects, the systems are there without figures.
    """

    name: str
    nodes: int
    rankings: Mapping[str, Sequence[Found]]
    changes: Mapping[str, Sequence[Found]]
    evidence: Mapping[str, Sequence[Evidence]]
    relations: Sequence[Reached]
    relations_shown: int


def grids(sets: Sequence[SetFigures], budget: int) -> list[Grid]:
    """Tables of what was found in each set with differences to the baseline, of evidence, and of relations.

    `budget` is that of the evidence that relations are looked for in.

    If several sets have commit subjects, there is also a table of all of them.
    """
    tables = []
    for figures in sets:
        tables += _ranking_grids(f"{figures.name}, {figures.nodes:,} nodes", "questions", figures.rankings)
        tables += _ranking_grids(f"{figures.name}, {figures.nodes:,} nodes", "subjects of commits", figures.changes)
    changes_of_sets = [figures.changes for figures in sets if figures.changes[BASELINE]]
    if len(changes_of_sets) > 1:
        pooled = {
            system: [each for figures in changes_of_sets for each in figures[system]] for system in changes_of_sets[0]
        }
        tables += _ranking_grids(f"{len(changes_of_sets)} sets", "subjects of commits", pooled)
    relations = [_relations_grid(figures, budget) for figures in sets if figures.relations]
    return [*tables, *_evidence_grids(sets), *relations]


def _ranking_grids(name: str, what: str, rankings: Mapping[str, Sequence[Found]]) -> list[Grid]:
    """The means of each ranking, and the differences to the baseline; nothing where nothing was asked."""
    if not (baseline := rankings[BASELINE]):
        return []
    headings = ["search", *baseline[0]]
    columns = {
        system: np.array([list(ranking.values()) for ranking in system_rankings]).T
        for system, system_rankings in rankings.items()
    }
    means = [
        [system, *(f"{column.mean():.3f}" for column in system_columns)] for system, system_columns in columns.items()
    ]
    differences = [
        [system, *(str(paired_difference(*pair)) for pair in zip(system_columns, columns[BASELINE], strict=True))]
        for system, system_columns in columns.items()
        if system != BASELINE
    ]
    return [
        Grid(f"{name}: {len(baseline)} {what}", headings, means),
        Grid(f"{name}, {what}: difference to {BASELINE}", headings, differences),
    ]


def _evidence_grids(sets: Sequence[SetFigures]) -> list[Grid]:
    headings = ["set", "budget", "primary place", "places", "tokens, most", "overhead"]
    rows = []
    for figures in sets:
        for system, evidence in ((system, evidence) for system, evidence in figures.evidence.items() if evidence):
            primary = sum(each.is_primary_found for each in evidence)
            found_places, places = sum(each.places_found for each in evidence), sum(each.places for each in evidence)
            tokens, texts = [each.tokens for each in evidence], sum(each.text_tokens for each in evidence)
            shares = (f"{primary / len(evidence):.2f}", f"{found_places / places:.2f}")
            rows.append([figures.name, system, *shares, f"{max(tokens):,}", f"{sum(tokens) / max(texts, 1):.2f}"])
    return [Grid("Evidence", headings, rows)] if rows else []


def _relations_grid(figures: SetFigures, budget: int) -> Grid:
    rows = []
    for kind in ("all", *sorted({each.kind for each in figures.relations})):
        of_kind = [each for each in figures.relations if kind in ("all", each.kind)]
        counts = len(of_kind), sum(each.by_one for each in of_kind), sum(each.by_two for each in of_kind)
        rows.append([kind, *map(str, counts)])
    rows.append(
        [f"shown by evidence of {budget:,} tokens", str(len(figures.relations)), str(figures.relations_shown), ""]
    )
    return Grid(f"{figures.name}: relations found", ["kind", "relations", "one edge", "within two"], rows)
