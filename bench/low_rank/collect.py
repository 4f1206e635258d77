"""Collects the pairs for training, and the sets that are kept aside."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path

from bench.low_rank.pairs import Pair, described_functions, distinct, key, pairs_of
from bench.low_rank.sources import CodeSource, Use, files_of, read_table
from bench.quality.sets import read_corpus, read_queries, write_lines

MOST_OF_A_PACKAGE = 700
"""The most pairs for training from one package, so that none outweighs the others."""
DOCUMENTS, QUERIES = 2_000, 500
"""The sizes of a set that is kept aside."""
TRAINING_FILE = "train.jsonl"


def collect(folder: Path, apart: Sequence[Path]) -> dict[str, int]:
    """Writes `train.jsonl` and the sets `kept-python` and `kept-other` into a folder; returns their sizes.

    `apart` are folders with a corpus.jsonl and a queries.jsonl, whose content is excluded from training. Raises
    SetError, SourceError.
    """
    table = read_table()
    seen = {key(text) for one in apart for text in _texts_of(one)}
    kept = {kind: list(_pairs(table, "kept", kind, folder, seen)) for kind in ("pypi", "github")}
    trained = list(chain(*(_pairs(table, "train", kind, folder, seen) for kind in ("pypi", "github"))))
    write_lines(folder / TRAINING_FILE, map(asdict, trained))
    _write_set(folder / "kept-python", kept["pypi"])
    _write_set(folder / "kept-other", kept["github"])
    return {TRAINING_FILE: len(trained), "kept-python": len(kept["pypi"]), "kept-other": len(kept["github"])}


def read_pairs(path: Path) -> list[Pair]:
    """The pairs of a file that `collect` wrote."""
    with path.open(encoding="utf-8") as file:
        return [Pair(**json.loads(line)) for line in file]


def _texts_of(folder: Path) -> Iterator[str]:
    """The content excluded from training: the texts, their functions without docstrings, the sentences, the queries."""
    corpus = read_corpus(folder / "corpus.jsonl")
    for document in corpus:
        text = str(document.fields["text"])
        yield text
        for sentence, _, function in described_functions(text):
            yield from (sentence, function)
    for query in read_queries(folder / "queries.jsonl", corpus):
        yield query.query


def _pairs(table: Iterable[CodeSource], use: Use, kind: str, folder: Path, seen: set[str]) -> Iterator[Pair]:
    for source in table:
        if (source.use, source.kind) == (use, kind):
            found = (
                pair for path, content in files_of(source, folder) for pair in pairs_of(source.name, path, content)
            )
            yield from _sample(distinct(found, seen), MOST_OF_A_PACKAGE)


def _sample(pairs: Iterable[Pair], count: int) -> list[Pair]:
    """At most `count` pairs, chosen by a hash of their content."""
    return sorted(pairs, key=lambda pair: hashlib.sha256(f"{pair.id} {pair.text}".encode()).digest())[:count]


def _write_set(folder: Path, pairs: Sequence[Pair]) -> None:
    chosen = _sample(pairs, DOCUMENTS)
    ids = [f"{number}:{pair.id}" for number, pair in enumerate(chosen)]
    folder.mkdir(parents=True, exist_ok=True)
    write_lines(
        folder / "corpus.jsonl",
        (
            {"id": id_, "text": pair.text, "path": pair.path, "symbol": pair.symbol, "context_prefix": pair.context}
            for id_, pair in zip(ids, chosen, strict=True)
        ),
    )
    asked = zip(ids[:QUERIES], chosen, strict=False)
    write_lines(folder / "queries.jsonl", ({"query": pair.sentence, "relevant": [id_]} for id_, pair in asked))
