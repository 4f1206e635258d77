"""The record of a converted model, and its fingerprint, which names the model in an index."""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import ConfigDict, TypeAdapter, ValidationError

from groundwire_index.files.durable_files import sha256

Pooling: TypeAlias = Literal["mean", "cls"]
"""How one vector is made of the tokens' vectors: their mean, or that of the first token."""
CONVERTER = 1
"""Raised with every change of the conversion that changes a query's vector."""
RECORD_FILE = "encoder.json"
INT8_FILE = "encoder.int8.onnx"
UINT8_FILE = "encoder.uint8.onnx"
PROBE_FILE = "probe.onnx"
WORDS_FILE = "words.npy"
POSITIONS_FILE = "positions.npy"
TOKENIZER_FILE = "tokenizer.json"


class EncoderDamagedError(Exception):
    """A converted model is missing or not what its record says."""


@dataclass(frozen=True, slots=True)
class EncoderRecord:
    """A converted model. `model` is the fingerprint of the model it was made from, which its user called `embedder`.

    `files` are the SHA-256 of its other files, sorted by name.
    """

    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)

    embedder: str
    model: str
    converter: int
    dimension: int
    pooling: Pooling
    max_tokens: int
    prompt: str
    files: tuple[tuple[str, str], ...]

    @property
    def fingerprint(self) -> str:
        """Lower-case hexadecimal SHA-256 over all that a vector depends on; what the model is called is not of it."""
        content = asdict(self)
        del content["embedder"]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def as_json(self) -> bytes:
        """The content of RECORD_FILE."""
        return _ADAPTER.dump_json(self, indent=1) + b"\n"

    def check(self, directory: Path, name: str) -> Path:
        """The path of a file, compared with its checksum. Raises EncoderDamagedError."""
        path = directory / name
        try:
            digest = sha256(path)
        except OSError as error:
            raise EncoderDamagedError(f"{path}: {error.strerror}") from error
        if digest != dict(self.files)[name]:
            raise EncoderDamagedError(f"{path}: does not match its checksum in {RECORD_FILE}")
        return path


def read_record(directory: Path) -> EncoderRecord:
    """The record in a directory that is named by its fingerprint. Raises EncoderDamagedError."""
    path = directory / RECORD_FILE
    try:
        content = path.read_bytes()
    except OSError as error:
        raise EncoderDamagedError(f"{path}: {error.strerror}") from error
    return parsed_record(content, directory.name, str(path))


def parsed_record(content: bytes, fingerprint: str, place: str) -> EncoderRecord:
    """The record of the model with this fingerprint, from its content; errors name `place`.

    Raises EncoderDamagedError.
    """
    try:
        record = _ADAPTER.validate_json(content)
    except ValidationError as error:
        raise EncoderDamagedError(f"{place}: {error.error_count()} errors, first: {error.errors()[0]}") from error
    if record.fingerprint != fingerprint:
        raise EncoderDamagedError(f"{place}: its content does not match the name of its directory")
    return record


_ADAPTER: TypeAdapter[EncoderRecord] = TypeAdapter(EncoderRecord)
