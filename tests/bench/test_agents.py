"""The exercise of two agents: its questions and folders, the command that logs, the scores of logs."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bench.agents.__main__ import app
from bench.agents.calls import Call, logged, read_calls
from bench.agents.exercise import Exercise, Task, chosen, read_exercise
from bench.agents.scoring import Score, grid, score_of
from bench.repositories.tables import Place, Question
from support.program import Server, run_ok, write_jsonl

ADD, BASKET, PAY = Place("src/basket.py", "add"), Place("src/basket.py", ""), Place("src/order.py", "pay")
OTHER = Place("src/order.py", "pay_all")
TASK = Task(1, "shop", Question("Who adds to the basket, and who pays?", ((ADD,), (PAY, OTHER), (BASKET,))))


def questions(count: int) -> list[Question]:
    return [Question(str(number), ((ADD,),)) for number in range(count)]


def exercise(folder: Path, server: str = "localhost:1") -> Exercise:
    made = Exercise(folder, server, [TASK])
    made.write()
    return made


def called(folder: Path, agent: str, *words: str) -> subprocess.CompletedProcess[str]:
    """What the command in an agent's folder prints."""
    command = [str(folder / agent / "call"), *words]
    return subprocess.run(command, cwd=folder / agent, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("sizes", "count", "expected"),
    [
        ({"a": 30, "b": 30}, 6, {"a": ["0", "10", "20"], "b": ["0", "10", "20"]}),
        ({"a": 4, "b": 4, "c": 4}, 4, {"a": ["0"], "b": ["0"], "c": ["0", "2"]}),
        ({"a": 2}, 24, {"a": ["0", "1"]}),
    ],
)
def test_questions_are_of_all_sets_at_even_distances(
    sizes: Mapping[str, int], count: int, expected: Mapping[str, Sequence[str]]
) -> None:
    tasks = chosen({name: questions(size) for name, size in sizes.items()}, count)
    assert [task.number for task in tasks] == list(range(1, len(tasks) + 1))
    assert {name: [task.question.text for task in tasks if task.repository == name] for name in sizes} == expected


def test_an_agent_is_told_the_questions_and_not_the_places(tmp_path: Path) -> None:
    made = exercise(tmp_path)
    assert read_exercise(tmp_path) == made
    for agent, example in (("groundwire", "./call 1 ask"), ("ripgrep", "./call 1 rg -n")):
        prompt = (tmp_path / agent / "prompt.md").read_text(encoding="utf-8")
        assert "1. (shop) Who adds to the basket, and who pays?" in prompt
        assert example in prompt
        assert "basket.py" not in prompt


def test_the_command_runs_a_program_in_the_sources_and_logs_what_it_prints(tmp_path: Path) -> None:
    made = exercise(tmp_path)
    source = made.sources("shop") / "src"
    source.mkdir(parents=True)
    (source / "basket.py").write_text("def add(item):\n    items.append(item)\n", encoding="utf-8")
    printed = called(tmp_path, "ripgrep", "1", "grep", "-n", "append", "src/basket.py")
    assert printed.stdout == "2:    items.append(item)\n"
    assert called(tmp_path, "ripgrep", "1", "sed", "-n", "1p", "src/basket.py").stdout == "def add(item):\n"
    assert called(tmp_path, "ripgrep", "1", "answer", "src/basket.py#add").returncode == 0
    assert list(read_calls(made.log("ripgrep"))) == [
        Call(1, ("grep", "-n", "append", "src/basket.py"), 25),
        Call(1, ("sed", "-n", "1p", "src/basket.py"), 15),
        Call(1, ("answer", "src/basket.py#add"), 0),
    ]


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        (("2", "grep", "x"), "must be the number of a question, 1 to 1"),
        (("1", "cat", "../key.json"), "must be one of rg, grep, sed, ls, find"),
        (("1", "sed", "-i", "s/a/b/", "x"), "sed: must have -n"),
    ],
)
def test_another_program_is_refused_and_not_logged(tmp_path: Path, words: Sequence[str], rule: str) -> None:
    made = exercise(tmp_path)
    refused = called(tmp_path, "ripgrep", *words)
    assert refused.returncode == 1
    assert rule in " ".join(refused.stdout.split())
    assert not made.log("ripgrep").exists()


def test_the_command_calls_a_tool_and_logs_what_it_prints(tmp_path: Path) -> None:
    node = {"type": "node", "kind": "py", "local_id": "add", "text": "def add(item): ...", "symbol": "add"}
    records = [{**node, "path": "src/basket.py", "start_line": 1, "end_line": 1}]
    source = write_jsonl(tmp_path / "shop.jsonl", records)
    scope = ("--repository", "shop", "--branch", "main")
    run_ok("index", source, *scope, "--data", tmp_path / "data", "--embedder", "none")
    with Server(tmp_path / "data", "--embedder", "none") as server:
        made = exercise(tmp_path, server.address)
        arguments = json.dumps({"query": "item", "phrasings": ["add to basket"]})
        printed = called(tmp_path, "groundwire", "1", "search_code", arguments)
        tools = called(tmp_path, "groundwire", "0", "tools")
    assert printed.stdout.startswith("src/basket.py:1  add  def add(item): ...")
    assert '"name":"ask"' in tools.stdout
    (call,) = read_calls(made.log("groundwire"))
    assert (call.words, call.characters) == (("search_code", arguments), len(printed.stdout) - 1)


def test_a_score_counts_calls_and_characters_until_the_first_answer() -> None:
    calls = [
        Call(1, ("ask", "{}"), 4_000),
        Call(2, ("ask", "{}"), 9_000),
        Call(1, ("read_code", "{}"), 500),
        Call(1, ("answer", "src/basket.py#Basket.add", "./src/order.py#pay_all(int)", "src/tax.py#rate"), 0),
        Call(1, ("ask", "{}"), 7_000),
        Call(1, ("answer", "src/order.py#pay"), 0),
    ]
    assert score_of(TASK, calls) == Score(True, True, 3, 3, 2, 4_500)
    assert score_of(TASK, calls[:3]) == Score(False, False, 0, 3, 2, 4_500)
    assert score_of(TASK, [Call(1, ("answer", "src/order.py#pay"), 0)]) == Score(True, False, 1, 3, 0, 0)


def test_the_table_names_the_model_and_compares_the_agents(tmp_path: Path) -> None:
    made = exercise(tmp_path)
    answer = Call(1, ("answer", "src/basket.py#add", "src/order.py#pay"), 0)
    for agent, calls in (("groundwire", 1), ("ripgrep", 4)):
        for _ in range(calls):
            logged(made.log(agent), Call(1, ("search",), 1_500))
        logged(made.log(agent), answer)
    done = CliRunner().invoke(app, ["score", str(tmp_path), "--model", "Some Model 4"])
    assert done.exit_code == 0
    table = (tmp_path / "agents.md").read_text(encoding="utf-8")
    assert "Some Model 4 played" in table
    assert "| groundwire | 1 | 1 | 1 | 3 | 3 | 1 | 1,500 |" in table
    assert "| ripgrep | 1 | 1 | 1 | 3 | 3 | 4 | 6,000 |" in table
    assert "| groundwire / ripgrep |  |  |  | 1.00 |  | 0.25 | 0.25 |" in table
    assert json.loads((tmp_path / "agents.json").read_text(encoding="utf-8"))["model"] == "Some Model 4"


def test_without_characters_there_is_no_ratio() -> None:
    none = {"shop": [Score(False, False, 0, 1, 0, 0)]}
    assert grid({"groundwire": none, "ripgrep": none}, "x").rows[-1][4:] == ["-", "", "-", "-"]
