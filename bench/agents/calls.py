"""The calls of an agent: a tool of Groundwire or a program over sources, run, printed and logged."""

import json
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters
from mcp.types import TextContent

from bench.agents.exercise import Exercise, ExerciseError, Task
from bench.shared.programs import BRANCH, GROUNDWIRE

PROGRAMS = ("rg", "grep", "sed", "ls", "find")
ANSWER = "answer"
TOOLS = "tools"
_PROGRAM_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Call:
    """A call of an agent for a question: its words, and how many characters it printed."""

    question: int
    words: tuple[str, ...]
    characters: int

    @property
    def is_answer(self) -> bool:
        """True for the statement of the places."""
        return self.words[0] == ANSWER


def logged(log: Path, call: Call) -> None:
    """Adds a call to a log."""
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(call), ensure_ascii=False) + "\n")


def read_calls(log: Path) -> Iterator[Call]:
    """The calls of a log, in order. Raises OSError."""
    with log.open(encoding="utf-8") as lines:
        for line in lines:
            call = json.loads(line)
            yield Call(call["question"], tuple(call["words"]), call["characters"])


def run_program(exercise: Exercise, task: Task, words: Sequence[str]) -> str:
    """The output of a program in the folder of a question's sources. Raises ExerciseError."""
    if words[0] not in PROGRAMS:
        raise ExerciseError(f"{words[0]}: must be one of {', '.join(PROGRAMS)}")
    if words[0] == "sed" and "-n" not in words:
        raise ExerciseError("sed: must have -n, as it prints lines here and nothing else")
    folder = exercise.sources(task.repository)
    done = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, errors="replace", check=False, timeout=_PROGRAM_SECONDS
    )
    return done.stdout + done.stderr


async def call_tool(exercise: Exercise, task: Task | None, words: Sequence[str]) -> str:
    """The text that a tool returns for a question, or the tools with their arguments. Raises ExerciseError."""
    repositories = sorted(
        {exercise_task.repository for exercise_task in exercise.tasks} if task is None else {task.repository}
    )
    scopes = [word for repository in repositories for word in ("--scope", f"{repository}::{BRANCH}")]
    command = StdioServerParameters(command=str(GROUNDWIRE), args=["mcp", "--server", exercise.server, *scopes])
    async with Client(command) as client:
        if task is None:
            tools = (await client.list_tools()).tools
            shown = {"name", "description", "input_schema"}
            return "\n".join([client.instructions or "", *(tool.model_dump_json(include=shown) for tool in tools)])
        result = await client.call_tool(words[0], _arguments(words))
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


def _arguments(words: Sequence[str]) -> dict[str, Any]:
    """The JSON object after the name of a tool. Raises ExerciseError."""
    text = " ".join(words[1:]) or "{}"
    try:
        arguments = json.loads(text)
    except ValueError as error:
        raise ExerciseError(f"{text!r}: must be one JSON object: {error}") from None
    if not isinstance(arguments, dict):
        raise ExerciseError(f"{text!r}: must be one JSON object")
    return arguments
