"""Damage of an index on disk, and how it is told."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from groundwire_index.index_errors import IndexDamagedError
from groundwire_index.store.manifest import CHECKSUM_FILE, MANIFEST_FILE


def refused(call: Callable[[Path], object], version: Path) -> str:
    """What the call says of the damage that it finds."""
    with pytest.raises(IndexDamagedError) as caught:
        call(version)
    return str(caught.value)


def sizes_as_they_are(version: Path) -> list[dict[str, object]]:
    """The files of the manifest with the sizes that they have now."""
    entries = json.loads((version / MANIFEST_FILE).read_bytes())["files"]
    return [{**entry, "bytes": (version / entry["name"]).stat().st_size} for entry in entries]


def edit_manifest(version: Path, **changes: object) -> None:
    """Forges the manifest with a checksum that fits."""
    manifest = json.loads((version / MANIFEST_FILE).read_bytes())
    forged = json.dumps({**manifest, **changes})
    (version / MANIFEST_FILE).write_text(forged)
    (version / CHECKSUM_FILE).write_text(f"{hashlib.sha256(forged.encode()).hexdigest()}  {MANIFEST_FILE}\n")


def forge_checksums(version: Path) -> None:
    """Writes a manifest by which the files are as they shall be."""
    entries = json.loads((version / MANIFEST_FILE).read_bytes())["files"]
    files = [
        {"name": name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in ((entry["name"], (version / entry["name"]).read_bytes()) for entry in entries)
    ]
    edit_manifest(version, files=files)
