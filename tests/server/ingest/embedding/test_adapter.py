"""The factors that make the code model of the plain one: their file, what they add, and what that changes."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from groundwire_index.embedding.int8.store import EncoderStore
from groundwire_index.embedding.model_names import CODE_MODEL, PLAIN_MODEL
from groundwire_ingest.embedding.convert import agreed_encoder
from groundwire_ingest.embedding.packaged_model import (
    CODE_ADAPTER,
    Factors,
    PackagedModel,
    merged,
    read_adapter,
    write_adapter,
)

LAYER = "encoder.layer.1.attention.self.key"


def factors(outputs: int, inputs: int, rank: int = 3) -> Factors:
    random = np.random.default_rng(7)
    return Factors(
        random.normal(size=(rank, inputs)).astype(np.float16), random.normal(size=(outputs, rank)).astype(np.float16)
    )


@pytest.fixture(scope="module")
def code() -> PackagedModel:
    return PackagedModel(CODE_MODEL)


@pytest.fixture(scope="module")
def plain() -> PackagedModel:
    return PackagedModel(PLAIN_MODEL)


def test_the_packaged_factors_are_those_that_were_measured() -> None:
    assert hashlib.sha256(CODE_ADAPTER.read_bytes()).hexdigest() == (
        "a8cd5d8960cbb309ebf9f2e5f3f743e7da5248450108bc15c1cee395d0b986e4"
    )
    adapter = read_adapter(CODE_ADAPTER)
    parts = ("attention.output", "attention.self.key", "attention.self.query", "attention.self.value")
    assert sorted(adapter) == sorted(
        f"encoder.layer.{layer}.{part}"
        for layer in range(6)
        for part in ("attention.output.dense", *parts[1:], "intermediate.dense", "output.dense")
    )
    assert {
        (low_rank.down.shape[0], low_rank.up.shape[1], low_rank.down.dtype.name) for low_rank in adapter.values()
    } == {(16, 16, "float16")}


def test_half_of_the_product_is_added_to_each_weight() -> None:
    random = np.random.default_rng(9)
    names = (f"{LAYER}.weight", f"{LAYER}.bias", "pooler.dense.weight")
    weights = {name: random.normal(size=(8, 8)).astype(np.float32) for name in names}
    before = {name: values.copy() for name, values in weights.items()}
    change = factors(8, 8)
    for name, values in merged(weights, {LAYER: change}).items():
        expected = before[name].astype(np.float64)
        if name == f"{LAYER}.weight":
            expected = expected + 0.5 * (change.up.astype(np.float64) @ change.down.astype(np.float64))
        assert values.dtype == np.float32
        np.testing.assert_allclose(values, expected, rtol=1e-5, atol=1e-6)
        assert weights[name].tobytes() == before[name].tobytes()


def test_a_product_does_not_depend_on_how_it_is_summed() -> None:
    change = factors(40, 24, rank=16)
    sums = np.zeros((40, 24), dtype=np.float32)
    for row in range(40):
        for rank in range(16):
            sums[row] += np.float32(change.up[row, rank]) * change.down[rank].astype(np.float32)
    assert change.product().tobytes() == sums.tobytes()


def test_a_file_gives_back_what_was_written(tmp_path: Path) -> None:
    adapter = {LAYER: factors(8, 4), "encoder.layer.0.output.dense": factors(4, 8)}
    write_adapter(tmp_path / "one", adapter)
    write_adapter(tmp_path / "two", dict(reversed(adapter.items())))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    for name, read in read_adapter(tmp_path / "one").items():
        assert (read.down.tobytes(), read.up.tobytes()) == (adapter[name].down.tobytes(), adapter[name].up.tobytes())


def test_a_layer_that_the_model_has_not_is_an_error() -> None:
    with pytest.raises(KeyError, match=r"encoder\.layer\.9"):
        merged({}, {"encoder.layer.9.output.dense": factors(8, 8)})


def test_the_models_are_told_apart(plain: PackagedModel, code: PackagedModel) -> None:
    assert plain.fingerprint != code.fingerprint
    assert (plain.name, code.name, code.dimension) == (PLAIN_MODEL, CODE_MODEL, plain.dimension)
    assert 0.5 < plain.embed_query("parse a date") @ code.embed_query("parse a date") < 0.999


def test_the_int8_encoder_agrees_with_the_merged_model(tmp_path: Path, code: PackagedModel) -> None:
    agreed = agreed_encoder(EncoderStore(tmp_path), code)
    assert agreed is not None
    encoder, agreement = agreed
    assert agreement.mean_cosine > 0.999
    assert encoder.record.model == code.fingerprint
