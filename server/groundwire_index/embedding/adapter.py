"""Low-rank factors (Hu et al. 2022) that are added to the weights of a model's linear layers when it is loaded."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file
from sentence_transformers import SentenceTransformer
from torch import nn

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


def merge(model: SentenceTransformer, adapter: Mapping[str, Factors]) -> None:
    """Adds half of each product to the weight of its layer, in place. Raises KeyError when there is no such layer."""
    weights = cast("nn.Module", model[0].auto_model).state_dict()
    for name, factors in adapter.items():
        weights[f"{name}.weight"].add_(torch.from_numpy(STRENGTH * factors.product()))
