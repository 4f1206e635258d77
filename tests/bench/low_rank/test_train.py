"""What training gives."""

import csv
import json
import random
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from bench.shared.programs import ROOT
from groundwire_ingest.embedding.packaged_model import Factors
from support.tiny_bert import WIDTH, write_tiny_bert

PERMISSIVE = {"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"}
MEASURED_REPOSITORIES = {"dotnet/eshop", "pallets/flask", "hoppscotch/hoppscotch", "usememos/memos"}


def test_sources_are_permissive_and_not_among_what_is_measured() -> None:
    with (ROOT / "bench" / "low_rank" / "sources.tsv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file, delimiter="\t"))
    assert {source["licence"] for source in table} <= PERMISSIVE
    names = [source["name"].lower() for source in table]
    assert len(set(names)) == len(names)
    assert set(names).isdisjoint(MEASURED_REPOSITORIES)


@pytest.mark.slow
def test_training_brings_sentences_nearer_to_their_code(tmp_path: Path) -> None:
    # Here, because torch takes seconds to import, and tests are collected by every process.
    from bench.low_rank.train import BATCH, RANK, Pair, read_pairs, train
    from groundwire_index.embedding.sentence_transformer import load_model

    folder = str(write_tiny_bert(tmp_path))
    draw = random.Random(3)
    lines = []
    for number in range(2 * BATCH):
        word = "".join(draw.choices("abcdefgh", k=6))
        pair = Pair(f"p{number % 2}", "", "", f"count {word}", f"{word[::-1]} 9 8")
        lines.append(json.dumps({**asdict(pair), "path": "a.py"}) + "\n")
    (tmp_path / "pairs.jsonl").write_text("".join(lines), encoding="utf-8")
    pairs = read_pairs(tmp_path / "pairs.jsonl")
    losses: list[float] = []
    model = load_model(folder)
    adapter = train(model, pairs, 30, lambda _, loss: losses.append(loss))
    assert np.mean(losses[-5:]) < np.mean(losses[:5]) - 0.2
    assert len(adapter) == 12
    key = adapter["encoder.layer.0.attention.self.key"]
    assert isinstance(key, Factors)
    assert (key.down.shape, key.up.shape) == ((RANK, WIDTH), (WIDTH, RANK))
    weights = load_model(folder).state_dict()
    assert all(weights[f"0.model.{name}.weight"].shape == factors.product().shape for name, factors in adapter.items())
