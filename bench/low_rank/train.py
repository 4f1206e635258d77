"""Trains low-rank factors of a model's linear layers (Hu et al. 2022) on pairs of a sentence and its code.

The loss is InfoNCE (van den Oord et al. 2018) over the batch: a sentence must be nearer to its own code than to that of
all others. Half of a batch comes from one package, whose code is similar and so harder to distinguish.
"""

import json
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import cast

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from torch import Tensor, nn
from torch.nn import functional
from transformers import BertModel, PreTrainedTokenizerBase

from groundwire_ingest.build.vectors import embedded_text
from groundwire_ingest.embedding.packaged_model import Factors

RANK = 16
BATCH = 64
TEMPERATURE = 0.05
MOST_TOKENS = 96
LEARNING_RATE = 5e-4
WARM_UP, LAST_RATE = 0.1, 0.02
"""The share of the steps in which the learning rate rises, and the share of the rate at the end."""
MOST_GRADIENT = 1.0
NAMED = 0.5
"""The share of texts that begin with their name, since some indexes have names and others none."""
SEED = 0

Report = Callable[[int, float], None]
"""Called with the number of finished steps, and the loss of the last one."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A question, and the code that answers it: qualified name, head of its type, and text.

    Half of a batch comes from one `package`, such as a repository.
    """

    package: str
    symbol: str
    context: str
    sentence: str
    text: str


def read_pairs(path: Path) -> list[Pair]:
    """The pairs of a file, one JSON object with these fields per line; others are ignored."""
    names = [field.name for field in fields(Pair)]
    with path.open(encoding="utf-8") as file:
        return [Pair(**{name: line[name] for name in names}) for line in map(json.loads, file)]


class LowRankLinear(nn.Module):
    """A linear layer whose weight has the product of two trained factors added; the rest is frozen, in bfloat16."""

    def __init__(self, base: nn.Linear) -> None:
        super().__init__()
        self._weight, self._bias = base.weight.detach().float(), base.bias.detach().bfloat16()
        self.down = nn.Parameter(torch.randn(RANK, base.in_features) / math.sqrt(base.in_features))
        self.up = nn.Parameter(torch.zeros(base.out_features, RANK))

    def forward(self, inputs: Tensor) -> Tensor:
        """[..., inputs] -> [..., outputs], bfloat16."""
        return functional.linear(inputs, (self._weight + self.up @ self.down).bfloat16(), self._bias)


def train(model: SentenceTransformer, pairs: Sequence[Pair], steps: int, report: Report) -> dict[str, Factors]:
    """The factors of every linear layer of the model's encoder, by the layer's name. Modifies the model."""
    torch.manual_seed(SEED)
    bert = cast("BertModel", model[0].auto_model)
    bert.set_attn_implementation("eager")  # twice as fast in bfloat16 on a CPU
    bert.requires_grad_(requires_grad=False).bfloat16()
    layers = _replace_linears(bert)
    parameters = [factor for layer in layers.values() for factor in (layer.down, layer.up)]
    optimiser = torch.optim.AdamW(parameters, lr=LEARNING_RATE, weight_decay=0.01)
    draw = random.Random(SEED)
    batches = _batches(pairs, draw)
    for step in range(steps):
        for group in optimiser.param_groups:
            # Rises linearly, then falls linearly.
            group["lr"] = LEARNING_RATE * min(1.0, (step + 1) / (WARM_UP * steps)) * max(LAST_RATE, 1 - step / steps)
        batch = [pairs[number] for number in next(batches)]
        sentences = _embedded(model, bert, [pair.sentence for pair in batch])
        texts = _embedded(model, bert, [_text(pair, draw) for pair in batch])
        loss = functional.cross_entropy(sentences @ texts.T / TEMPERATURE, torch.arange(len(batch)))
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(parameters, MOST_GRADIENT)
        optimiser.step()
        report(step + 1, loss.item())
    return {name: Factors(_float16(layer.down), _float16(layer.up)) for name, layer in layers.items()}


def _embedded(model: SentenceTransformer, bert: BertModel, texts: Sequence[str]) -> Tensor:
    """Unit vectors [texts, width]: normalised means over the tokens of the last layer."""
    tokenizer = cast("PreTrainedTokenizerBase", model.tokenizer)
    tokens = tokenizer(list(texts), truncation=True, max_length=MOST_TOKENS, padding=True, return_tensors="pt")
    hidden = bert(**tokens).last_hidden_state.float()
    mask = tokens["attention_mask"].unsqueeze(-1).float()
    return functional.normalize((hidden * mask).sum(1), dim=-1)


def _replace_linears(bert: BertModel) -> dict[str, LowRankLinear]:
    layers: dict[str, LowRankLinear] = {}
    for name, module in list(bert.encoder.named_modules(prefix="encoder")):
        if isinstance(module, nn.Linear):
            parent, _, attribute = name.rpartition(".")
            layers[name] = LowRankLinear(module)
            setattr(bert.get_submodule(parent), attribute, layers[name])
    return layers


def _batches(pairs: Sequence[Pair], draw: random.Random) -> Iterator[list[int]]:
    """Batches of pair numbers: half of each in one random order over all pairs, half from one package."""
    half = BATCH // 2
    packages: dict[str, list[int]] = {}
    for number, pair in enumerate(pairs):
        packages.setdefault(pair.package, []).append(number)
    large = [numbers for numbers in packages.values() if len(numbers) >= BATCH]
    while True:
        order = draw.sample(range(len(pairs)), len(pairs))
        for start in range(0, len(order) - half + 1, half):
            some = order[start : start + half]
            (package,) = draw.choices(large, [len(numbers) for numbers in large])
            alike = draw.sample([number for number in package if number not in some], half)
            yield [*some, *alike]


def _text(pair: Pair, draw: random.Random) -> str:
    return embedded_text(pair.symbol if draw.random() < NAMED else "", pair.context, pair.text)


def _float16(factor: Tensor) -> "np.ndarray[tuple[int, int], np.dtype[np.float16]]":
    return factor.detach().numpy().astype(np.float16)
