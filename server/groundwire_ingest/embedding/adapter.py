"""Low-rank factors (Hu et al. 2022) that are added to the weights of a model's linear layers."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from groundwire_ingest.embedding.bert_model import Floats

CODE_ADAPTER = Path(__file__).with_name("code_adapter.safetensors")
STRENGTH = np.float32(0.5)
"""The share of the trained change that is added; at half, the model keeps more of what it knew (docs/adr/0029)."""

_DOWN, _UP = ".down", ".up"


@dataclass(frozen=True, slots=True)
class Factors:
    """The factors of one linear layer's change, float16: `down` [rank, inputs], `up` [outputs, rank]."""

    down: NDArray[np.float16]
    up: NDArray[np.float16]

    def product(self) -> NDArray[np.float32]:
        """`up` times `down`, [outputs, inputs].

        Summed rank by rank: products of float16 are exact in float32, and sums in one order are the same on every
        machine, which a BLAS does not promise. The fingerprint of a model depends on each bit of its weights.
        """
        product = np.zeros((len(self.up), self.down.shape[1]), dtype=np.float32)
        for column, row in zip(self.up.T.astype(np.float32), self.down.astype(np.float32), strict=True):
            product += np.multiply.outer(column, row)
        return product


def read_adapter(path: Path) -> dict[str, Factors]:
    """The factors of a file by the name of their layer in the transformer."""
    arrays = load_file(path)
    names = sorted(name.removesuffix(_DOWN) for name in arrays if name.endswith(_DOWN))
    return {name: Factors(arrays[name + _DOWN], arrays[name + _UP]) for name in names}


def write_adapter(path: Path, adapter: Mapping[str, Factors]) -> None:
    """Writes factors to a file."""
    down = {name + _DOWN: factors.down for name, factors in adapter.items()}
    up = {name + _UP: factors.up for name, factors in adapter.items()}
    save_file({**down, **up}, path)


def merged(weights: Mapping[str, Floats], adapter: Mapping[str, Factors]) -> dict[str, Floats]:
    """The weights with half of each product added to that of its layer. Raises KeyError when there is no such layer."""
    changed: dict[str, Floats] = {
        f"{name}.weight": np.add(weights[f"{name}.weight"], STRENGTH * factors.product(), dtype=np.float32)
        for name, factors in adapter.items()
    }
    return {**weights, **changed}
