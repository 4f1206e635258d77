"""What `--help` says of defaults is what the server does."""

import re

import pytest
from typer.testing import CliRunner

from groundwire_client.cli import app
from groundwire_server.domain.query.query import Freshness
from groundwire_server.domain.query.query_parameters import TRGM_LIMIT, QueryDefaults
from groundwire_server.domain.search.search import DEFAULT_RRF_K

DEFAULTS = QueryDefaults()


def help_of(command: str) -> str:
    """The help on a wide terminal, with single spaces."""
    shown = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "400", "TERM": "dumb"})
    assert shown.exit_code == 0
    return re.sub(r"[ \t]+", " ", shown.stdout)


@pytest.mark.parametrize(
    ("option", "default"),
    [
        ("--top-k", DEFAULTS.top_k),
        ("--alpha", DEFAULTS.alpha),
        ("--min-sim", DEFAULTS.min_sim),
        ("--diversify", DEFAULTS.diversify_strength),
        ("--trgm-limit", TRGM_LIMIT),
        ("--rrf-k", DEFAULT_RRF_K),
        ("--half-life", Freshness().half_life_days),
        ("--freshness", Freshness().weight),
    ],
)
def test_defaults_are_those_of_the_server(option: str, default: float) -> None:
    (line,) = [line for line in help_of("query").splitlines() if option in line.split()]
    assert re.search(rf"\[default: \(?{default:g}[,;)\] ]", line), line


def test_the_first_screen_of_query_has_what_people_use() -> None:
    first = help_of("query").partition("Ranking")[0]
    listed = re.findall(r"^\W*(--[a-z-]+)", first, re.MULTILINE)
    assert set(listed) == set(
        "--top-k --texts --explain --rerank --budget-tokens --repository --branch --index --json --ids --help".split()
    )
