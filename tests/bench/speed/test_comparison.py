"""Systems behind the protocol of adapters: what they answer, and what becomes of those that cannot or fail."""

import os
import sys
from pathlib import Path

import pytest
from rich.progress import Progress

from bench.shared.results import markdown
from bench.speed.comparison import Comparison, Plan, compare
from bench.speed.corpus import Corpus
from bench.speed.protocol import Scenario, UnsupportedError, closed_loop
from bench.speed.report import grids, notes
from bench.speed.systems import ROOT, AdapterError, AdapterProcess, System

FILTERED = Scenario("semantic", "10 % random")


def fake(name: str = "fake", unsupported: str = "bm25", failing: str = "hybrid", deadly: str = "query") -> System:
    command = (sys.executable, "-m", "support.fake_adapter", unsupported, failing, deadly)
    return System(name, command, {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}"})


def compared(systems: list[System], corpus: Corpus, work: Path, *scenarios: Scenario) -> Comparison:
    plan = Plan(scenarios, (1, 2), rounds=2, calls=3)
    return compare(systems, corpus, plan, work, Progress(disable=True))


def test_an_adapter_answers(corpus: Corpus, tmp_path: Path) -> None:
    with AdapterProcess(fake(), tmp_path) as adapter:
        loaded = adapter.load(corpus.folder)
        assert loaded.settings == {"fake": "1.0"}
        measured = adapter.ask(FILTERED, first=7, count=20, clients=3)
        assert len(measured.milliseconds) == 20
        assert all(time > 0.0 for time in measured.milliseconds)
        assert corpus.recall(FILTERED.filter, 7, measured.answers) == 1.0
        assert adapter.processes() == [adapter.process_id]


def test_a_system_without_means_says_which(corpus: Corpus, tmp_path: Path) -> None:
    with AdapterProcess(fake(), tmp_path) as adapter:
        adapter.load(corpus.folder)
        with pytest.raises(UnsupportedError, match="it has no words"):
            adapter.ask(Scenario("bm25"), 0, 1, 1)


def test_a_failure_is_told_and_survived(corpus: Corpus, tmp_path: Path) -> None:
    with AdapterProcess(fake(), tmp_path) as adapter:
        adapter.load(corpus.folder)
        with pytest.raises(AdapterError, match="ValueError: it fell over"):
            adapter.ask(Scenario("hybrid"), 0, 1, 1)
        assert adapter.ask(FILTERED, 0, 1, 1).answers


def test_a_dead_adapter_is_told(corpus: Corpus, tmp_path: Path) -> None:
    with AdapterProcess(fake(), tmp_path) as adapter:
        adapter.load(corpus.folder)
        with pytest.raises(AdapterError, match="the adapter ended; its last words: libraries print to stdout"):
            adapter.ask(Scenario("query"), 0, 1, 1)
        with pytest.raises(AdapterError, match="the adapter ended"):
            adapter.ask(FILTERED, 0, 1, 1)


def test_systems_are_compared(corpus: Corpus, tmp_path: Path) -> None:
    missing = System("missing", (sys.executable, "-c", "import nothing_of_this_name"), dict(os.environ))
    scenarios = (Scenario("semantic"), FILTERED, Scenario("bm25"), Scenario("hybrid"))
    found = compared([fake("one"), missing, fake("two", unsupported="")], corpus, tmp_path, *scenarios)
    assert list(found.loaded) == ["one", "two"]
    assert "nothing_of_this_name" in found.failed["missing"]
    series = {(one.system, one.scenario, one.clients): one for one in found.series}
    assert len(series) == 2 * len(scenarios) * 2
    for system in ("one", "two"):
        for clients, calls in ((1, 2 * 10), (2, 2 * 20)):
            one = series[system, "semantic, 10 % random", clients]
            assert one.times is not None
            assert (one.times.calls, one.recall) == (calls, 1.0)
    assert series["one", "semantic", 2].agreement is None
    assert series["two", "semantic", 2].agreement == 1.0
    assert all(found.memory[system].private > 0 for system in ("one", "two"))
    assert series["one", "bm25", 1].problem == "it has no words"
    assert series["two", "bm25", 1].times is not None
    assert series["two", "hybrid", 2].problem == "ValueError: it fell over"


def test_what_is_missing_stands_in_the_report(corpus: Corpus, tmp_path: Path) -> None:
    missing = System("missing", (sys.executable, "-c", "import nothing_of_this_name"), dict(os.environ))
    systems = [fake("groundwire", unsupported="", failing=""), fake("other"), missing]
    found = compared(systems, corpus, tmp_path, Scenario("semantic"), Scenario("bm25"))
    tables = markdown(list(grids(found)))
    assert "| call | groundwire | other |" in tables
    assert "| semantic | 1.000 | 1.000 |" in tables
    said = notes(found)
    assert "- **other**: fake 1.0; loaded in " in said
    assert "    - cannot: it has no words" in said
    assert "- **missing** did not run: the adapter ended; its last words: ModuleNotFoundError" in said


def test_a_closed_loop_keeps_answers_at_their_queries() -> None:
    measured = closed_loop([lambda number: [number, -number] for _ in range(4)], range(5, 105))
    assert measured.answers == [[number, -number] for number in range(5, 105)]


def test_a_closed_loop_raises_what_a_session_raises() -> None:
    def ask(number: int) -> list[int]:
        if number == 3:
            raise ValueError("no three")
        return [number]

    with pytest.raises(ValueError, match="no three"):
        closed_loop([ask, ask], range(6))
