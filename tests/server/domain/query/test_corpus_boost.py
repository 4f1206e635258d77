"""The product of the boosts that apply, against the specification's loop over rules and results."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.domain.query.corpus_boost import BoostRule, boost_of

corpus_types = st.sampled_from(["CODE_DEPLOY", "DOC_RUNBOOK", "CONVO_SLACK", "DOC_README", ""])
rules = st.lists(
    st.builds(
        BoostRule,
        name=st.just("rule"),
        keywords=st.just(("word",)),
        corpus_types=st.lists(corpus_types, max_size=3).map(tuple),
        multiplier=st.floats(0.01, 10),
    ),
    max_size=5,
)

DEPLOYMENT = BoostRule("deployment", ("deploy",), ("CODE_DEPLOY", "DOC_RUNBOOK"), 1.3)
PROCEDURE = BoostRule("procedure", ("how to",), ("DOC_RUNBOOK", "DOC_README"), 1.2)


@given(rules=rules, corpus_type=corpus_types)
def test_a_boost_is_the_product_of_the_rules_that_name_the_corpus(rules: list[BoostRule], corpus_type: str) -> None:
    expected = Fraction(1)
    for rule in rules:
        for named in set(rule.corpus_types):
            if named == corpus_type:
                expected *= Fraction(rule.multiplier)
    assert boost_of(rules, corpus_type) == pytest.approx(float(expected), rel=1e-12)


@pytest.mark.parametrize(
    ("corpus_type", "expected"),
    [("CODE_DEPLOY", 1.3), ("DOC_README", 1.2), ("DOC_RUNBOOK", 1.3 * 1.2), ("CODE_LOGIC", 1.0), ("", 1.0)],
)
def test_boost_multiplier_applied(corpus_type: str, expected: float) -> None:
    assert boost_of([DEPLOYMENT, PROCEDURE], corpus_type) == expected
    assert boost_of((), corpus_type) == 1.0


@pytest.mark.parametrize("corpus_type", ["CODE_LOGIC", "code_deploy", "CODE_DEPLOY_X", "CODE", ""])
def test_boost_preserves_non_matching(corpus_type: str) -> None:
    score = 0.123456789
    assert score * boost_of([DEPLOYMENT], corpus_type) == score
