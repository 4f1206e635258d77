"""The manifest: what an index is, what it was made from and with, and the checksum of every other file."""

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError

from groundwire_index.index_errors import IndexDamagedError
from groundwire_index.link_template import template_problem

FORMAT = "groundwire-index"
FORMAT_VERSION = 9
MANIFEST_FILE = "manifest.json"
CHECKSUM_FILE = "manifest.sha256"

Parsed = TypeVar("Parsed")


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file of the index, its size in bytes and its SHA-256."""

    name: str
    bytes: Annotated[int, Field(ge=0)]
    sha256: str


@dataclass(frozen=True, slots=True)
class QueryEncoder:
    """The int8 encoder that embeds queries in place of the model, and how similar its vectors are.

    The cosine similarities to the model's vectors are over the texts that encoders are tested with.
    """

    fingerprint: str
    mean_cosine: float
    min_cosine: float


@dataclass(frozen=True, slots=True)
class VectorSpace:
    """The space of the index's vectors; name and fingerprint are "" when the source brought its own vectors.

    Without `query_encoder` the model embeds queries as well. `probes` are the vectors of fixed texts by a service: they
    tell whether its model is still the same.
    """

    embedder: str
    fingerprint: str
    dimension: int
    query_encoder: QueryEncoder | None = None
    probes: tuple[str, ...] = ()

    def compares_with(self, other: "VectorSpace") -> bool:
        """True if vectors of both can be compared: they were made alike, by one model as far as their probes tell."""
        from groundwire_index.embedding.embedder import agree, probed  # loads NumPy, which waits until a call needs it

        return self == other or (
            replace(self, probes=other.probes) == other
            and all(
                agree(probed(probe), probed(other_probe))
                for probe, other_probe in zip(self.probes, other.probes, strict=True)
            )
        )


@dataclass(frozen=True, slots=True)
class LexicalSpace:
    """A lexical table: the fingerprint of the tokeniser that made it, and its size."""

    tokenizer: str
    term_count: int
    posting_count: int


def _checked_template(template: str) -> str:
    """The template of a manifest, which may be damaged or hostile."""
    problem = template_problem(template) if template else None
    if problem is not None:
        raise ValueError(f"{problem}; build the index anew")
    return template


@dataclass(frozen=True, slots=True)
class Manifest:
    """Everything about an index but its content. `code` and `prose` are its lexical tables, None for one it lacks.

    `inputs` is a hash of what the index was made from and by; a build from equal inputs makes the same again. "" where
    that is unknown. `link_template` makes the links
    to the source; "" for none.
    """

    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)

    format: str
    format_version: int
    repository: str
    branch: str
    version: str
    created: datetime
    source: str
    node_count: int
    edge_count: int
    edge_types: tuple[str, ...]
    vector_space: VectorSpace | None
    code: LexicalSpace | None
    prose: LexicalSpace | None
    token_counter: str
    token_counter_fingerprint: str
    files: tuple[FileEntry, ...]
    inputs: str = ""
    link_template: Annotated[str, AfterValidator(_checked_template)] = ""

    def write(self, directory: Path) -> None:
        """Writes the manifest into an index directory, and its checksum as `sha256sum --check` reads it."""
        content = _ADAPTER.dump_json(self, indent=1) + b"\n"
        (directory / MANIFEST_FILE).write_bytes(content)
        (directory / CHECKSUM_FILE).write_text(_checksum_line(content))

    @staticmethod
    def read(directory: Path) -> "Manifest":
        """Reads and checks the manifest of an index directory. Raises IndexDamagedError."""
        try:
            content = (directory / MANIFEST_FILE).read_bytes()
            checksum = (directory / CHECKSUM_FILE).read_text(errors="replace")
        except OSError as error:
            raise IndexDamagedError(f"{directory.name}: not an index, {error.filename} is unreadable") from error
        return Manifest.parsed(content, checksum)

    @staticmethod
    def parsed(content: bytes, checksum: str) -> "Manifest":
        """The manifest of two files' content: MANIFEST_FILE and CHECKSUM_FILE. Raises IndexDamagedError."""
        _parsed(content, _FORMAT_ADAPTER).check(MANIFEST_FILE)
        manifest = _parsed(content, _ADAPTER)
        if checksum != _checksum_line(content):
            raise IndexDamagedError(f"{MANIFEST_FILE}: its content does not match {CHECKSUM_FILE}")
        return manifest


def check_sizes(directory: Path, manifest: Manifest) -> None:
    """Raises IndexDamagedError when a file of the manifest is missing or has another size: torn or truncated."""
    for entry in manifest.files:
        try:
            size = (directory / entry.name).stat().st_size
        except OSError as error:
            raise IndexDamagedError(f"{entry.name}: is missing") from error
        if size != entry.bytes:
            raise IndexDamagedError(f"{entry.name}: has {size} bytes; the manifest says {entry.bytes}")


@dataclass(frozen=True, slots=True)
class Format:
    """The fields that every format version has, so that another version is distinguished from damage."""

    format: str
    format_version: int

    def check(self, where: str) -> None:
        """Raises IndexDamagedError unless it is the format that is written and read here; `where` it was found."""
        if (self.format, self.format_version) != (FORMAT, FORMAT_VERSION):
            raise IndexDamagedError(
                f"{where}: format {self.format} {self.format_version}; this server reads {FORMAT} {FORMAT_VERSION}; "
                "build the index anew"
            )


def _parsed(content: bytes, adapter: TypeAdapter[Parsed]) -> Parsed:
    try:
        return adapter.validate_json(content)
    except ValidationError as error:
        raise IndexDamagedError(f"{MANIFEST_FILE}: {error.error_count()} errors, first: {error.errors()[0]}") from error


def _checksum_line(content: bytes) -> str:
    return f"{hashlib.sha256(content).hexdigest()}  {MANIFEST_FILE}\n"


_ADAPTER: TypeAdapter[Manifest] = TypeAdapter(Manifest)
_FORMAT_ADAPTER: TypeAdapter[Format] = TypeAdapter(Format)
