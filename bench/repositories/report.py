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
    for one in sets:
        tables += _ranking_grids(f"{one.name}, {one.nodes:,} nodes", "questions", one.rankings)
        tables += _ranking_grids(f"{one.name}, {one.nodes:,} nodes", "subjects of commits", one.changes)
    asked = [one.changes for one in sets if one.changes[BASELINE]]
    if len(asked) > 1:
        pooled = {system: [each for one in asked for each in one[system]] for system in asked[0]}
        tables += _ranking_grids(f"{len(asked)} sets", "subjects of commits", pooled)
    relations = [_relations_grid(one, budget) for one in sets if one.relations]
    return [*tables, *_evidence_grids(sets), *relations]


def _ranking_grids(name: str, asked: str, rankings: Mapping[str, Sequence[Found]]) -> list[Grid]:
    """The means of each ranking, and the differences to the baseline; nothing where nothing was asked."""
    if not (baseline := rankings[BASELINE]):
        return []
    headings = ["search", *baseline[0]]
    columns = {system: np.array([list(one.values()) for one in found]).T for system, found in rankings.items()}
    means = [[system, *(f"{column.mean():.3f}" for column in own)] for system, own in columns.items()]
    differences = [
        [system, *(str(paired_difference(*pair)) for pair in zip(own, columns[BASELINE], strict=True))]
        for system, own in columns.items()
        if system != BASELINE
    ]
    return [
        Grid(f"{name}: {len(baseline)} {asked}", headings, means),
        Grid(f"{name}, {asked}: difference to {BASELINE}", headings, differences),
    ]


def _evidence_grids(sets: Sequence[SetFigures]) -> list[Grid]:
    headings = ["set", "budget", "primary place", "places", "tokens, most", "overhead"]
    rows = []
    for one in sets:
        for system, evidence in ((system, evidence) for system, evidence in one.evidence.items() if evidence):
            primary = sum(each.is_primary_found for each in evidence)
            found, places = sum(each.found for each in evidence), sum(each.places for each in evidence)
            tokens, texts = [each.tokens for each in evidence], sum(each.text_tokens for each in evidence)
            shares = (f"{primary / len(evidence):.2f}", f"{found / places:.2f}")
            rows.append([one.name, system, *shares, f"{max(tokens):,}", f"{sum(tokens) / max(texts, 1):.2f}"])
    return [Grid("Evidence", headings, rows)] if rows else []


def _relations_grid(one: SetFigures, budget: int) -> Grid:
    rows = []
    for kind in ("all", *sorted({each.kind for each in one.relations})):
        found = [each for each in one.relations if kind in ("all", each.kind)]
        counts = len(found), sum(each.by_one for each in found), sum(each.by_two for each in found)
        rows.append([kind, *map(str, counts)])
    rows.append([f"shown by evidence of {budget:,} tokens", str(len(one.relations)), str(one.relations_shown), ""])
    return Grid(f"{one.name}: relations found", ["kind", "relations", "one edge", "within two"], rows)
