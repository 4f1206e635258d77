"""`python -m bench.agents`: the tokens that scripted agents read until they have the right text. See `README.md`."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import log
from pathlib import Path
from statistics import fmean, median
from typing import Annotated, Any, TypeAlias

import typer
from mcp import Client, StdioServerParameters
from mcp.types import TextContent

from bench.repositories.baseline import chunks_of
from bench.repositories.indexing import unpack
from bench.repositories.places import Piece, answers
from bench.repositories.tables import Question, TableError, read_questions
from bench.shared.programs import BRANCH, GROUNDWIRE, build_index, running, serve_command
from bench.shared.results import Grid, explained, write_results
from groundwire.tokens import TokenCounter
from groundwire_index.embedding.model_names import DEFAULT_MODEL

MOST_TOKENS = 40_000
"""An agent gives up after this many tokens."""
WINDOW_LINES = 200
_LIMITS = (2_000, 5_000, MOST_TOKENS)
_LISTED_FILES = 20
_READ_AT_ONCE = 3
_MANY_HITS = 50
_COMMON_WORDS = frozenset(
    "after all and any are back before both but can does each else ends for from get gets has have here how into its "
    "just like made make more much not off one only our out over same some than that the their them then there they "
    "this two under use used was way were what when where which while who whose why will with without you your".split()
)


@dataclass(frozen=True, slots=True)
class Reading:
    """A result of a tool: its text, which the model reads, the same as JSON, and the sources that it shows."""

    text: str
    structured: Mapping[str, Any]
    pieces: Sequence[Piece]


@dataclass(frozen=True, slots=True)
class Spent:
    """The tokens and calls of an agent until it had read the primary place, or gave up."""

    found: bool
    tokens: int
    calls: int
    json_tokens: int


Agent: TypeAlias = Callable[[str], AsyncIterator[Reading]]


async def spent(readings: AsyncIterator[Reading], question: Question) -> Spent:
    """Counts the results of tools up to the first that shows the primary place."""
    count = TokenCounter().count
    tokens = calls = json_tokens = 0
    async for reading in readings:
        calls += 1
        tokens += count(reading.text)
        json_tokens += count(json.dumps(reading.structured, ensure_ascii=False) if reading.structured else reading.text)
        if any(answers(piece, question.primary) for piece in reading.pieces):
            return Spent(True, tokens, calls, json_tokens)
        if tokens >= MOST_TOKENS:
            break
    return Spent(False, tokens, calls, json_tokens)


def asking(client: Client) -> Agent:
    """Asks the question, reads what was left out, then searches and reads the other hits."""

    async def readings(text: str) -> AsyncIterator[Reading]:
        asked = await _called(client, "ask", query=text)
        yield asked
        left_out = _places(asked, "left_out")
        async for reading in _read(client, left_out):
            yield reading
        found = await _called(client, "search_code", query=text, top_k=_MANY_HITS)
        yield found
        seen = {*_places(asked, "texts"), *left_out}
        async for reading in _read(client, [place for place in _places(found, "hits") if place not in seen]):
            yield reading

    return readings


def searching(client: Client) -> Agent:
    """Searches and reads the hits, best first; then those of a longer search."""

    async def readings(text: str) -> AsyncIterator[Reading]:
        seen: list[str] = []
        for more in ({}, {"top_k": _MANY_HITS}):
            found = await _called(client, "search_code", query=text, **more)
            yield found
            places = [place for place in _places(found, "hits") if place not in seen]
            seen += places
            async for reading in _read(client, places):
                yield reading

    return readings


def grepping(source: Path) -> Agent:
    """Searches files for the words of the question, and reads the windows with the rarest words first."""
    windows = chunks_of(source, WINDOW_LINES)
    folded = [window.text.lower() for window in windows]
    files = len({window.path for window in windows})

    async def readings(text: str) -> AsyncIterator[Reading]:
        hits = {word: [number for number, one in enumerate(folded) if word in one] for word in keywords(text)}
        scores = dict.fromkeys(range(len(windows)), 0.0)
        for numbers in hits.values():
            rarity = log(files / max(1, len({windows[number].path for number in numbers})))
            for number in numbers:
                scores[number] += rarity
        ranked = sorted((number for number in scores if scores[number] > 0), key=lambda number: -scores[number])
        listed = list(dict.fromkeys(windows[number].path for number in ranked))[:_LISTED_FILES]
        yield Reading("\n".join(listed), {}, ())
        for window in (windows[number] for number in ranked):
            yield Reading(f"{window.path}\n{window.text}", {}, [window])

    return readings


def keywords(text: str) -> list[str]:
    """The words of a question that say something, in lower case and without the commonest endings."""
    words = (word for word in re.findall(r"[a-z_0-9]{3,}", text.lower()) if word not in _COMMON_WORDS)
    return list(dict.fromkeys(re.sub(r"(?<=\w{4})(?:ing|ed|es|s)$", "", word) for word in words))


async def _read(client: Client, places: Sequence[str]) -> AsyncIterator[Reading]:
    for start in range(0, len(places), _READ_AT_ONCE):
        yield await _called(client, "read_code", nodes=places[start : start + _READ_AT_ONCE])


async def _called(client: Client, tool: str, **arguments: object) -> Reading:
    """Raises RuntimeError if the tool fails."""
    result = await client.call_tool(tool, arguments)
    text = "\n".join(part.text for part in result.content if isinstance(part, TextContent))
    if result.is_error:
        raise RuntimeError(f"{tool}: {text}")
    structured = result.structured_content or {}
    pieces = [
        Piece(one["place"].rpartition(":")[0] or one["place"], one.get("symbol", ""), one["text"])
        for one in structured.get("texts", ())
        if "place" in one
    ]
    return Reading(text, structured, pieces)


def _places(reading: Reading, part: str) -> list[str]:
    return [one.get("place") or one["id"] for one in reading.structured.get(part, ())]


async def ask_all(
    address: str, repository: str, source: Path, questions: Sequence[Question]
) -> tuple[dict[str, list[Spent]], int]:
    """The tokens of each agent for each question, and of the tools' descriptions."""
    arguments = ["mcp", "--server", address, "--scope", f"{repository}::{BRANCH}"]
    async with Client(StdioServerParameters(command=str(GROUNDWIRE), args=arguments)) as client:
        shown = {"name", "description", "input_schema"}
        tools = [tool.model_dump_json(by_alias=True, include=shown) for tool in (await client.list_tools()).tools]
        described = TokenCounter().count("\n".join([client.instructions or "", *tools]))
        agents = {"ask": asking(client), "search and read": searching(client), "grep": grepping(source)}
        return {
            name: [await spent(agent(one.text), one) for one in questions] for name, agent in agents.items()
        }, described


def grid(figures: Mapping[str, Mapping[str, Sequence[Spent]]]) -> Grid:
    """A row for each set and agent; the tokens of a question without success count as well."""
    headings = ["set, agent", *(f"within {limit:,}" for limit in _LIMITS), "median", "mean", "mean as JSON", "calls"]
    rows = []
    for name, agents in figures.items():
        for agent, all_spent in agents.items():
            within = [sum(one.found and one.tokens <= limit for one in all_spent) for limit in _LIMITS]
            tokens = [one.tokens for one in all_spent]
            means = (median(tokens), fmean(tokens), fmean(one.json_tokens for one in all_spent))
            calls = f"{fmean(one.calls for one in all_spent):.1f}"
            rows.append([f"{name}, {agent}", *map(str, within), *(f"{mean:,.0f}" for mean in means), calls])
    return Grid("Tokens until the primary place is in the context", headings, rows)


def main(
    folders: Annotated[
        list[Path], typer.Argument(help="Each holds source.tar.gz and questions.tsv.", exists=True, file_okay=False)
    ],
    out: Annotated[Path, typer.Option(help="The folder for the sources, the indexes and the results.")],
) -> None:
    """Let scripted agents look for the answers of repositories' questions, over MCP and with grep."""
    figures: dict[str, Mapping[str, Sequence[Spent]]] = {}
    data, described = out / "data", 0
    with explained(TableError):
        questions = {folder.resolve().name: read_questions(folder / "questions.tsv") for folder in folders}
        sources = {folder.resolve().name: unpack(folder / "source.tar.gz", out / folder.name) for folder in folders}
        for name, source in sources.items():
            build_index(source, name, data, DEFAULT_MODEL)
        with running(serve_command(data, embedder=DEFAULT_MODEL), out / "server.log") as server:
            for name, source in sources.items():
                figures[name], described = asyncio.run(ask_all(server.address, name, source, questions[name]))
        content = {
            name: {agent: list(map(asdict, one)) for agent, one in agents.items()} for name, agents in figures.items()
        }
        notes = f"The names, descriptions and arguments of all tools have {described:,} tokens, once a session.\n"
        write_results(out, "agents", [grid(figures)], {"sets": content, "descriptions": described}, notes)


if __name__ == "__main__":
    typer.run(main)
