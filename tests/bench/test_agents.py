"""Scripted agents: what they call, in which order, and what is counted until they have the right text."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from mcp import Client
from mcp.types import CallToolResult, TextContent

from bench.agents import MOST_TOKENS, WINDOW_LINES, Reading, Spent, asking, grepping, grid, keywords, searching, spent
from bench.repositories.places import Piece
from bench.repositories.tables import Place, Question

QUESTION = Question("Who adds to the basket?", ((Place("src/basket.py", "add"),),))
ADD = {"place": "src/basket.py:1-2", "symbol": "Basket.add", "text": "def add(item): ..."}
OTHER = {"place": "src/order.py:1-2", "symbol": "Order.pay", "text": "def pay(): ..."}
SEARCH = ("search_code", {"hits": [{"place": OTHER["place"]}, {"id": "shop::main::md::a"}, {"place": ADD["place"]}]})


class ScriptedTools:
    """Answers calls of tools in turn, and keeps them."""

    def __init__(self, *answers: tuple[str, Mapping[str, Any]]) -> None:
        self.answers, self.asked = list(answers), list[Any]()

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> CallToolResult:
        tool, answer = self.answers.pop(0)
        assert name == tool
        self.asked.append(arguments.get("nodes", arguments.get("top_k")))
        return CallToolResult(
            content=[TextContent(text="word " * 10)], structured_content=dict(answer), is_error="failed" in answer
        )


def test_it_asks_then_reads_what_was_left_out_then_what_a_search_finds() -> None:
    left_out = [{"place": "src/a.py:1"}, {"place": "src/b.py:1"}]
    tools = ScriptedTools(
        ("ask", {"texts": [OTHER], "left_out": left_out}),
        ("read_code", {"texts": []}),
        SEARCH,
        ("read_code", {"texts": [ADD]}),
    )
    found = asyncio.run(spent(asking(cast("Client", tools))(QUESTION.text), QUESTION))
    assert (found.found, found.calls, found.tokens) == (True, 4, 44)
    assert tools.asked == [None, ["src/a.py:1", "src/b.py:1"], 50, ["shop::main::md::a", ADD["place"]]]


def test_it_reads_the_hits_of_a_search_and_then_of_a_longer_one() -> None:
    more = ("search_code", {"hits": [{"place": ADD["place"]}, {"place": "src/c.py:1"}]})
    tools = ScriptedTools(SEARCH, ("read_code", {"texts": [OTHER]}), more, ("read_code", {"texts": []}))
    found = asyncio.run(spent(searching(cast("Client", tools))(QUESTION.text), QUESTION))
    assert (found.found, found.calls) == (False, 4)
    assert tools.asked == [None, [OTHER["place"], "shop::main::md::a", ADD["place"]], 50, ["src/c.py:1"]]


def test_a_failed_tool_ends_the_measurement() -> None:
    with pytest.raises(RuntimeError, match="ask: word"):
        asyncio.run(spent(asking(cast("Client", ScriptedTools(("ask", {"failed": True}))))("Who?"), QUESTION))


def test_grep_reads_the_windows_with_the_rarest_words_first(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "README.md").write_text("The basket adds up.\n")
    (tmp_path / "src" / "basket.py").write_text("\n" * WINDOW_LINES + "def add(item):\n    adding(item)\n")
    (tmp_path / "src" / "order.py").write_text("basket = 1\n")

    async def readings() -> list[Reading]:
        return [reading async for reading in grepping(tmp_path)("Who is adding to the basket?")]

    listed, *windows = asyncio.run(readings())
    assert listed.text.splitlines() == ["src/basket.py", "README.md", "src/order.py"]
    assert [window.pieces[0].path for window in windows] == ["src/basket.py", "README.md", "src/order.py"]
    found = asyncio.run(spent(grepping(tmp_path)("Who is adding to the basket?"), QUESTION))
    assert (found.found, found.calls) == (True, 2)


def test_keywords_have_no_common_words_and_endings() -> None:
    assert keywords("Which tables does it need when orders are placed?") == ["tabl", "need", "order", "plac"]


def test_it_gives_up() -> None:
    async def much() -> AsyncIterator[Reading]:
        for _ in range(3):
            yield Reading("word " * MOST_TOKENS, {"texts": "word"}, [Piece("src/order.py", "", "")])

    gave_up = asyncio.run(spent(much(), QUESTION))
    assert (gave_up.found, gave_up.calls, gave_up.json_tokens) == (False, 1, 6)
    assert gave_up.tokens >= MOST_TOKENS


def test_the_table_counts_what_is_found_within_a_limit() -> None:
    all_spent: Sequence[Spent] = [Spent(True, 1_000, 1, 1_200), Spent(False, 41_000, 9, 50_000)]
    row = ["flask, ask", "1", "1", "1", "21,000", "21,000", "25,600", "5.0"]
    assert grid({"flask": {"ask": all_spent}}).rows == [row]
