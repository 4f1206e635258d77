"""Folders for many small indexes, and tiny cross-encoders, since none is packaged anywhere."""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import torch
from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

from support.storage import NewStorage, Storage

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
LEARNED_WORDS = tuple("abcdefgh")
TRAINING_STEPS = 600
_MEMORY = Path("/dev/shm")


@pytest.fixture(scope="module")
def folders() -> Iterator[tuple[Path, Path]]:
    """The data folders of whole and of trimmed indexes.

    Hundreds of small indexes are written, dozens of files each; memory takes a tenth of a disk's time.
    """
    with TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as directory:
        whole, trimmed = Path(directory, "whole", "data"), Path(directory, "trimmed", "data")
        whole.mkdir(parents=True)
        trimmed.mkdir(parents=True)
        yield whole, trimmed


@pytest.fixture(scope="module")
def whole_and_trimmed(folders: tuple[Path, Path], new_storage: NewStorage) -> tuple[Storage, Storage]:
    """Storage of whole indexes and of trimmed ones."""
    whole, trimmed = folders
    return new_storage(whole), new_storage(trimmed)


@pytest.fixture(scope="session")
def cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a BERT cross-encoder of one layer with random weights: it ranks oddly, but always the same."""
    folder = tmp_path_factory.mktemp("cross-encoder")
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = (*SPECIAL, *letters, *(f"##{letter}" for letter in letters))
    _save_tokenizer(folder, words)
    torch.manual_seed(3)
    _model(words, hidden_size=16, num_hidden_layers=1, intermediate_size=32, initializer_range=1.0).save_pretrained(
        folder
    )
    return folder


@pytest.fixture(scope="session")
def trained_cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a BERT cross-encoder that has learnt whether a text of four letters holds the query's letter."""
    folder = tmp_path_factory.mktemp("trained-cross-encoder")
    words = (*SPECIAL, *LEARNED_WORDS)
    _save_tokenizer(folder, words)
    torch.manual_seed(3)
    model = _model(
        words,
        hidden_size=64,
        num_hidden_layers=2,
        intermediate_size=64,
        initializer_range=0.2,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    _train(model, random.Random(1))
    model.save_pretrained(folder)
    return folder


def _save_tokenizer(folder: Path, words: Sequence[str]) -> None:
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(words), encoding="utf-8")
    BertTokenizer(vocab=str(vocabulary), model_max_length=64).save_pretrained(folder)


def _model(words: Sequence[str], **sizes: float) -> BertForSequenceClassification:
    config = BertConfig(vocab_size=len(words), num_attention_heads=2, max_position_embeddings=64, **sizes)
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
