"""`python -m bench.quality`: measures retrieval quality. See `bench/README.md`."""

from pathlib import Path
from typing import Annotated

import typer

from bench.quality.look_ups import draw_look_ups, with_typos
from bench.quality.measurement import Setup, UnknownModeError, chosen_modes, measure_set
from bench.quality.report import MEASURES
from bench.quality.sets import SetError, read_corpus, read_queries, write_queries
from bench.shared.results import explained
from groundwire_client import GroundwireError
from groundwire_index.embedding.model_names import DEFAULT_MODEL

_ERRORS = (GroundwireError, SetError, UnknownModeError)

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)

Corpus = Annotated[Path, typer.Argument(help="corpus.jsonl: one {id, text, ...} a line.", exists=True, dir_okay=False)]


@app.command()
def run(
    corpus: Corpus,
    queries: Annotated[
        Path, typer.Argument(help="queries.jsonl: one {query, relevant} a line.", exists=True, dir_okay=False)
    ],
    out: Annotated[Path, typer.Option(help="The folder for the index and the results.")],
    baseline: Annotated[str, typer.Option(help="The mode that the others are compared with.")] = "rrf",
    mode: Annotated[list[str] | None, typer.Option(help="A mode to run; repeat it for more. All unless given.")] = None,
    measure: Annotated[str, typer.Option(help="The measure that is compared.")] = "ndcg_10",
    embedder: Annotated[
        str, typer.Option(help="Model to embed with, by name or path; none where the files bring vectors.")
    ] = DEFAULT_MODEL,
    reranker: Annotated[
        str, typer.Option(help="The reranker, as for `groundwire serve`; without it no mode does.")
    ] = "",
) -> None:
    """Index a corpus, run its queries in every mode, and write the results as tables and JSON."""
    if measure not in MEASURES:
        raise typer.BadParameter(f"{measure!r} is none of {', '.join(MEASURES)}", param_hint="--measure")
    with explained(*_ERRORS):
        setup = Setup(chosen_modes(mode, baseline, reranker), baseline, embedder, reranker)
        documents = read_corpus(corpus)
        measure_set(queries.stem, documents, read_queries(queries, documents), measure, setup, out)


@app.command("look-ups")
def draw(
    corpus: Corpus,
    folder: Annotated[Path, typer.Argument(help="Where names.jsonl and typos.jsonl are written.")],
    count: Annotated[int, typer.Option(min=1, help="How many names are drawn.")] = 1_000,
) -> None:
    """Draw names from a corpus whose documents have symbols: queries for `run`, without and with a typing error."""
    with explained(*_ERRORS):
        drawn = draw_look_ups(read_corpus(corpus), count)
    write_queries(folder / "names.jsonl", drawn)
    write_queries(folder / "typos.jsonl", with_typos(drawn))


if __name__ == "__main__":
    app()
