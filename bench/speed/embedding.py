"""How fast queries and texts are embedded in process, and how far the int8 encoder agrees with the model.

The ways of embedding take turns on the same queries, so that what else the machine does falls on all of them. CPU time
is that of all threads.
"""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from bench.quality.sets import Document, JudgedQuery
from bench.shared.results import Grid
from groundwire_index.embedding.int8.encoder import Int8Encoder
from groundwire_index.embedding.int8.store import EncoderStore
from groundwire_index.embedding.names import PACKAGED_MODELS
from groundwire_ingest.embedding.convert import convert
from groundwire_ingest.embedding.own_model import OwnModel
from groundwire_ingest.embedding.packaged_model import packaged_folder
from groundwire_server.execution.checkpoint import never_stop
from groundwire_server.query_embedding.batched_encoder import BatchedEncoder

WAITING = 32
ROUNDS = 7
TEXTS = 800
TEXT_CHARACTERS = 400
"""Texts to be found are cut to this, so that embedding them does not take most of the run."""
TIMED_TEXTS = 200
TOP = 10

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Way:
    """A way of embedding all queries or texts of a round."""

    name: str
    embed: Callable[[Sequence[str]], None]


def measure_embedding(corpus: Sequence[Document], queries: Sequence[JudgedQuery], embedder: str) -> list[Grid]:
    """Times and agreement; of a packaged name, those of the plain model.

    Raises RuntimeError for a model that cannot be converted.
    """
    relevant = dict.fromkeys(id_ for query in queries for id_ in query.relevant)
    texts = {document.id: str(document.fields["text"]) for document in corpus}
    chosen = {id_: texts[id_][:TEXT_CHARACTERS] for id_ in list(dict.fromkeys([*relevant, *texts]))[:TEXTS]}
    with TemporaryDirectory() as folder:
        model = OwnModel(str(packaged_folder()) if embedder in PACKAGED_MODELS else embedder)
        encoder = convert(EncoderStore(Path(folder)), model)
        if encoder is None:
            raise RuntimeError(f"{embedder} cannot be converted: name a BERT")
        return [
            _times_grid("query", _query_times(model, encoder, [query.query for query in queries[: 3 * WAITING]])),
            _times_grid("text", _text_times(model, encoder, list(texts.values())[:TIMED_TEXTS])),
            _agreement_grid(model, encoder, queries, chosen),
        ]


def _query_times(model: OwnModel, encoder: Int8Encoder, queries: Sequence[str]) -> dict[str, list[tuple[float, float]]]:
    one_at_a_time, batched = Lock(), BatchedEncoder(encoder)

    def unbatched(query: str) -> None:
        with one_at_a_time:
            encoder.embed_query(query)

    with ThreadPoolExecutor(WAITING) as pool:
        ways = (
            Way("fp32, one client", lambda asked: _each(model.embed_query, asked)),
            Way("int8, one client", lambda asked: _each(encoder.embed_query, asked)),
            Way(f"fp32, {WAITING} waiting", lambda asked: _drain(pool.map(model.embed_query, asked))),
            Way(f"int8, {WAITING} waiting, one at a time", lambda asked: _drain(pool.map(unbatched, asked))),
            Way(
                f"int8, {WAITING} waiting, batched",
                lambda asked: _drain(pool.map(partial(batched.embed_query, checkpoint=never_stop), asked)),
            ),
        )
        return _in_turn(ways, queries)


def _text_times(model: OwnModel, encoder: Int8Encoder, texts: Sequence[str]) -> dict[str, list[tuple[float, float]]]:
    """Whole texts, on all cores: as a build embeds those of a model without an encoder, and of one with it."""
    threads = os.cpu_count() or 1
    ways = (
        Way("fp32, one at a time", lambda given: _drain(model.embed_texts(given))),
        Way("int8, in batches", lambda given: _drain(encoder.embed_texts(given, model.text_prompt() or "", threads))),
    )
    return _in_turn(ways, texts)


def _in_turn(ways: Sequence[Way], texts: Sequence[str]) -> dict[str, list[tuple[float, float]]]:
    """Milliseconds a text of each way and round: wall, CPU."""
    times: dict[str, list[tuple[float, float]]] = {way.name: [] for way in ways}
    for number in range(ROUNDS + 1):
        for way in ways:
            wall, cpu = time.perf_counter(), time.process_time()
            way.embed(texts)
            spent = time.perf_counter() - wall, time.process_time() - cpu
            if number > 0:  # the first round warms up
                times[way.name].append((1e3 * spent[0] / len(texts), 1e3 * spent[1] / len(texts)))
    return times


def _each(embed: Callable[[str], Vectors], queries: Sequence[str]) -> None:
    for query in queries:
        embed(query)


def _drain(results: object) -> None:
    list(results)  # type: ignore[call-overload]


def _times_grid(what: str, spent: Mapping[str, list[tuple[float, float]]]) -> Grid:
    medians = {name: np.median(rounds, axis=0) for name, rounds in spent.items()}
    base = next(iter(medians.values()))
    rows = [
        [name, f"{wall:.2f}", f"{cpu:.2f}", f"{base[0] / wall:.1f}", f"{base[1] / cpu:.1f}"]
        for name, (wall, cpu) in medians.items()
    ]
    headings = [f"embedding a {what}", "ms", "CPU ms", "times as fast as the first", "by CPU"]
    return Grid(f"Embedding in process, a {what}", headings, rows)


def _agreement_grid(
    model: OwnModel, encoder: Int8Encoder, queries: Sequence[JudgedQuery], texts: Mapping[str, str]
) -> Grid:
    vectors = model.embed_texts(list(texts.values()))
    by_model = np.stack([model.embed_query(query.query) for query in queries])
    by_encoder = np.stack([encoder.embed_query(query.query) for query in queries])
    cosines = np.einsum("ij,ij->i", by_model, by_encoder, dtype=np.float64)
    first, second = _ranked(by_model, vectors), _ranked(by_encoder, vectors)
    common = [len(set(a[:TOP]) & set(b[:TOP])) / TOP for a, b in zip(first, second, strict=True)]
    rows = [
        [f"cosine over {len(cosines)} queries, mean", f"{cosines.mean():.5f}"],
        ["cosine, least", f"{cosines.min():.5f}"],
        [f"first {TOP} of {len(vectors)} texts in common, mean", f"{np.mean(common):.3f}"],
        ["same first text", f"{np.mean(first[:, 0] == second[:, 0]):.3f}"],
    ]
    for name, ranked in (("model", first), ("int8", second)):
        rows.append([f"MRR@{TOP}, {name}", f"{_mean_reciprocal_rank(ranked, list(texts), queries):.4f}"])
    return Grid("Agreement of the int8 encoder with the model", ["", "value"], rows)


def _ranked(queries: Vectors, texts: Vectors) -> NDArray[np.int64]:
    """The rows of the texts for each query [queries, texts], best first."""
    return np.argsort(-(queries.astype(np.float64) @ texts.T.astype(np.float64)), axis=1, kind="stable")


def _mean_reciprocal_rank(ranked: NDArray[np.int64], ids: Sequence[str], queries: Sequence[JudgedQuery]) -> float:
    ranks = (
        next((rank for rank, row in enumerate(rows[:TOP], start=1) if ids[row] in query.relevant), None)
        for rows, query in zip(ranked.tolist(), queries, strict=True)
    )
    return float(np.mean([0.0 if rank is None else 1 / rank for rank in ranks]))
