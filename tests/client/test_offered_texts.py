from groundwire_client import MatchMeta, ParentContext, QueryMatch, SkipReason, offered_texts


def test_the_texts_of_matches_come_before_those_of_what_contains_them() -> None:
    whole = ParentContext(
        id="whole", text_omitted=True, omit_reason=SkipReason.SKIP_REASON_OVER_BUDGET, symbol="Invoice"
    )
    matches = [
        QueryMatch(id="first", text="a", meta=MatchMeta(parents=[whole])),
        QueryMatch(id="second", text="b", meta=MatchMeta(parents=[whole])),
    ]
    offered = list(offered_texts(matches))
    assert [(text.node.id, text.match.id, text.is_of_match, text.node.text_omitted) for text in offered] == [
        ("first", "first", True, False),
        ("second", "second", True, False),
        ("whole", "first", False, True),
        ("whole", "second", False, True),
    ]
