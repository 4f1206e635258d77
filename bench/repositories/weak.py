"""How often matches are judged weak, by kind of search: `python -m bench.repositories.weak`. See `bench/README.md`."""

import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from bench.repositories.tables import TableError, read_questions
from bench.shared.programs import BRANCH
from bench.shared.results import Grid, explained, write_results
from groundwire_client import GroundwireError
from groundwire_pipelines import Pipeline, PipelineError

SEARCHES = {
    **{mode: f"action: search_nodes, search_type: {mode}" for mode in ("hybrid", "semantic", "bm25")},
    "query": "action: query, cap_top_k: true",
}
"""The keys of the searches, by their names in tables."""
_PIPELINE = """pipeline:
  name: weak
  settings: {{entry_step_id: search, top_k: {top_k}, max_context_tokens: 8000}}
  steps:
    - {{id: search, {search}, query_from: question, next: check}}
    - {{id: check, action: check_retrieval, weak_below: {weak_below}, words_below: {words_below},
       on_none: end, on_weak: end, on_ok: end}}
    - {{id: end, action: finalize}}
"""
_NO_QUESTION = "nonsense"
_NONSENSE = (
    *("zzz qqq", "asdf qwer zxcv", "blorp fnord wibble", "lorem ipsum dolor sit amet", "qwertyuiop"),
    *("xkcd quux frobnicate gizmo", "how do I snarfle the grobnitz?", "where is the flumph wozzled?"),
    *("the mome raths outgrabe", "jabberwocky slithy toves", "aaa bbb ccc ddd", "foo bar baz"),
    *("vogon poetry recital schedule", "how long do I boil an egg?", "who won the world cup in 1998?"),
    *("best recipe for apple pie", "capital of Mongolia", "what is the meaning of life", "why do cats purr?"),
    "train timetable from Vienna to Graz",
)

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def main(
    folders: Annotated[
        list[Path], typer.Argument(help="Sets with questions; an index has the name of each.", file_okay=False)
    ],
    out: Annotated[Path, typer.Option(help="The folder for the results.")],
    server: Annotated[str, typer.Option(help="The address of a server with an index of each set.")],
    weak_below: Annotated[float, typer.Option(help="The least cosine.")] = 0.28,
    words_below: Annotated[float, typer.Option(help="The least share of words where there is no cosine.")] = 0.28,
) -> None:
    """Ask every index the questions of every set, and nonsense, and count the searches whose matches are weak."""
    with explained(GroundwireError, PipelineError, TableError):
        asked = {one.name: _questions(one) for one in folders}
        pipelines = {name: pipeline_of(name, weak_below, words_below) for name in SEARCHES}
        counts = {
            (repository, name): [_weak(pipeline, server, repository, texts) for pipeline in pipelines.values()]
            for repository in asked
            for name, texts in {**asked, _NO_QUESTION: _NONSENSE}.items()
        }
    rows = [[*key, *map(str, found)] for key, found in counts.items()]
    table = Grid("searches with weak matches", ["index", "questions of", *SEARCHES], rows)
    write_results(out, "weak", [table], {"weak_below": weak_below, "words_below": words_below, "rows": rows})


def _questions(folder: Path) -> list[str]:
    """The questions of a set, or of a folder with the queries of CoSQA."""
    queries = folder / "queries.jsonl"
    if queries.exists():
        return [json.loads(line)["query"] for line in queries.read_text(encoding="utf-8").splitlines()]
    return [one.text for one in read_questions(folder / "questions.tsv")]


def pipeline_of(search: str, weak_below: float, words_below: float) -> Pipeline:
    """A pipeline of one search for the question and its check."""
    top_k = 60 if search == "query" else 8
    text = _PIPELINE.format(search=SEARCHES[search], top_k=top_k, weak_below=weak_below, words_below=words_below)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "weak.yaml"
        path.write_text(text, encoding="utf-8")
        return Pipeline.load(str(path))


def _weak(pipeline: Pipeline, server: str, repository: str, texts: Sequence[str]) -> str:
    """How many of the texts find nothing or weak matches, and how many there are."""
    reports = [
        pipeline.run(text, server=server, repository=repository, branch=BRANCH).state.search_report for text in texts
    ]
    return f"{sum(one is None or one.is_weak or not one.hits for one in reports)} of {len(reports)}"


if __name__ == "__main__":
    app()
