"""`python -m bench peers`: its measurement in this process, and the command from end to end, over small corpora."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.progress import Progress

from bench.peers.faiss_peer import FaissPeer
from bench.peers.floors import NumPyPeer
from bench.peers.measurement import measure_peers
from bench.peers.peer import Action, Answer, Call, Peer, Questions
from bench.peers.registry import KNOWN, KnownPeer
from bench.shared.programs import ROOT
from bench.speed.corpus import Corpus

EXACT = ("numpy", "faiss", "groundwire")
TABLE = "peers.md"


def run(*arguments: str | Path | float) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "bench", "peers", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of one comparison."""
    folder = tmp_path_factory.mktemp("peers")
    names = [argument for name in EXACT for argument in ("--peers", name)]
    done = run("--out", folder, "--nodes", 300, "--queries", 12, *names)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def calls(out: Path) -> Any:
    """What was measured, by kind of call and peer."""
    return json.loads((out / "peers.json").read_text(encoding="utf-8"))["calls"]


@pytest.mark.slow
def test_exact_searches_have_a_recall_of_one_with_and_without_a_filter(calls: Any) -> None:
    for action in (Action.SEMANTIC, Action.SEMANTIC_VISIBLE):
        assert {name: calls[action][name]["right"] for name in EXACT} == dict.fromkeys(EXACT, 1.0)


@pytest.mark.slow
def test_a_fetch_brings_the_texts_that_were_asked_for(calls: Any) -> None:
    assert calls[Action.FETCH]["groundwire"]["right"] == 1.0


@pytest.mark.slow
def test_each_call_is_compared_with_the_bare_server(calls: Any) -> None:
    assert calls.keys() == set(Action)
    for by_peer in calls.values():
        bare = by_peer["bare-server"]
        assert bare["right"] is None
        for figures in by_peer.values():
            assert 0 < figures["median"] <= figures["p95"]
            assert figures["ratio"] == pytest.approx(figures["median"] / bare["median"])


@pytest.mark.slow
def test_the_table_has_a_row_for_each_peer(out: Path) -> None:
    rows = (out / TABLE).read_text(encoding="utf-8").splitlines()
    for name in ("bare-server", *EXACT):
        assert sum(row.startswith(f"| {name} |") for row in rows) == 3


@pytest.mark.slow
def test_an_unknown_peer_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    done = run("--out", tmp_path, "--peers", "elsewhere")
    assert done.returncode == 2
    assert "elsewhere" in done.stderr
    assert all(peer.name in done.stderr for peer in KNOWN)


class Scripted:
    """Answers a search by a row that is never right, and notes when it was asked."""

    def __init__(self, name: str, asked_peers: list[str]) -> None:
        self._name = name
        self._asked_peers = asked_peers

    @property
    def calls(self) -> dict[Action, Call]:
        """One search."""
        return {Action.SEMANTIC: self._semantic}

    def _semantic(self, number: int) -> Answer:
        self._asked_peers.append(f"{self._name}{number}")
        return [-1]


def test_every_peer_is_asked_a_query_before_any_is_asked_the_next_one(corpus: Corpus) -> None:
    asked_peers: list[str] = []
    peers: dict[str, Peer] = {name: Scripted(name, asked_peers) for name in "abc"}
    measured = measure_peers(peers, Questions(corpus), Progress(disable=True))
    turns = asked_peers[-3 * len(corpus.query_texts) :]
    by_query = [turns[start : start + 3] for start in range(0, len(turns), 3)]
    for number, turn in enumerate(by_query):
        assert sorted(turn) == [f"a{number}", f"b{number}", f"c{number}"]
    assert len({tuple(name[0] for name in turn) for turn in by_query}) > 3
    assert {name: result.right for name, result in measured[Action.SEMANTIC].items()} == dict.fromkeys("abc", 0.0)
    assert len(measured[Action.SEMANTIC]["a"].milliseconds) == len(corpus.query_texts)
    assert not measured[Action.TEXT]


def test_exact_peers_have_a_recall_of_one(corpus: Corpus) -> None:
    questions = Questions(corpus)
    peers: dict[str, Peer] = {"numpy": NumPyPeer(questions), "faiss": FaissPeer(questions)}
    measured = measure_peers(peers, questions, Progress(disable=True))
    for action in (Action.SEMANTIC, Action.SEMANTIC_VISIBLE):
        assert {name: result.right for name, result in measured[action].items()} == {"numpy": 1.0, "faiss": 1.0}


def test_a_peer_that_is_not_installed_says_how_to_install_it() -> None:
    absent = KnownPeer("absent", ("absent",), ("no_such_module",), "", "", KNOWN[0].open)
    assert absent.missing == 'not installed: pip install ".[bench-peers]"'
    assert not KNOWN[0].missing


def test_a_wrong_answer_lowers_the_share(corpus: Corpus) -> None:
    questions = Questions(corpus)
    nearest = corpus.neighbours("")[3].tolist()
    assert questions.right_share(Action.SEMANTIC, 3, nearest) == 1.0
    assert questions.right_share(Action.SEMANTIC, 3, nearest[:5]) == 0.5
    texts = {row: corpus.text(row) for row in questions.fetched[3]}
    assert questions.right_share(Action.FETCH, 3, texts) == 1.0
    assert questions.right_share(Action.FETCH, 3, {**texts, questions.fetched[3][0]: "another"}) == 0.9
    assert questions.right_share(Action.TEXT, 3, nearest) is None
