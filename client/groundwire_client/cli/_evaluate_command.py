"""`evaluate`: how well indexes answer questions whose places a team knows."""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from groundwire.v1.scope_pb2 import IndexScope
from groundwire_client._client import GroundwireClient
from groundwire_client._defaults import BUDGET_TOKENS
from groundwire_client._helpers import pinned
from groundwire_client.cli._call_options import CallOptions
from groundwire_client.cli._command_signatures import with_options
from groundwire_client.cli._parts import show

_FIRST, _DEPTH = 5, 10
_RESAMPLES = 2_000


@dataclass(frozen=True, slots=True)
class _Question:
    """A question and the places of its answer, the primary one first; each is some alternatives."""

    text: str
    places: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class _Result:
    """Of one question: 1 / rank of the primary place, 0 beyond the first ten, and the share of places in evidence."""

    reciprocal_rank: float
    covered: float


@with_options(CallOptions)
def evaluate(
    options: CallOptions,
    questions: Annotated[
        Path,
        typer.Argument(
            help="Lines of QUESTION, a tab, and PLACES: PATH#SYMBOL or PATH#, `;` between places, `|` between "
            "alternatives, the most important place first.",
            exists=True,
            dir_okay=False,
        ),
    ],
    against: Annotated[
        list[str] | None, typer.Option(metavar="VERSION", help="Another index version of the scope; repeatable.")
    ] = None,
    budget_tokens: Annotated[int, typer.Option(help="The most tokens of the evidence.")] = BUDGET_TOKENS,
) -> None:
    """Ask questions whose places are known, and show how well one or more index versions answer them."""
    asked_questions = _read(questions)

    def results(client: GroundwireClient) -> list[tuple[IndexScope, list[_Result]]]:
        scope = options.scope_of(client)
        scopes = [scope, *(pinned(scope, version) for version in against or ())]
        return [
            (asked_scope, [_ask(client, asked_scope, question, budget_tokens) for question in asked_questions])
            for asked_scope in scopes
        ]

    results_of_scopes = options.called(results, timeout=options.timeout, access=options.access)
    table = Table("index", f"method@{_FIRST}", f"MRR@{_DEPTH}", f"evidence, {budget_tokens} tokens", box=SIMPLE_HEAD)
    for scope, of_scope in results_of_scopes:
        columns = (
            [float(result.reciprocal_rank >= 1 / _FIRST) for result in of_scope],
            [result.reciprocal_rank for result in of_scope],
            [result.covered for result in of_scope],
        )
        table.add_row(scope.active_index or "active", *map(_mean, columns))
    remark = f"{len(asked_questions)} questions; in brackets 95 % intervals over the questions, by bootstrap"
    show([table, Text(remark)])


def _read(path: Path) -> list[_Question]:
    """Raises typer.BadParameter for a line that breaks a rule (exit code 2)."""
    rule = "must be a question, a tab, and places such as src/a.py#run"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise typer.BadParameter(f"{path}: {error}") from error
    read_questions = []
    for number, line in enumerate(lines, start=1):
        question, _, place_list = line.partition("\t")
        places = [place.split("|") for place in place_list.split(";")]
        if not question.strip() or not all("#" in alternative for place in places for alternative in place):
            raise typer.BadParameter(f"{path}: line {number}: {rule}")
        read_questions.append(_Question(question, places))
    if not read_questions:
        raise typer.BadParameter(f"{path}: has no line; each {rule}")
    return read_questions


def _ask(client: GroundwireClient, scope: IndexScope, question: _Question, budget_tokens: int) -> _Result:
    answer = client.query(scope, question.text, top_k=_DEPTH, include_parents=False, budget_tokens=1)
    primary = question.places[0]
    ranks = [match.rank for match in answer.matches if _answers(match.location.path, match.symbol, primary)]
    texts = client.evidence(pinned(scope, answer.index), question.text, budget_tokens).texts
    covered = sum(any(_answers(text.path, text.symbol, place) for text in texts) for place in question.places)
    return _Result(1 / min(ranks) if ranks else 0.0, covered / len(question.places))


def _answers(path: str, symbol: str, alternatives: Sequence[str]) -> bool:
    """True if a node is in the file of one of the places, and its own name is the symbol of the place."""
    name = re.split(r"[.:#]", symbol.partition("(")[0])[-1]
    places = (place.strip().rpartition("#") for place in alternatives)
    return any(f"/{path}".endswith(f"/{file}") and wanted in ("", name) for file, _, wanted in places)


def _mean(values: Sequence[float]) -> str:
    drawn = random.Random(0)
    means = sorted(fmean(drawn.choices(values, k=len(values))) for _ in range(_RESAMPLES))
    low, high = means[_RESAMPLES // 40], means[-_RESAMPLES // 40 - 1]
    return f"{fmean(values):.3f} [{low:.3f}, {high:.3f}]"
