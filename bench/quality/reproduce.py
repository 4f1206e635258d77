"""Everything that `docs/quality.md` states: the sets are built, the look-ups drawn, and every mode measured on each."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from bench.quality.look_ups import draw_look_ups, with_typos
from bench.quality.measurement import QuestionSet
from bench.quality.sets import Document, JudgedQuery, read_corpus, read_queries

HELD_OUT = "held out"
LOOK_UPS = 500
_FUNCTION_NAME = re.compile(r"\bdef\s+(\w+)")


def cosqa_documents(folder: Path) -> list[Document]:
    """The functions of a CoSQA folder, each with its name as the symbol, as an index of real code has it."""
    return [_with_symbol(document) for document in read_corpus(folder / "corpus.jsonl")]


def question_sets(name: str, folder: Path, corpus: Sequence[Document]) -> list[QuestionSet]:
    """A folder's own queries, and look-ups of its documents' names, typed right and with a slip."""
    look_ups = draw_look_ups(corpus, LOOK_UPS)
    return [
        QuestionSet(name, mark_held_out(read_queries(folder / "queries.jsonl", corpus)), "ndcg_10"),
        QuestionSet(f"{name}-names", look_ups, "mrr_10"),
        QuestionSet(f"{name}-typos", with_typos(look_ups), "mrr_10"),
    ]


def mark_held_out(queries: Iterable[JudgedQuery]) -> list[JudgedQuery]:
    """Half of the queries, chosen by a hash of their text, are a part that the tuning of weights never looked at."""
    return [query if _is_tuning(query.query) else replace(query, parts=(*query.parts, HELD_OUT)) for query in queries]


def _is_tuning(query: str) -> bool:
    return hashlib.sha256(query.encode()).digest()[-1] % 2 == 1


def _with_symbol(document: Document) -> Document:
    match = _FUNCTION_NAME.search(str(document.fields["text"]))
    return replace(document, fields={**document.fields, "symbol": match[1]}) if match else document
