"""What two agents are given: questions of sets, sources, an index, a prompt each, and a command that logs."""

import json
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.repositories.tables import Alternatives, Place, Question
from bench.shared.programs import ROOT

AGENTS = ("groundwire", "ripgrep")
_KEY, _LOG = "key.json", "log.jsonl"
_PROMPTS: Mapping[str, str] = {
    "groundwire": """\
`./call N TOOL JSON` calls a tool of Groundwire for question N and prints its result, such as

    ./call 1 ask '{"query": "How are photos made smaller?", "phrasings": ["resize image width", "ImageResizer"]}'
    ./call 1 read_code '{"nodes": ["src/images.py:300-340"]}'

`./call 0 tools` prints the tools with their arguments; it is not counted. Leave `repository` out.
""",
    "ripgrep": """\
`./call N PROGRAM ARGUMENTS...` runs `rg`, `grep`, `sed`, `ls` or `find` for question N in the folder of its sources and
prints the output, such as

    ./call 1 rg -n "thumbnail" src
    ./call 1 sed -n 300,340p src/images.py
""",
}
_PROMPT = """\
# Find the places in the code that answer these questions

For each question find the declarations that a developer must read to answer it: the most important one first, then the
others, three to five in all. Work on one question after the other. Use no memory of these projects: an answer counts by
what you read here. As soon as you know the places of a question, state them and go on:

    ./call N answer PATH#SYMBOL PATH#SYMBOL ...

`PATH` is a path as results print it, `SYMBOL` the last part of the name of a function, type, method or constant in it;
`PATH#` is a file as a whole.

{tool}
Use nothing else to look at the code: no other command, no other file. Each call and each character that it prints is
counted until you state the places.

## Questions

{questions}
"""


@dataclass(frozen=True, slots=True)
class Task:
    """A question that an agent is asked: its number, 1-based, its set, and the places that answer it."""

    number: int
    repository: str
    question: Question


@dataclass(frozen=True, slots=True)
class Exercise:
    """The folder of an exercise, the address of the server, and the questions."""

    folder: Path
    server: str
    tasks: Sequence[Task]

    @property
    def data(self) -> Path:
        """The data folder of the server."""
        return self.folder / "data"

    def sources(self, repository: str) -> Path:
        """The sources of a set."""
        return self.folder / "sources" / repository / "source"

    def log(self, agent: str) -> Path:
        """The log of an agent's calls."""
        return self.folder / agent / _LOG

    def task(self, number: int) -> Task:
        """The question of that number. Raises ExerciseError."""
        if not 1 <= number <= len(self.tasks):
            raise ExerciseError(f"{number}: must be the number of a question, 1 to {len(self.tasks)}")
        return self.tasks[number - 1]

    def write(self) -> None:
        """Writes the key and the folder of each agent."""
        self.folder.mkdir(parents=True, exist_ok=True)
        key = {"server": self.server, "tasks": [asdict(task) for task in self.tasks]}
        (self.folder / _KEY).write_text(json.dumps(key, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        questions = "\n".join(f"{task.number}. ({task.repository}) {task.question.text}" for task in self.tasks)
        for agent in AGENTS:
            agent_folder = self.folder / agent
            agent_folder.mkdir(exist_ok=True)
            prompt = _PROMPT.format(tool=_PROMPTS[agent], questions=questions)
            (agent_folder / "prompt.md").write_text(prompt, encoding="utf-8")
            words = (
                "env",
                f"PYTHONPATH={ROOT}",
                sys.executable,
                "-m",
                "bench.agents",
                "call",
                self.folder.resolve(),
                agent,
            )
            command = agent_folder / "call"
            command.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, words))} "$@"\n', encoding="utf-8")
            command.chmod(0o755)


class ExerciseError(Exception):
    """An exercise or a call of it breaks a rule; the message says which."""


def read_exercise(folder: Path) -> Exercise:
    """The exercise that `write` has written. Raises OSError."""
    key = json.loads((folder / _KEY).read_text(encoding="utf-8"))
    tasks = [
        Task(task["number"], task["repository"], Question(task["question"]["text"], tuple(_places(task["question"]))))
        for task in key["tasks"]
    ]
    return Exercise(folder, key["server"], tasks)


def chosen(sets: Mapping[str, Sequence[Question]], count: int) -> list[Task]:
    """That many questions, as many of each set as of the others, at even distances within a set."""
    tasks: list[Task] = []
    for place, (repository, questions) in enumerate(sorted(sets.items())):
        share = min(count * (place + 1) // len(sets) - count * place // len(sets), len(questions))
        for number in range(share):
            question = questions[number * len(questions) // share]
            tasks.append(Task(len(tasks) + 1, repository, question))
    return tasks


def _places(question: Mapping[str, Sequence[Sequence[Mapping[str, str]]]]) -> Iterator[Alternatives]:
    for alternatives in question["places"]:
        yield tuple(Place(place["path"], place["symbol"]) for place in alternatives)
