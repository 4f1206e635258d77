"""Slack's `<...>` and entities as readable text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_ingest.slack.slack_directory import SlackNames
from groundwire_ingest.slack.slack_messages import readable

NAMES = SlackNames({"U1": "Ada <3", "U2": ""}, {"C1": "general"})


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("<@U1> and <@U1|ada>", "@Ada <3 and @Ada <3"),
        ("<@U9> and <@U9|eve> and <@U2>", "@U9 and @eve and @U2"),
        ("<#C1|renamed> <#C1|> <#C9|x> <#C9>", "#general #general #C9 #C9"),
        ("<!here> <!channel> <!everyone>", "@here @channel @everyone"),
        ("<!subteam^S1|@admins> <!subteam^S1>", "@admins @S1"),
        ("<!date^1392734382^{date}|Feb 18, 2014>", "Feb 18, 2014"),
        ("<https://x.y/a?b=1&amp;c=2>", "https://x.y/a?b=1&c=2"),
        ("<https://x.y|the &lt;guide&gt;>", "the <guide> (https://x.y)"),
        ("<http://shop.io|shop.io>", "http://shop.io"),
        ("<mailto:a@b.c|a@b.c> <tel:123|call us>", "a@b.c call us (123)"),
        ("a &lt; b &amp;&amp; b &gt; c", "a < b && b > c"),
        ("&amp;lt; &nbsp; &amp", "&lt; &nbsp; &amp"),
        ("&lt;@U1&gt;", "<@U1>"),
        ("<> <|x> < >", "<> <|x>  "),
        ("*bold* `x` :tada:", "*bold* `x` :tada:"),
    ],
)
def test_markup(text: str, plain: str) -> None:
    assert readable(text, NAMES) == plain


@given(st.text())
def test_text_that_slack_has_escaped_comes_back(text: str) -> None:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert readable(escaped, NAMES) == text
