"""`python -m bench.agents`: what agents with Groundwire and with ripgrep need until they have the right places."""

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from bench.agents.calls import ANSWER, TOOLS, Call, call_tool, logged, read_calls, run_program
from bench.agents.exercise import AGENTS, Exercise, ExerciseError, chosen, read_exercise
from bench.agents.scoring import Score, grid, score_of
from bench.repositories.indexing import unpack
from bench.repositories.tables import TableError, read_questions
from bench.shared.programs import build_index
from bench.shared.results import explained, write_results
from groundwire_index.embedding.model_names import DEFAULT_MODEL

app = typer.Typer(no_args_is_help=True, help=__doc__)
_Out = Annotated[Path, typer.Argument(help="The folder of the exercise.", exists=True, file_okay=False)]


@app.command()
def prepare(
    folders: Annotated[
        list[Path], typer.Argument(help="Each holds source.tar.gz and questions.tsv.", exists=True, file_okay=False)
    ],
    out: Annotated[Path, typer.Option(help="The folder of the exercise.")],
    questions: Annotated[int, typer.Option(min=1, help="How many questions, of all sets together.")] = 24,
    server: Annotated[str, typer.Option(help="The address of the server that you start.")] = "localhost:50051",
) -> None:
    """Write the sources, the indexes, a prompt for each agent, and the commands that log their calls."""
    with explained(TableError):
        sets = {folder.resolve().name: read_questions(folder / "questions.tsv") for folder in folders}
        exercise = Exercise(out.resolve(), server, chosen(sets, questions))
        for folder in folders:
            name = folder.resolve().name
            source = unpack(folder / "source.tar.gz", exercise.sources(name).parent)
            build_index(source, name, exercise.data, DEFAULT_MODEL)
        exercise.write()
    typer.echo(f"Now run: groundwire serve --data {exercise.data} --listen {server}")
    for agent in AGENTS:
        typer.echo(f"Then give an agent, in the folder {exercise.folder / agent}, the text of prompt.md.")


@app.command(context_settings={"ignore_unknown_options": True})
def call(
    out: _Out,
    agent: Annotated[str, typer.Argument(help="groundwire or ripgrep.")],
    question: Annotated[int, typer.Argument(help="The number of the question.")],
    words: Annotated[list[str], typer.Argument(help="A tool with JSON, a program with arguments, or the answer.")],
) -> None:
    """Make a call for an agent, print its result, and log it."""
    with explained(ExerciseError):
        exercise = read_exercise(out)
        if agent == "groundwire" and words == [TOOLS]:
            typer.echo(asyncio.run(call_tool(exercise, None, words)))
            return
        task, text = exercise.task(question), ""
        if words[0] != ANSWER:
            runs = agent == "groundwire"
            text = asyncio.run(call_tool(exercise, task, words)) if runs else run_program(exercise, task, words)
            typer.echo(text, nl=not text.endswith("\n"))
        logged(exercise.log(agent), Call(question, tuple(words), len(text)))


@app.command()
def score(out: _Out, model: Annotated[str, typer.Option(help="The language model that played both agents.")]) -> None:
    """Score the logs of both agents."""
    with explained(ExerciseError):
        exercise = read_exercise(out)
        scores: dict[str, dict[str, list[Score]]] = {}
        for agent in AGENTS:
            calls = list(read_calls(exercise.log(agent)))
            by_set = scores.setdefault(agent, {})
            for task in exercise.tasks:
                by_set.setdefault(task.repository, []).append(score_of(task, calls))
        content = {
            agent: {name: list(map(asdict, task_scores)) for name, task_scores in by_set.items()}
            for agent, by_set in scores.items()
        }
        write_results(out, "agents", [grid(scores, model)], {"model": model, "scores": content})


if __name__ == "__main__":
    app()
