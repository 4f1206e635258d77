"""Which rules a query calls for, and the file of an operator."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.text.prose_tokenizer import stems
from groundwire_server.domain.query.corpus_boost import BoostRule, boost_of
from groundwire_server.engine.corpus_boost import DEFAULT_BOOSTS_FILE, CorpusBoosts
from support.growth import check_linear

SHIPPED = CorpusBoosts.load(DEFAULT_BOOSTS_FILE)

words = st.sampled_from(["how", "to", "deploy", "deployment", "pods", "podcast", "a", "k8s", "the", "Steps"])


def names_called(query: str, boosts: CorpusBoosts = SHIPPED) -> list[str]:
    return [rule.name for rule in boosts.called(query)]


def boost(query: str, corpus_type: str) -> float:
    return boost_of(SHIPPED.called(query), corpus_type)


def test_deploy_keyword_boosts_deploy_chunks() -> None:
    assert boost("k8s deployment", "CODE_DEPLOY") == 1.3
    assert boost("k8s deployment", "DOC_RUNBOOK") == 1.3


def test_incident_keyword_boosts_slack() -> None:
    assert boost("incident response", "CONVO_SLACK") == 1.3


def test_no_keywords_no_boost() -> None:
    assert names_called("how does auth work") == []
    assert boost("how does auth work", "DOC_RUNBOOK") == 1.0


def test_boost_multiplier_applied() -> None:
    score = 0.25
    assert score * boost("deploy steps", "DOC_RUNBOOK") == score * (1.3 * 1.2)
    assert score * boost("deploy steps", "DOC_README") == score * 1.2


def test_boost_preserves_non_matching() -> None:
    assert boost("deploy steps after the incident", "CODE_LOGIC") == 1.0


def test_the_packaged_rules_hold_those_of_the_specification() -> None:
    expected = (
        BoostRule("deployment", ("deploy", "k8s", "pod", "container", "helm"), ("CODE_DEPLOY", "DOC_RUNBOOK"), 1.3),
        BoostRule("incident", ("incident", "broke", "down", "outage", "alert"), ("CONVO_SLACK", "DOC_RUNBOOK"), 1.3),
        BoostRule("procedure", ("how to", "steps", "procedure", "guide"), ("DOC_RUNBOOK", "DOC_README"), 1.2),
    )
    for rule, packaged in zip(expected, SHIPPED.called("deploy incident guide"), strict=True):
        assert set(rule.keywords) <= set(packaged.keywords)
        same = ("name", "corpus_types", "multiplier")
        assert [getattr(packaged, name) for name in same] == [getattr(rule, name) for name in same]


@pytest.mark.parametrize(
    ("query", "called"),
    [
        ("Deploying the HELM chart", ["deployment"]),
        ("deployments", ["deployment"]),
        ("which pods restart", ["deployment"]),
        ("k8s", ["deployment"]),
        ("deployToCluster", ["deployment"]),
        ("containers", ["deployment"]),
        ("the site is down", ["incident"]),
        ("two outages", ["incident"]),
        ("How to log in", ["procedure"]),
        ("how\n to: log in", ["procedure"]),
        ("a step by step tutorial", ["procedure"]),
        ("who broke the deploy? how to fix it", ["deployment", "incident", "procedure"]),
        ("download a file", []),
        ("podcast feed", []),
        ("how it came to be", []),
        ("to how", []),
        ("show tokens", []),
        ("", []),
        ("?!", []),
    ],
)
def test_a_keyword_is_called_for_by_its_words(query: str, called: list[str]) -> None:
    assert names_called(query) == called


INCIDENTS = [
    "the build is broken", "who broke the build", "downtime of the shop", "planned downtimes", "the API is down",
    "auth-service down", "is the checkout down?", "why did payments go down last night", "the site went down",
    "down since Monday", "what took down the cluster", "what brought down the database", "two outages in May",
    "alerting is broken", "which alerts fired", "incident of last week",
]  # fmt: skip
DEPLOYMENTS = [
    "redeploy the billing service", "redeploying", "after the redeployment", "undeploy the old version",
    "kubernetes manifests", "kubectl apply", "which pods restart", "containerized services", "helm values",
]  # fmt: skip
PROCEDURES = ["howto for new starters", "how to rotate keys", "a step by step guide"]
NEITHER = [
    "download a file", "downloads of the podcast", "podcast feed", "break down the method", "breaks down the total",
    "the request is broken down into parts", "scroll down", "onKeyDown", "mouseDown handler", "drop-down menu",
    "drill down into a report", "walk down the tree", "passes the context down to children", "a top-down parser",
    "countdown timer", "count down from ten", "graceful shutdown", "how does the server shut down", "slow down retries",
    "scale down to zero", "downstream services", "downcast to a subtype", "write down the decision", "markdown parser",
    "where does it tear down fixtures", "the stored procedure of invoices", "dependency injection container",
    "register it in the IoC container", "which class contains the settings", "what a page may contain",
    "redeem a coupon", "podium finish", "breakpoint of the debugger", "touchdown",
]  # fmt: skip


@pytest.mark.parametrize(
    ("query", "called"),
    [
        *((query, ["incident"]) for query in INCIDENTS),
        *((query, ["deployment"]) for query in DEPLOYMENTS),
        *((query, ["procedure"]) for query in PROCEDURES),
        *((query, []) for query in NEITHER),
    ],
)
def test_a_rule_is_called_by_inflections_and_compounds_and_not_by_look_alikes(query: str, called: list[str]) -> None:
    assert names_called(query) == called


def test_a_keyword_counts_outside_of_the_phrases_that_except_it() -> None:
    rule = BoostRule("rule", ("down", "took down"), ("DOC_README",), 2.0, unless=("break down", "down the", "downs"))
    boosts = CorpusBoosts((rule,))
    for query in ("down", "break it down", "it took down the site", "down or break down", "break down down"):
        assert boosts.called(query) == (rule,), query
    for query in ("breaks down", "breaking down the site", "Down the hill", "breakdown", "ups and downs", "Downs", ""):
        assert boosts.called(query) == (), query


def test_a_long_query_of_nothing_but_exceptions_is_read_in_one_pass() -> None:
    """An operator may admit a million characters; comparing each keyword with each exception would take minutes."""
    assert names_called("down a " * 20_000) == []
    check_linear(lambda repeats: names_called("down a " * repeats), 1_000)


@given(query=st.lists(words, max_size=6).map(" ".join), keyword=st.lists(words, min_size=1, max_size=3).map(" ".join))
def test_a_keyword_is_called_for_when_its_stems_stand_in_a_row(query: str, keyword: str) -> None:
    rule = BoostRule("rule", (keyword,), ("DOC_README",), 2.0)
    in_a_row = f" {' '.join(stems(keyword))} " in f" {' '.join(stems(query))} "
    assert CorpusBoosts((rule,)).called(query) == ((rule,) if in_a_row else ())


GOOD = "rules:\n  - {name: billing, keywords: [invoice run], corpus_types: [DOC_BILLING], multiplier: 2}\n"


def written(folder: Path, content: str) -> Path:
    path = folder / "boosts.yaml"
    path.write_text(content, encoding="utf-8")
    return path


def test_an_operators_file_replaces_the_packaged_rules(tmp_path: Path) -> None:
    boosts = CorpusBoosts.load(written(tmp_path, GOOD))
    assert boosts.called("the invoice runs") == (BoostRule("billing", ("invoice run",), ("DOC_BILLING",), 2.0),)
    assert boosts.called("deploy the invoice") == ()


def test_no_rules_switch_boosts_off(tmp_path: Path) -> None:
    assert CorpusBoosts.load(written(tmp_path, "rules: []")).called("deploy") == ()


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        pytest.param("multiplier: 2", "multiplier: 0", "rules[0].multiplier: is 0; must be greater than 0", id="zero"),
        pytest.param("multiplier: 2", "multiplier: -1", "rules[0].multiplier: is -1", id="negative"),
        pytest.param("multiplier: 2", "multiplier: 10.5", "must be less than or equal to 10", id="too much"),
        pytest.param("multiplier: 2", "multiplier: .inf", ".inf is no finite number", id="infinite"),
        pytest.param("multiplier: 2", "multiplier: .nan", ".nan is no finite number", id="no number"),
        pytest.param("multiplier: 2", "multiplier: '2'", "rules[0].multiplier: is '2'", id="text for a number"),
        pytest.param("multiplier: 2", "multiplier: true", "rules[0].multiplier: is True", id="truth for a number"),
        pytest.param(", multiplier: 2", "", "rules[0].multiplier: is required", id="no multiplier"),
        pytest.param("name: billing, ", "", "rules[0].name: is required", id="no name"),
        pytest.param("name: billing", "name: ''", "rules[0].name: is ''", id="an empty name"),
        pytest.param("[invoice run]", "[]", "rules[0].keywords: is []", id="no keywords"),
        pytest.param("[invoice run]", "invoice", "rules[0].keywords: is 'invoice'", id="a keyword for a list"),
        pytest.param("[invoice run]", "[true]", "rules[0].keywords[0]: is True", id="truth for a keyword"),
        pytest.param("[invoice run]", "['']", "rules[0].keywords[0]: is ''", id="an empty keyword"),
        pytest.param("[invoice run]", "['?!']", "rules[0].keywords: '?!': holds no word", id="a keyword without words"),
        pytest.param("[invoice run]", "[a], unless: ['?!']", "rules[0].unless: '?!': holds no word", id="no word"),
        pytest.param("[invoice run]", "[a], unless: down", "rules[0].unless: is 'down'", id="a phrase for a list"),
        pytest.param("[DOC_BILLING]", "[]", "rules[0].corpus_types: is []", id="no corpus types"),
        pytest.param("multiplier", "weight", "rules[0].weight: is no key", id="an unknown key of a rule"),
        pytest.param("rules:", "boosts:", "boosts: is no key", id="an unknown key of the file"),
        pytest.param(GOOD, "rules: [billing]", "rules[0]: must be a mapping", id="a rule that is text"),
        pytest.param(GOOD, "rules: 3", "rules: is 3", id="rules that are a number"),
        pytest.param(GOOD, "", "the file: must be a mapping", id="an empty file"),
        pytest.param(GOOD, "rules: [", "is not YAML", id="no YAML"),
        pytest.param(GOOD, "rules: !!python/object/apply:os.getcwd []", "is not YAML", id="a tag that runs code"),
        pytest.param(GOOD, GOOD + GOOD.removeprefix("rules:\n"), "rules[1].name: 'billing'", id="a name given twice"),
    ],
)
def test_a_file_that_breaks_a_rule_is_refused_by_place(tmp_path: Path, old: str, new: str, place: str) -> None:
    assert old in GOOD
    with pytest.raises(ValueError, match=r".+") as caught:
        CorpusBoosts.load(written(tmp_path, GOOD.replace(old, new)))
    assert place in str(caught.value)
    assert "\n" not in str(caught.value)


def test_every_problem_is_told_at_once(tmp_path: Path) -> None:
    broken = GOOD.replace("multiplier: 2", "multiplier: 0, wieght: 3")
    with pytest.raises(ValueError, match="multiplier") as caught:
        CorpusBoosts.load(written(tmp_path, broken))
    assert "rules[0].wieght: is no key" in str(caught.value)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "boosts.yaml"
    path.write_bytes(b"rules: [\xff\xfe\x00]")
    with pytest.raises(ValueError, match="is not YAML"):
        CorpusBoosts.load(path)


def test_a_file_that_cannot_be_read_is_the_systems_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        CorpusBoosts.load(tmp_path / "absent.yaml")
