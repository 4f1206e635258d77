"""`python -m bench.low_rank`: trains the default model's factors on pairs. See `bench/README.md`."""

from pathlib import Path
from typing import Annotated

import typer

from bench.low_rank.train import read_pairs, train
from bench.shared.results import console, explained
from groundwire_index.embedding.sentence_transformer import load_model
from groundwire_ingest.embedding.packaged_model import packaged_folder, write_adapter

STEPS = 110
_STEPS_A_REPORT = 10


def main(
    pairs: Annotated[Path, typer.Argument(help="Pairs of a sentence and its code, one a line.", exists=True)],
    out: Annotated[Path, typer.Argument(help="The file to write, in safetensors format.")],
    steps: Annotated[int, typer.Option(min=1, help="Batches of 64 pairs.")] = STEPS,
) -> None:
    """Train the factors."""

    def report(step: int, loss: float) -> None:
        if step % _STEPS_A_REPORT == 0 or step == steps:
            console.print(f"step {step} of {steps}, loss {loss:.3f}")

    with explained(KeyError, ValueError):
        write_adapter(out, train(load_model(str(packaged_folder())), read_pairs(pairs), steps, report))


if __name__ == "__main__":
    typer.run(main)
