"""`python -m bench.low_rank`: collects pairs of sentence and code, and trains on them. See `bench/README.md`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from bench.low_rank.collect import TRAINING_FILE, collect, read_pairs
from bench.low_rank.sources import SourceError
from bench.low_rank.train import train
from bench.quality.sets import SetError
from groundwire_index.embedding.sentence_transformer import load_model
from groundwire_ingest.embedding.adapter import write_adapter
from groundwire_ingest.embedding.packaged_model import packaged_folder

STEPS = 110
_STEPS_A_REPORT = 10

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)
console = Console()

Folder = Annotated[Path, typer.Argument(help="Sources are brought here, pairs and sets written here.")]


@app.command("collect")
def collect_pairs(
    folder: Folder,
    apart: Annotated[
        list[Path] | None, typer.Option(help="A folder with corpus.jsonl and queries.jsonl that is not trained on.")
    ] = None,
) -> None:
    """Collect the pairs of all sources of `sources.tsv`."""
    try:
        sizes = collect(folder, apart or [])
    except (SetError, SourceError) as error:
        console.print(f"error: {error}", markup=False)
        raise typer.Exit(1) from None
    for name, size in sizes.items():
        console.print(f"{name}: {size:,} pairs")


@app.command("train")
def train_factors(
    folder: Folder,
    out: Annotated[Path, typer.Argument(help="The file to write, in safetensors format.")],
    steps: Annotated[int, typer.Option(min=1, help="Batches of 64 pairs.")] = STEPS,
) -> None:
    """Train the factors on the pairs that `collect` has found."""

    def report(step: int, loss: float) -> None:
        if step % _STEPS_A_REPORT == 0 or step == steps:
            console.print(f"step {step} of {steps}, loss {loss:.3f}")

    write_adapter(out, train(load_model(str(packaged_folder())), read_pairs(folder / TRAINING_FILE), steps, report))


if __name__ == "__main__":
    app()
