"""The defaults that the contract and the table of settings state are those of the server."""

import re
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from groundwire_client import _defaults as client
from groundwire_server.domain.query.query import Freshness
from groundwire_server.domain.query.query_parameters import LEAST_LIST_LIMIT, OVERFETCH, TRGM_LIMIT, QueryDefaults
from groundwire_server.domain.query.ranking_parameters import OLDER_DEFINITION_FACTOR, applied_ranking
from groundwire_server.domain.search.search import DEFAULT_RRF_K, Retriever

ROOT = Path(__file__).parents[2]
DEFAULTS = QueryDefaults()
FRESHNESS = Freshness()
LIST_LIMIT = f"{OVERFETCH} times top_k and at least {LEAST_LIST_LIMIT} when absent"
CONFIGURED = {
    "HybridParameters.top_k": f"({DEFAULTS.top_k} unless configured)",
    "HybridParameters.alpha": f"({DEFAULTS.alpha} unless configured)",
    "HybridParameters.min_sim": f"({DEFAULTS.min_sim} unless configured)",
    "HybridParameters.vec_limit": LIST_LIMIT,
    "HybridParameters.lex_limit": LIST_LIMIT,
    "HybridParameters.trgm_limit": f"{TRGM_LIMIT} when absent",
    "HybridParameters.diversify_strength": f"({DEFAULTS.diversify_strength:g} unless configured)",
    "QueryRequest.rrf_k": f"{DEFAULT_RRF_K} when absent",
    "QueryRequest.freshness_half_life_days": f"{FRESHNESS.half_life_days:g} when absent",
    "QueryRequest.freshness_weight": f"{FRESHNESS.weight} when absent",
}
APPLIED = replace(applied_ranking(frozenset(), tuple(Retriever)), older_definition_factor=OLDER_DEFINITION_FACTOR)
RANKING = {
    f"RankingParameters.{name}": f"It is {value}."
    for name, value in asdict(APPLIED).items()
    if name != "purpose_factors"  # a table in `docs/purposes.md` has them
}


def comment_of(name: str) -> str:
    """The comment of a field of `query.proto`, as one line."""
    message, field = name.split(".")
    proto = (ROOT / "protos" / "groundwire" / "v1" / "query.proto").read_text(encoding="utf-8")
    body = proto.partition(f"message {message} {{")[2].partition("\n}")[0]
    match = re.search(rf"((?:  //[^\n]*\n)+)  (?:optional )?\w+ {field} = ", body)
    assert match is not None
    return " ".join(line.strip(" /") for line in match[1].splitlines())


@pytest.mark.parametrize(("name", "stated"), (CONFIGURED | RANKING).items())
def test_the_contract_states_the_default(name: str, stated: str) -> None:
    assert stated in comment_of(name)


@pytest.mark.parametrize(
    ("settings", "stated"),
    [
        ("`default_alpha`", f"{DEFAULTS.alpha}"),
        ("`default_min_sim`", f"{DEFAULTS.min_sim}"),
        ("`default_top_k`", f"{DEFAULTS.top_k} or `max_top_k`"),
    ],
)
def test_the_table_of_settings_states_the_default(settings: str, stated: str) -> None:
    assert f"| {settings} | {stated} |" in (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "stated",
    [
        f"and returns {client.TOP_K} hits",
        f"walks {client.MAX_DEPTH} edges, {client.MAX_NODES} nodes",
        f"returns {client.MAX_PATHS} paths of at most {client.MAX_HOPS} hops",
        f"reaches {client.MAX_NODES_BETWEEN:,} nodes between the ends",
        f"return at most {client.BUDGET_TOKENS:,} tokens",
        f"gives up after {client.TIMEOUT:g} seconds",
    ],
)
def test_the_clients_page_states_the_default(stated: str) -> None:
    assert stated in " ".join((ROOT / "docs" / "client.md").read_text(encoding="utf-8").split())


@pytest.mark.parametrize(
    ("file", "stated"),
    [
        ("GroundwireOptions.cs", f"BudgetTokens {{ get; set; }} = {client.BUDGET_TOKENS:_};"),
        ("GroundwireOptions.cs", f"Timeout {{ get; set; }} = TimeSpan.FromSeconds({client.TIMEOUT:g});"),
    ],
)
def test_the_dotnet_client_has_the_defaults_of_the_python_client(file: str, stated: str) -> None:
    assert stated in (ROOT / "client" / "dotnet" / "Groundwire.Client" / file).read_text(encoding="utf-8")
