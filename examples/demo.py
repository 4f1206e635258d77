"""Evidence about real code, end to end: index a part of Python's standard library, serve it, and ask.

Indexes the packages json, http, urllib and logging of the interpreter that runs it, and starts a server on a free port.
Then it answers a question with the pipeline `evidence`, without a language model.
Everything it writes lies in `.demo/`. On the command line the last part is

    groundwire run evidence "how are chunks read?" --server HOST:PORT --repository stdlib --branch 3.11
"""

import argparse
import json
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.table import Table

from groundwire_pipelines import Pipeline, PipelineState

PACKAGES = ("json", "http", "urllib", "logging")
QUESTION = "how does the HTTP client follow chunked transfer encoding when it reads a response?"
EDGES_SHOWN = 12
FOLDER = Path(".demo")
REPOSITORY, BRANCH = "stdlib", ".".join(map(str, sys.version_info[:2]))
GROUNDWIRE = Path(sys.executable).with_name("groundwire")


def build_index() -> None:
    """Copies the packages' sources aside and indexes them as a tree."""
    library = Path(sysconfig.get_path("stdlib"))
    source = FOLDER / "source"
    shutil.rmtree(source, ignore_errors=True)
    for package in PACKAGES:
        shutil.copytree(library / package, source / package, ignore=shutil.ignore_patterns("__pycache__"))
    scope = ("--repository", REPOSITORY, "--branch", BRANCH)
    subprocess.run([GROUNDWIRE, "index", source, *scope, "--data", FOLDER / "data"], check=True)


@contextmanager
def running_server() -> Iterator[str]:
    """Runs a server on a free port and yields its address; drains it at the end."""
    command: list[str | Path] = [GROUNDWIRE, "serve", "--data", FOLDER / "data", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if json.loads(line)["event"] == "listening":
                break
        else:
            raise SystemExit("the server did not start")
        try:
            yield json.loads(line)["address"]
        finally:
            process.terminate()


def show(console: Console, state: PipelineState) -> None:
    """Prints what a run found: hits with scores, edges, and the rendered evidence with paths and lines."""
    hits = Table("rank", "score", "node", title="Matches: ids and scores")
    hits.columns[2].overflow = "fold"
    for hit in state.retrieval_hits:
        hits.add_row(str(hit.rank), f"{hit.score:.4f}", _local(hit.id))
    console.print(hits)
    title = f"Graph: {len(state.graph_expanded_nodes)} nodes, {len(state.graph_edges)} edges, the first of them"
    edges = Table("from", "edge", "to", "sure", title=title)
    edges.columns[0].overflow = edges.columns[2].overflow = "fold"
    for edge in state.graph_edges[:EDGES_SHOWN]:
        edges.add_row(_local(edge.from_id), edge.edge_type, _local(edge.to_id), f"{edge.confidence:.2f}")
    console.print(edges)
    console.rule("Evidence: the lines that fit the budget")
    console.print(state.final_answer, markup=False, highlight=False)
    console.rule()
    console.print(f"From index version {state.active_index}.")


def _local(id_: str) -> str:
    return id_.split("::", 3)[3]


def main() -> None:
    """Runs the demonstration."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("question", nargs="?", default=QUESTION)
    question = parser.parse_args().question
    console = Console()
    started = time.monotonic()
    build_index()
    with running_server() as address:
        console.print(f"\n[bold]{question}[/bold]\n")
        pipeline = Pipeline.load("evidence", top_k=5, graph_max_depth=1, graph_max_nodes=25, max_context_tokens=2_000)
        show(console, pipeline.run(question, server=address, repository=REPOSITORY, branch=BRANCH).state)
    console.print(f"Done in {time.monotonic() - started:.0f} s.")


if __name__ == "__main__":
    main()
