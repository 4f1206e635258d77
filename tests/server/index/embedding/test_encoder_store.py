"""Converted models on disk: whole or absent, and named by what they hold."""

import hashlib
import os
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest

from groundwire_index.embedding.int8.record import RECORD_FILE, EncoderDamagedError, EncoderRecord, read_record
from groundwire_index.embedding.int8.store import ENCODERS_FOLDER, EncoderStore

CONTENT = {"a": b"alpha", "b": b"beta"}
RECORD = EncoderRecord(
    embedder="minilm",
    model="m",
    converter=1,
    dimension=3,
    pooling="mean",
    max_tokens=8,
    prompt="",
    files=tuple((name, hashlib.sha256(content).hexdigest()) for name, content in CONTENT.items()),
)


def test_what_is_put_is_found(tmp_path: Path) -> None:
    store = EncoderStore(tmp_path)
    assert store.records() == []
    store.put(RECORD, CONTENT)
    assert EncoderStore(tmp_path).records() == [RECORD]
    directory = store.directory(RECORD.fingerprint)
    assert read_record(directory) == RECORD
    assert {name: RECORD.check(directory, name).read_bytes() for name in CONTENT} == CONTENT


def test_the_fingerprint_tells_everything_but_the_name() -> None:
    assert replace(RECORD, embedder="other").fingerprint == RECORD.fingerprint
    for change in ({"model": "n"}, {"converter": 2}, {"pooling": "cls"}, {"prompt": "q"}, {"files": ()}):
        assert replace(RECORD, **change).fingerprint != RECORD.fingerprint


def test_a_crash_leaves_what_was_there_and_the_next_writer_cleans_up(tmp_path: Path) -> None:
    store = EncoderStore(tmp_path)
    with patch.object(os, "fsync", side_effect=OSError("no space")), pytest.raises(OSError, match="no space"):
        store.put(RECORD, CONTENT)
    assert store.records() == []
    store.put(RECORD, CONTENT)
    store.put(RECORD, CONTENT)
    assert sorted(path.name for path in (tmp_path / ENCODERS_FOLDER).iterdir()) == [".lock", RECORD.fingerprint]


@pytest.mark.parametrize("content", [b"", b"{}", replace(RECORD, model="n").as_json(), None])
def test_a_foreign_record_is_refused_and_named(
    tmp_path: Path, content: bytes | None, caplog: pytest.LogCaptureFixture
) -> None:
    store = EncoderStore(tmp_path)
    store.put(RECORD, CONTENT)
    path = store.directory(RECORD.fingerprint) / RECORD_FILE
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(EncoderDamagedError, match=RECORD_FILE):
        read_record(store.directory(RECORD.fingerprint))
    assert store.records() == []
    assert RECORD_FILE in caplog.text


@pytest.mark.parametrize("damage", [None, b"alphA"])
def test_a_damaged_file_is_refused(tmp_path: Path, damage: bytes | None) -> None:
    store = EncoderStore(tmp_path)
    store.put(RECORD, CONTENT)
    path = store.directory(RECORD.fingerprint) / "a"
    path.unlink() if damage is None else path.write_bytes(damage)
    with pytest.raises(EncoderDamagedError, match="a: "):
        RECORD.check(store.directory(RECORD.fingerprint), "a")
