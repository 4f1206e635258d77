"""One hash over everything that decides the result of a build: equal inputs make the same index."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from groundwire_index.store.files import sha256
from groundwire_ingest.recognise import is_tree
from groundwire_ingest.records import SkippedFile
from groundwire_ingest.repositories.repositories_file import Repository
from groundwire_ingest.software import software
from groundwire_ingest.tree.decoding import MAX_FILE_BYTES
from groundwire_ingest.tree.ignore import Exclusions
from groundwire_ingest.tree.walk import COMPILER_INDEX_SUFFIX, list_tree


def inputs_of(repository: Repository, model: str, storage: str = "") -> str:
    """The hash of a source's content, of the settings that matter to its index, of its model, and of this software.

    `model` identifies the embedding model, `storage` the parameters of the storage that shape a version. Of a tree only
    what is read counts: neither what is ignored or excluded, nor when a file was written. Hexadecimal; "" when the
    source cannot be read. Raises IngestError as `recognise` does.
    """
    path = repository.path
    settings = {
        "name": path.resolve().name,
        "model": model,
        "storage": storage,
        "exclude": repository.exclude,
        "access": [asdict(rule) for rule in repository.access],
        "skip_dangling_edges": repository.skip_dangling_edges,
    }
    digest = hashlib.sha256(json.dumps([software(), settings]).encode())
    try:
        for name, content in _tree(repository) if is_tree(path) else _files(path):
            digest.update(f"{name}\0{content}\n".encode(errors="surrogateescape"))
    except OSError:
        return ""
    return digest.hexdigest()


def _tree(repository: Repository) -> Iterator[tuple[str, str]]:
    """Each path of a tree, and its content as far as a build reads it."""
    for item in list_tree(repository.path, Exclusions(repository.exclude)):
        if isinstance(item, SkippedFile):
            yield item.path, item.why
            continue
        file = repository.path / item.path
        try:
            size = file.stat().st_size
            is_read = size <= MAX_FILE_BYTES or item.path.endswith(COMPILER_INDEX_SUFFIX)
            yield item.path, sha256(file) if is_read else str(size)
        except OSError as error:
            yield item.path, str(error.strerror)


def _files(path: Path) -> Iterator[tuple[str, str]]:
    """A file, or every file below a folder."""
    if not path.is_dir():
        yield "", sha256(path)
        return
    for file in sorted(path.rglob("*")):
        if file.is_file():
            yield str(file.relative_to(path)), sha256(file)
