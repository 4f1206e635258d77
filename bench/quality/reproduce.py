"""Reproduces all figures of `docs/quality.md`: builds sets, draws look-ups, measures modes, tries weights."""

import hashlib
import re
import sysconfig
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bench.quality.docstring_set import DISTRIBUTIONS, DOCUMENTS, QUERIES, build_docstring_set
from bench.quality.look_ups import draw_look_ups, with_typos
from bench.quality.measurement import QuestionSet, Setup, measure_sets, serving
from bench.quality.plot import write_sweep_plot
from bench.quality.sets import HELD_OUT, Document, JudgedQuery, read_corpus, read_queries
from bench.quality.standard_library import standard_library_documents
from bench.quality.sweep import DENSE_WEIGHTS, Curve, gather, sweep
from bench.shared.results import Grid, write_results

LOOK_UPS = 500
_FUNCTION_NAME = re.compile(r"\bdef\s+(\w+)")


def reproduce_figures(cosqa: Path, setup: Setup, out: Path) -> None:
    """Measures the three corpora, and writes the results of all weights on the first two.

    Raises GroundwireError, PackageNotFoundError, RuntimeError, SetError.
    """
    docstrings = out / "docstring"
    build_docstring_set(DISTRIBUTIONS, DOCUMENTS, QUERIES, docstrings)
    library = standard_library_documents(Path(sysconfig.get_path("stdlib")), out / "stdlib")
    curves: dict[str, list[Curve]] = {}
    for name, folder, corpus in (
        ("cosqa", cosqa, cosqa_documents(cosqa)),
        ("docstring", docstrings, read_corpus(docstrings / "corpus.jsonl")),
    ):
        own = questions(name, folder, corpus)
        with serving(name, corpus, setup, out) as served:
            pools = gather(served.client, served.scope, corpus, own.queries)
            measure_sets(served, [own, *look_ups(name, corpus)], setup, out)
        for part, is_held_out in (("tuning", False), (HELD_OUT, True)):
            curves[f"{name}, {part}"] = sweep([pool for pool in pools if pool.is_held_out == is_held_out])
    write_sweep(out, curves)
    with serving("stdlib", library, setup, out) as served:
        measure_sets(served, look_ups("stdlib", library), setup, out)


def write_sweep(out: Path, curves: Mapping[str, Sequence[Curve]]) -> None:
    """`weights.md`, `.json` and `.png`: nDCG@10 by weight of the dense retriever, set and normalisation."""
    columns = {f"{name}, {curve.normalisation}": curve.ndcg_10 for name, some in curves.items() for curve in some}
    weights = [f"{weight:.2f}" for weight in DENSE_WEIGHTS]
    rows = [[weight, *(f"{means[row]:.3f}" for means in columns.values())] for row, weight in enumerate(weights)]
    write_results(out, "weights", [Grid("nDCG@10 by weight", ["dense weight", *columns], rows)], {"ndcg_10": columns})
    write_sweep_plot(out / "weights.png", curves)


def cosqa_documents(folder: Path) -> list[Document]:
    """The functions of a CoSQA folder, each with its name as the symbol, as in an index of real code."""
    return [_with_symbol(document) for document in read_corpus(folder / "corpus.jsonl")]


def questions(name: str, folder: Path, corpus: Sequence[Document]) -> QuestionSet:
    """A folder's own queries."""
    return QuestionSet(name, mark_held_out(read_queries(folder / "queries.jsonl", corpus)), "ndcg_10")


def look_ups(name: str, corpus: Sequence[Document]) -> list[QuestionSet]:
    """Names of a corpus, without and with a typing error."""
    drawn = draw_look_ups(corpus, LOOK_UPS)
    return [
        QuestionSet(f"{name}-names", drawn, "mrr_10"),
        QuestionSet(f"{name}-typos", with_typos(drawn), "mrr_10"),
    ]


def mark_held_out(queries: Iterable[JudgedQuery]) -> list[JudgedQuery]:
    """Marks half of the queries, chosen by a hash of their text, as held out: the weights were not chosen by them."""
    return [query if _is_tuning(query.query) else replace(query, parts=(*query.parts, HELD_OUT)) for query in queries]


def _is_tuning(query: str) -> bool:
    return hashlib.sha256(query.encode()).digest()[-1] % 2 == 1


def _with_symbol(document: Document) -> Document:
    match = _FUNCTION_NAME.search(str(document.fields["text"]))
    return replace(document, fields={**document.fields, "symbol": match[1]}) if match else document
