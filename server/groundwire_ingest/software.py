"""The software that decides what a build makes of a source."""

import hashlib
import re
import sys
from functools import cache
from importlib import metadata
from importlib.resources import files
from pathlib import Path

from groundwire_index.embedding.model_names import PLAIN_MODEL
from groundwire_index.files.durable_files import sha256

_PACKAGES = ("groundwire", "groundwire_index", "groundwire_ingest")
_EXTRAS = re.compile(r"""extra\s*==\s*['"](?:index|local-models)['"]""")
_NAME = re.compile(r"[A-Za-z0-9._-]+")


@cache
def software() -> list[str]:
    """The versions of Groundwire's own code and of a build's libraries: a change of either may change an index."""
    libraries = {"groundwire", PLAIN_MODEL}
    for requirement in metadata.requires("groundwire") or ():
        name = _NAME.match(requirement)
        if name and ("extra ==" not in requirement or _EXTRAS.search(requirement)):
            libraries.add(name[0])
    return [
        *(f"{name} {_version(name)}" for name in sorted(libraries)),
        f"python {sys.version_info.major}.{sys.version_info.minor}",
        *(f"{package} {_content(package)}" for package in _PACKAGES),
    ]


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "absent"


def _content(package: str) -> str:
    """The hash of a package's files, because a version is not enough in a clone of the repository."""
    folder = Path(str(files(package)))
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            digest.update(f"{file.relative_to(folder)}\0{sha256(file)}\n".encode())
    return digest.hexdigest()
