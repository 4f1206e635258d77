"""Tiny sentence-transformers models with random weights, made in a moment."""

from pathlib import Path

_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789:"
_VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *_LETTERS, *(f"##{letter}" for letter in _LETTERS)]
WIDTH = 32
MAX_TOKENS = 40


def write_tiny_bert(
    folder: Path,
    *,
    pooling: str = "mean",
    query_prompt: str = "",
    text_prompt: str = "",
    pools_prompts: bool = True,
    activation: str = "gelu",
    seed: int = 5,
    spread: float = 0.2,
) -> Path:
    """Writes a model of two layers into a folder below `folder`; returns that folder.

    With `pools_prompts` off, the tokens of prompts have no part in a vector. `spread` is the standard deviation of its
    weights; from a wide one int8 strays, for some texts more than for others.
    """
    # Here, because they take seconds to import, and tests are collected by every process.
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizer

    transformer = folder / "transformer"
    transformer.mkdir(parents=True)
    vocabulary = transformer / "vocab.txt"
    vocabulary.write_text("\n".join(_VOCABULARY), encoding="utf-8")
    BertTokenizer(vocab=str(vocabulary), model_max_length=MAX_TOKENS).save_pretrained(transformer)
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(_VOCABULARY),
        hidden_size=WIDTH,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=2 * WIDTH,
        max_position_embeddings=64,
        hidden_act=activation,
        initializer_range=spread,
    )
    BertModel(config).save_pretrained(transformer)
    pooled = Pooling(WIDTH, pooling_mode=pooling, include_prompt=pools_prompts)
    model = SentenceTransformer(
        modules=[Transformer(str(transformer)), pooled, Normalize()],
        prompts={"query": query_prompt, "document": text_prompt},
        device="cpu",
    )
    model.max_seq_length = MAX_TOKENS
    saved = folder / "model"
    model.save(str(saved))
    return saved
