"""`python -m bench.ranking`: learns the order of matches from what developers changed. See `bench/README.md`."""

import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from bench.ranking.compare import BASELINE, COMPARED, grid, reciprocal_ranks
from bench.ranking.pairs import pairs_of, read_sources, spans_of, used_changes, write_pairs
from bench.repositories.history import archive, commit_of
from bench.repositories.indexing import exported_nodes, unpack
from bench.shared.programs import build_index
from bench.shared.results import console, explained, write_results
from groundwire_index.embedding.model_names import DEFAULT_MODEL

SOURCES = Path(__file__).with_name("sources.tsv")

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)


@app.command()
def pairs(
    clones: Annotated[Path, typer.Argument(help="Has a clone OWNER+NAME of each repository.", exists=True)],
    out: Annotated[Path, typer.Argument(help="The folder for indexes and pairs; what it has is kept.")],
    sources: Annotated[Path, typer.Option(help="The table of repositories.", exists=True)] = SOURCES,
    most: Annotated[int, typer.Option(help="The most commits of a repository.", min=1)] = 150,
) -> None:
    """Index each repository as it was before its newest commits, and write their subjects and nodes."""
    with explained():
        for source in read_sources(sources):
            folder = out / source.name
            if (folder / "pairs.jsonl").exists():
                continue
            folder.mkdir(parents=True, exist_ok=True)
            git = clones / source.name
            changes = used_changes(git, source.commit, most)
            if not changes:
                raise RuntimeError(f"{git}: no commit up to {source.commit} is a question: see bench/README.md")
            base = commit_of(git, f"{changes[-1].hash}^")
            archive(git, base, ["."], folder / "source.tar.gz")
            tree = unpack(folder / "source.tar.gz", folder)
            build_index(tree, source.name, out / "data", DEFAULT_MODEL)
            spans = spans_of(exported_nodes(source.name, out / "data", folder / "nodes.jsonl"))
            count = write_pairs(folder / "pairs.jsonl", pairs_of(git, base, changes, spans))
            shutil.rmtree(tree)
            console.print(f"{source.name}: {count} pairs of {len(changes)} commits")


@app.command("compare")
def compare_rules(
    indexed: Annotated[Path, typer.Argument(help="The folder that `pairs` wrote.", exists=True)],
    out: Annotated[Path, typer.Option(help="The folder for the results.")],
    sources: Annotated[Path, typer.Option(help="The table of repositories.", exists=True)] = SOURCES,
) -> None:
    """Ask the subjects with other numbers in the rules of length and of words within the file. Needs no network."""
    with explained():
        ranks_by_source = {
            source: reciprocal_ranks(indexed / "data", indexed / source.name, (BASELINE, *COMPARED))
            for source in read_sources(sources)
            if (indexed / source.name / "pairs.jsonl").exists()
        }
        parts = dict.fromkeys(source.part for source in ranks_by_source)
        grids = [
            grid(
                part, {source_part: ranks for source_part, ranks in ranks_by_source.items() if source_part.part == part}
            )
            for part in parts
        ]
    write_results(out, "ranking", grids, {"sources": [asdict(source) for source in ranks_by_source]})


if __name__ == "__main__":
    app()
