"""What training gives."""

import random
from pathlib import Path

import numpy as np
import pytest

from bench.low_rank.pairs import Pair
from groundwire_ingest.embedding.adapter import Factors
from support.tiny_bert import WIDTH, write_tiny_bert


@pytest.mark.slow
def test_training_brings_sentences_nearer_to_their_code(tmp_path: Path) -> None:
    # Here, because torch takes seconds to import, and tests are collected by every process.
    from bench.low_rank.train import BATCH, RANK, train
    from groundwire_index.embedding.sentence_transformer import load_model

    folder = str(write_tiny_bert(tmp_path))
    draw = random.Random(3)
    pairs = []
    for number in range(2 * BATCH):
        word = "".join(draw.choices("abcdefgh", k=6))
        pairs.append(Pair(f"p{number % 2}", "a.py", "", "", f"count {word}", f"{word[::-1]} 9 8"))
    losses: list[float] = []
    model = load_model(folder)
    adapter = train(model, pairs, 30, lambda _, loss: losses.append(loss))
    assert np.mean(losses[-5:]) < np.mean(losses[:5]) - 0.2
    assert len(adapter) == 12
    key = adapter["encoder.layer.0.attention.self.key"]
    assert isinstance(key, Factors)
    assert (key.down.shape, key.up.shape) == ((RANK, WIDTH), (WIDTH, RANK))
    weights = load_model(folder).state_dict()
    assert all(weights[f"0.model.{name}.weight"].shape == one.product().shape for name, one in adapter.items())
