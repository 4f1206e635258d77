"""What edges between repositories cost a call: beside one index of all trees, and beside the same trees without them.

Branches of one repository have no edges between each other. So the same trees as branches of one are the call without.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree
from statistics import median
from tempfile import TemporaryDirectory

from bench.shared.programs import running, serve_command
from bench.shared.results import Grid
from bench.speed.index import Stages
from groundwire_client import GroundwireClient, IndexScope
from groundwire_index.repository_edges.ends import ENDS_FILE
from groundwire_index.scope import Scope
from groundwire_index.store.store import IndexStore
from groundwire_ingest.build.build import BuildOptions, build_index
from groundwire_ingest.tree.source import TreeSource
from groundwire_server.backends.embedded.backend import EmbeddedBackend
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.search.search import NO_FILTER
from groundwire_server.engine.edges_between import NO_EDGES, EdgesBetween
from groundwire_server.engine.union_rows import by_part

WHOLE, BETWEEN, WITHOUT = "one index", "repositories", "branches of one repository"
"""All trees in one index; as repositories, with edges between them; and as branches, without such edges."""
WALKS, QUERIES = "walk", "query"
_VERSION, _BRANCH = "v1", "main"
_SEEDS = 5
_MOST_NODES = 120


@dataclass(frozen=True, slots=True)
class BetweenCosts:
    """The edges, the bytes that they follow from, the milliseconds of each join, and those of calls.

    `milliseconds` are by kind of call and of index. The first join, which reads the files of ends, is the first one.
    """

    edges: int
    ends_bytes: int
    joins: Sequence[float]
    milliseconds: Mapping[str, Mapping[str, Sequence[float]]]


@dataclass(frozen=True, slots=True)
class Crossing:
    """The edges between the trees, as ids of nodes that have some, and the milliseconds of each join."""

    count: int
    ids: Sequence[str]
    joins: Sequence[float]


def measure_between(sources: Sequence[Path], texts: Sequence[str], rounds: int, work: Path) -> BetweenCosts:
    """Walks from nodes that have edges between the trees, and queries for some texts, in turn.

    Raises IngestError and RuntimeError, also for trees without such edges.
    """
    names = [source.resolve().name for source in sources]
    if len(set(names)) < 2 or len(set(names)) != len(names):
        raise RuntimeError(f"the folders {', '.join(names)} must be two or more, and have different names")
    with TemporaryDirectory() as folder:
        data = Path(folder, "data")
        _build(sources, names, data, Path(folder, "whole"))
        crossing = _crossing(data, names, rounds)
        ends = [IndexStore(data).directory(Scope(name, _BRANCH, _VERSION)) / ENDS_FILE for name in names]
        with running(serve_command(data), work / "serve.log") as server, GroundwireClient(server.address) as client:
            milliseconds = {
                WALKS: _walks(client, names, crossing.ids, rounds),
                QUERIES: _queries(client, names, texts, rounds),
            }
        size = sum(path.stat().st_size for path in ends if path.exists())
        return BetweenCosts(crossing.count, size, crossing.joins, milliseconds)


def grid(costs: BetweenCosts, title: str) -> Grid:
    """Medians, and their ratios to one index and to the call without edges between the trees."""
    rows = []
    for kind, by_index in costs.milliseconds.items():
        whole, without = median(by_index[WHOLE]), median(by_index[WITHOUT])
        for name, times in by_index.items():
            middle = median(times)
            rows.append([f"{kind}: {name}", f"{middle:.2f}", f"{middle / whole:.2f}", f"{middle / without:.2f}"])
    rows.append(["first join, with reading", f"{costs.joins[0]:.1f}", "", ""])
    rows.append(["later joins", f"{median(costs.joins[1:]):.1f}", "", ""])
    title = f"{title}: {costs.edges:,} edges, from {costs.ends_bytes / 1e6:.2f} MB"
    return Grid(title, ["call", "median ms", "relative to one index", "relative to without"], rows)


def _build(sources: Sequence[Path], names: Sequence[str], data: Path, whole: Path) -> None:
    for source, name in zip(sources, names, strict=True):
        copytree(source, whole / name, symlinks=True)
        for scope in (Scope(name, _BRANCH, _VERSION), Scope(WITHOUT.replace(" ", "-"), name, _VERSION)):
            build_index(TreeSource(source), BuildOptions(data, scope, embedder=None), Stages())
    scope = Scope(WHOLE.replace(" ", "-"), _BRANCH, _VERSION)
    build_index(TreeSource(whole), BuildOptions(data, scope, embedder=None), Stages())


def _crossing(data: Path, names: Sequence[str], rounds: int) -> Crossing:
    backend = EmbeddedBackend(data)
    parts = [backend.open(Scope(name, _BRANCH), AccessContext(), Lifecycle.ACTIVE, NO_FILTER) for name in sorted(names)]
    joins: list[float] = []
    edges = NO_EDGES
    for _ in range(rounds + 1):
        began = time.perf_counter()
        edges = EdgesBetween().of(parts, _go_on)
        joins.append((time.perf_counter() - began) * 1_000.0)
    if not len(edges):
        raise RuntimeError(f"there are no edges between {', '.join(names)}: name trees that use each other")
    ids = [id_ for number, _, rows in by_part(edges.stored.from_rows) for id_ in parts[number].ids(rows)]
    # The key of an SQL object does not begin with the path of its file.
    ids = sorted({id_ for id_ in ids if id_.split("::")[2] != "sql"})
    return Crossing(len(edges), ids, joins)


def _go_on() -> None:
    """The checkpoint of a call that never ends early."""


def _walks(
    client: GroundwireClient, names: Sequence[str], ids: Sequence[str], rounds: int
) -> Mapping[str, Sequence[float]]:
    times: dict[str, list[float]] = {WHOLE: [], BETWEEN: [], WITHOUT: []}
    for turn in range(rounds + 1):
        seeds = [ids[(turn * _SEEDS + number) % len(ids)] for number in range(_SEEDS)]
        for name, scopes in _scopes(names).items():
            seeds_there = list(dict.fromkeys(_id_in(name, seed) for seed in seeds))
            began = time.perf_counter()
            client.expand(scopes, seeds_there, max_depth=2, max_nodes=_MOST_NODES)
            if turn:
                times[name].append((time.perf_counter() - began) * 1_000.0)
    return times


def _queries(
    client: GroundwireClient, names: Sequence[str], texts: Sequence[str], rounds: int
) -> Mapping[str, Sequence[float]]:
    times: dict[str, list[float]] = {WHOLE: [], BETWEEN: [], WITHOUT: []}
    for turn in range(rounds + 1):
        for name, scopes in _scopes(names).items():
            began = time.perf_counter()
            client.query(scopes, texts[turn % len(texts)])
            if turn:
                times[name].append((time.perf_counter() - began) * 1_000.0)
    return times


def _scopes(names: Sequence[str]) -> Mapping[str, Sequence[IndexScope]]:
    return {
        WHOLE: [IndexScope(repository=WHOLE.replace(" ", "-"), branch=_BRANCH)],
        BETWEEN: [IndexScope(repository=name, branch=_BRANCH) for name in names],
        WITHOUT: [IndexScope(repository=WITHOUT.replace(" ", "-"), branch=name) for name in names],
    }


def _id_in(index: str, id_: str) -> str:
    """The id that a node of a repository has in another index."""
    repository, branch, kind, local = id_.split("::", 3)
    if index == BETWEEN:
        return id_
    if index == WITHOUT:
        return f"{WITHOUT.replace(' ', '-')}::{repository}::{kind}::{local}"
    return f"{WHOLE.replace(' ', '-')}::{branch}::{kind}::{repository}/{local}"
