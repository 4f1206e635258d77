"""The content of each page for the parameters of its URL: the calls, and the values of its template."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from groundwire.printable_text import printable
from groundwire_client import (
    AsyncGroundwireClient,
    EdgeDirection,
    FusionMode,
    IndexScope,
    IndexVersion,
    Retriever,
    choices,
)
from groundwire_client.cli import scope_name
from groundwire_explore.describing import short_name
from groundwire_explore.exact_search import ExactMatches, find_lines
from groundwire_explore.exports import markdown, mermaid_graph
from groundwire_explore.gathering import GatheredEvidence, gather
from groundwire_explore.graph_drawing import draw_graph
from groundwire_explore.neighbourhood import around
from groundwire_explore.overview import overview
from groundwire_explore.parameters import (
    MODES,
    ExactSearch,
    FolderPlace,
    Gathering,
    Neighbourhood,
    Place,
    Question,
    Search,
    Side,
    Versions,
    index_scope,
    read,
)
from groundwire_explore.problems import Problem, attempted, problem
from groundwire_explore.results import Match, Results
from groundwire_explore.run_steps import read_run
from groundwire_explore.searching import search
from groundwire_explore.versions import difference, version_before

Pairs = Sequence[tuple[str, str]]
Values = dict[str, object]

FIELDS: Mapping[str, object] = {
    "modes": MODES,
    "retrievers": tuple(choices(Retriever)),
    "fusions": tuple(choices(FusionMode)),
    "directions": tuple(choices(EdgeDirection)),
}
"""What the fields of forms offer."""


@dataclass(frozen=True, slots=True)
class Page:
    """The content of a page: its template, title, the sentence for screen readers, and values."""

    template: str
    title: str
    status: str
    values: Values


@dataclass(frozen=True, slots=True)
class Move:
    """The place of one search's match in another: `only`, `same`, `above` or `below`, and that in words."""

    kind: str
    words: str


@dataclass(frozen=True, slots=True)
class Settings:
    """The parameters that start the application.

    Attributes:
        connect: Makes the client of the server, inside the event loop.
        key: The secret that a request for content must have, unless there are `caller_tokens`.
        hosts: The values that the header `Host` of a request may have.
        repository: Only indexes of this repository are offered; empty for all.
        branch: Only indexes of this branch are offered; empty for all.
        trace: The file of a run's trace; None without one.
        caller_tokens: Each request must have a bearer token, and is answered with what that token grants.
    """

    connect: Callable[[], AsyncGroundwireClient]
    key: str
    hosts: Sequence[str]
    repository: str = ""
    branch: str = ""
    trace: Path | None = None
    caller_tokens: bool = False


@dataclass(frozen=True, slots=True)
class Explorer:
    """Makes the pages; `client` has the access of the user who started the program, or of who sent the request."""

    client: AsyncGroundwireClient
    settings: Settings

    @property
    def views(self) -> Mapping[str, Callable[[Pairs], Awaitable[Page]]]:
        """The makers of pages, by path. Each raises one of `problems.FAILURES`, or PipelineError for the trace."""
        view_of_path = {
            "/": self.ask,
            "/evidence": self.evidence,
            "/exact": self.exact,
            "/map": self.map,
            "/compare": self.compare,
            "/versions": self.versions,
            "/node": self.node,
            "/indexes": self.indexes,
        }
        return {**view_of_path, "/run": self.run} if self.settings.trace else view_of_path

    async def ask(self, pairs: Pairs) -> Page:
        """A question, and its matches; without a question, where to begin."""
        question, how = read(Question, pairs), read(Search, pairs)
        values = {**await self._place(question), "question": question, "how": how, "answer": None}
        scope = str(values["scope"])
        if not question.q:
            values["seen"] = await attempted(overview(self.client, index_scope(scope), "")) if scope else _NO_INDEX
            return Page("ask.html", "Ask", "Ask a question.", values)
        answer = await self._answer([scope, *question.also], question, how)
        exported = markdown(question.q, scope, answer, question.also) if isinstance(answer, Results) else ""
        title = f"{printable(question.q)[:60]} · Ask"
        return Page("ask.html", title, _status(answer), {**values, "answer": answer, "exported": exported})

    async def evidence(self, pairs: Pairs) -> Page:
        """A question, and the evidence for a prompt."""
        question, how = read(Question, pairs), read(Gathering, pairs)
        values = {**await self._place(question), "question": question, "how": how, "answer": None}
        if not question.q:
            return Page("evidence.html", "Evidence", "Ask a question.", values)
        answer: GatheredEvidence | Problem = _NO_INDEX
        if scopes := _scopes([str(values["scope"]), *question.also]):
            answer = await attempted(gather(self.client, scopes, question.q, how))
        status = (
            answer.title
            if isinstance(answer, Problem)
            else f"{len(answer.passages)} {'passage' if len(answer.passages) == 1 else 'passages'}."
        )
        return Page("evidence.html", f"{printable(question.q)[:60]} · Evidence", status, {**values, "answer": answer})

    async def exact(self, pairs: Pairs) -> Page:
        """A text or a regular expression, and the lines that it matches."""
        question, how = read(Question, pairs), read(ExactSearch, pairs)
        values = {**await self._place(question), "question": question, "how": how, "answer": None}
        if not question.q:
            return Page("exact.html", "Exact search", "Enter a text.", values)
        answer: ExactMatches | Problem = _NO_INDEX
        if scopes := _scopes([str(values["scope"]), *question.also]):
            answer = await attempted(find_lines(self.client, scopes, question.q, how))
        status = (
            answer.title
            if isinstance(answer, Problem)
            else f"{answer.line_count} {'line' if answer.line_count == 1 else 'lines'}."
        )
        return Page("exact.html", f"{printable(question.q)[:60]} · Exact", status, {**values, "answer": answer})

    async def map(self, pairs: Pairs) -> Page:
        """A folder as a drawing of what is in it."""
        place = read(FolderPlace, pairs)
        values = await self._place(place)
        scope = str(values["scope"])
        seen = await attempted(overview(self.client, index_scope(scope), place.folder)) if scope else _NO_INDEX
        status = seen.title if isinstance(seen, Problem) else f"{len(seen.folder.parts)} folders and files."
        return Page(
            "map.html", f"{printable(place.folder) or 'Whole repository'} · Map", status, {**values, "seen": seen}
        )

    async def versions(self, pairs: Pairs) -> Page:
        """Two versions of an index."""
        versions = read(Versions, pairs)
        values = await self._place(versions)
        scope = str(values["scope"])
        old = versions.old or version_before(scope, await self._listed())
        changes = None
        if old:
            changes = await attempted(difference(self.client, index_scope(old), index_scope(scope), versions.folder))
        status = (
            changes.title if isinstance(changes, Problem) else "Two versions." if changes else "There is one version."
        )
        return Page(
            "versions.html", "Versions", status, {**values, "old": old, "changes": changes, "folder": versions.folder}
        )

    async def compare(self, pairs: Pairs) -> Page:
        """Two searches for one question, side by side."""
        question = read(Question, pairs)
        sides = [read(Side, pairs, "a."), read(Side, pairs, "b.")]
        if not any(name.startswith("b.") for name, _ in pairs):
            sides[1] = Side(mode="bm25")
        values = await self._place(question)
        answers: list[Results | Problem] = []
        if question.q:
            everywhere = [str(values["scope"]), *question.also]
            pending = (self._answer([side.scope] if side.scope else everywhere, question, side) for side in sides)
            answers = list(await asyncio.gather(*pending))
        matches_of_sides = [answer.matches if isinstance(answer, Results) else () for answer in answers]
        moves = [_moves(*matches_of_sides), _moves(*reversed(matches_of_sides))] if answers else []
        status = "; ".join(f"{name}: {_status(answer)}" for name, answer in zip("AB", answers, strict=False))
        return Page(
            "compare.html",
            f"{printable(question.q)[:60]} · Compare" if question.q else "Compare",
            status or "Compare two searches.",
            {**values, "question": question, "sides": sides, "answers": answers, "moves": moves},
        )

    async def node(self, pairs: Pairs) -> Page:
        """A node and the graph around it."""
        neighbourhood = read(Neighbourhood, pairs)
        values = await self._place(neighbourhood)
        scope = values["scope"]
        surroundings = await attempted(around(self.client, index_scope(str(scope)), neighbourhood))
        node = None if isinstance(surroundings, Problem) else surroundings.node
        name = short_name(node.name, node.location.path) if node else "Node"
        status = (
            surroundings.title
            if isinstance(surroundings, Problem)
            else f"{name}: {len(surroundings.nodes)} nodes in its graph."
        )
        drawn: Values = {"drawings": (), "exported": ""}
        if not isinstance(surroundings, Problem) and surroundings.node:
            drawn = {
                "drawings": draw_graph(surroundings.nodes, surroundings.edges),
                "exported": mermaid_graph(surroundings.nodes, surroundings.edges),
            }
        return Page(
            "node.html",
            f"{name} · Node",
            status,
            {**values, **drawn, "neighbourhood": neighbourhood, "surroundings": surroundings},
        )

    async def indexes(self, pairs: Pairs) -> Page:
        """The index versions that the caller may see."""
        values = await self._place(read(Place, pairs))
        listed = await self._listed()
        return Page("indexes.html", "Indexes", f"{len(listed)} index versions.", {**values, "listed": listed})

    async def run(self, pairs: Pairs) -> Page:
        """The steps of the pipeline's run."""
        assert self.settings.trace is not None
        values = await self._place(read(Place, pairs))
        ran = await asyncio.to_thread(read_run, self.settings.trace)
        if isinstance(ran, Problem):
            return Page("problem.html", "Run", ran.title, {**values, "problem": ran})
        status = f"{len(ran.steps)} steps, {ran.ending}." if ran else "The trace is empty."
        return Page("run.html", "Run", status, {**values, "ran": ran, "file": printable(str(self.settings.trace))})

    def failed(self, error: Exception) -> Page:
        """The page in place of one that cannot be made."""
        reported = problem(error)
        return Page("problem.html", "Problem", reported.title, {"options": (), "scope": "", "problem": reported})

    async def _answer(self, names: Sequence[str], question: Question, how: Search) -> Results | Problem:
        if not names[0]:
            return _NO_INDEX
        return await attempted(search(self.client, _scopes(names), question.q, how))

    async def _listed(self) -> Sequence[IndexVersion]:
        return (await self.client.list_indexes(self.settings.repository, self.settings.branch)).indexes

    async def _place(self, place: Place) -> Values:
        """The indexes to choose from, and the chosen one: the first active one, unless the URL names one."""
        active: dict[str, str] = {}
        pinned: dict[str, str] = {}
        for index in await self._listed():
            name = f"{printable(index.repository)} · {printable(index.branch)}"
            if index.active:
                active[scope_name(index.repository, index.branch)] = name
            pinned[scope_name(index.repository, index.branch, index.version)] = f"{name} · version {index.version}"
        options = {**active, **pinned}
        chosen = place.scope or next(iter(options), "")
        if chosen:
            options.setdefault(chosen, printable(chosen.replace("::", " · ")))
        return {"options": tuple(options.items()), "scope": chosen}


_NO_INDEX = Problem(
    "There is no index that you may see",
    ("The server has no index, or none of its nodes is visible with this access.",),
    "Build one with groundwire index, or start groundwire explore with a token or access that sees more.",
)


def _scopes(names: Sequence[str]) -> list[IndexScope]:
    """The scopes of names, each once; empty names are left out."""
    return [index_scope(name) for name in dict.fromkeys(names) if name]


def _status(answer: Results | Problem) -> str:
    if isinstance(answer, Problem):
        return answer.title
    skipped = len(answer.budget.skipped) if answer.budget else 0
    return f"{len(answer.matches)} matches" + (f", {skipped} texts skipped." if skipped else ".")


def _moves(here: Sequence[Match], there: Sequence[Match]) -> dict[str, Move]:
    """The place of each match on the other side, by id."""
    others = {match.id: match.rank for match in there}
    return {match.id: _move(others.get(match.id), match.rank) for match in here}


def _move(other: int | None, rank: int) -> Move:
    if other is None:
        return Move("only", "only here")
    if other == rank:
        return Move("same", "same rank there")
    return Move("above" if rank < other else "below", f"rank {other} there")
