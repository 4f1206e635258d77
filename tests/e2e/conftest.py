"""A tiny cross-encoder, since none is packaged anywhere."""

from pathlib import Path

import pytest
import torch
from transformers import BertConfig, BertForSequenceClassification, BertTokenizer


@pytest.fixture(scope="session")
def cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a BERT cross-encoder of one layer with random weights: it ranks oddly, but always the same."""
    folder = tmp_path_factory.mktemp("cross-encoder")
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(words), encoding="utf-8")
    BertTokenizer(vocab=str(vocabulary), model_max_length=64).save_pretrained(folder)
    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        initializer_range=1.0,
    )
    config.num_labels = 1
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder
