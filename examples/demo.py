"""Evidence about real code, end to end: index a part of Python's standard library, serve it, and ask.

Indexes the packages json, http, urllib, email and logging of the interpreter that runs it, starts a server on a free
port, and runs search -> expand -> fetch for a question through the client. Everything it writes lies in `.demo/`.
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
from rich.syntax import Syntax
from rich.table import Table

from groundwire_client import Expansion, FetchResult, GroundwireClient, Scope, SearchResult

PACKAGES = ("json", "http", "urllib", "email", "logging")
QUESTION = "how does the HTTP client follow chunked transfer encoding when it reads a response?"
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


def ask(client: GroundwireClient, question: str) -> tuple[SearchResult, Expansion, FetchResult]:
    """Search, expand, fetch: three calls that read one snapshot, because the second and third pin the first's index."""
    scope = Scope(REPOSITORY, BRANCH)
    found = client.search(scope, question, top_k=5, explain=True)
    scope = scope.pinned(found.index)
    graph = client.expand(scope, found.ids, max_depth=1, max_nodes=25, edge_allowlist=["*"])
    return found, graph, client.fetch(scope, found.ids, graph.nodes, budget_tokens=1_500)


def show(console: Console, found: SearchResult, graph: Expansion, evidence: FetchResult) -> None:
    """Prints the evidence: hits with scores, edges, and texts with path, lines and tokens."""
    hits = Table("rank", "score", "lists", "node", title="Search: ids and scores")
    hits.columns[3].overflow = "fold"
    for hit in found.hits:
        legs = ", ".join(f"{leg.leg.value} #{leg.rank}" for leg in hit.legs)
        hits.add_row(str(hit.rank), f"{hit.score:.4f}", legs, _local(hit.id))
    console.print(hits)
    edges = Table(
        "from", "edge", "to", "confidence", title=f"Expand: {len(graph.nodes)} nodes, {len(graph.edges)} edges"
    )
    for edge in graph.edges[:12]:
        edges.add_row(_local(edge.from_id), edge.edge_type, _local(edge.to_id), f"{edge.confidence:.2f}")
    console.print(edges)
    for text in evidence.texts:
        where = f"{text.location.path}:{text.location.start_line}-{text.location.end_line}"
        console.rule(f"{where}  {text.token_count} tokens  {'seed' if text.is_seed else f'depth {text.depth}'}")
        console.print(Syntax(text.text, "python", start_line=text.location.start_line, line_numbers=True))
    console.rule()
    console.print(
        f"{len(evidence.texts)} texts, {evidence.used_tokens} of 1500 tokens; {len(evidence.skipped)} did not fit. "
        f"Index version {evidence.index}."
    )


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
    with running_server() as address, GroundwireClient(address, timeout=30) as client:
        console.print(f"\n[bold]{question}[/bold]\n")
        show(console, *ask(client, question))
    console.print(f"Done in {time.monotonic() - started:.0f} s.")


if __name__ == "__main__":
    main()
