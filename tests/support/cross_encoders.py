"""Tiny cross-encoders, since none is packaged anywhere. Loading this takes seconds."""

import random
from collections.abc import Sequence
from pathlib import Path

import torch
from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
LEARNED_WORDS = tuple("abcdefgh")
TRAINING_STEPS = 600


def write_cross_encoder(folder: Path) -> None:
    """Writes a BERT cross-encoder of one layer with random weights: it ranks oddly, but always the same."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = (*SPECIAL, *letters, *(f"##{letter}" for letter in letters))
    _save_tokenizer(folder, words)
    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=len(words),
        num_attention_heads=2,
        max_position_embeddings=64,
        hidden_size=16,
        num_hidden_layers=1,
        intermediate_size=32,
        initializer_range=1.0,
    )
    _model(config).save_pretrained(folder)


def write_trained_cross_encoder(folder: Path) -> None:
    """Writes a BERT cross-encoder that has learnt whether a text of four letters holds the query's letter."""
    words = (*SPECIAL, *LEARNED_WORDS)
    _save_tokenizer(folder, words)
    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=len(words),
        num_attention_heads=2,
        max_position_embeddings=64,
        hidden_size=64,
        num_hidden_layers=2,
        intermediate_size=64,
        initializer_range=0.2,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    model = _model(config)
    _train(model, random.Random(1))
    model.save_pretrained(folder)


def _save_tokenizer(folder: Path, words: Sequence[str]) -> None:
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(words), encoding="utf-8")
    BertTokenizer(vocab=str(vocabulary), model_max_length=64).save_pretrained(folder)


def _model(config: BertConfig) -> BertForSequenceClassification:
    config.num_labels = 1
    return BertForSequenceClassification(config)


def _train(model: BertForSequenceClassification, generator: random.Random) -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for _ in range(TRAINING_STEPS):
        pairs, labels = _batch(generator)
        logits = model(input_ids=pairs, token_type_ids=torch.tensor([[0, 0, 0, 1, 1, 1, 1, 1]] * len(labels))).logits
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits[:, 0], labels)
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        optimizer.step()
    torch.set_num_threads(threads)


def _batch(generator: random.Random) -> tuple[torch.Tensor, torch.Tensor]:
    """64 pairs as `[CLS] query [SEP] four letters [SEP]`, and whether the query stands among the letters."""
    letters = range(len(SPECIAL), len(SPECIAL) + len(LEARNED_WORDS))
    start, end = SPECIAL.index("[CLS]"), SPECIAL.index("[SEP]")
    pairs: list[list[int]] = []
    labels: list[float] = []
    for _ in range(64):
        query, holds = generator.choice(letters), generator.random() < 0.5
        text = generator.sample([letter for letter in letters if letter != query], 4)
        if holds:
            text[generator.randrange(4)] = query
        pairs.append([start, query, end, *text, end])
        labels.append(float(holds))
    return torch.tensor(pairs), torch.tensor(labels)
