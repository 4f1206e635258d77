"""The functions and classes of Python's standard library, as Groundwire's ingestion splits them into nodes."""

import json
import shutil
from pathlib import Path

from bench.quality.sets import Document
from bench.shared.programs import BRANCH, build_index, run_groundwire

_LEFT_OUT = ("__pycache__", "ensurepip", "idlelib", "lib2to3", "site-packages", "test", "tests", "turtledemo")
_REPOSITORY = "stdlib"


def standard_library_documents(library: Path, folder: Path) -> list[Document]:
    """The nodes of an index of the sources in `library`, which is built in `folder`, without vectors.

    Tests are left out, and programs that are no library: the installer, the converter, the editor. Raises RuntimeError.
    """
    source, data, nodes = folder / "source", folder / "data", folder / "exported.jsonl"
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(library, source, ignore=lambda _, names: [name for name in names if not _is_wanted(name)])
    build_index(source, _REPOSITORY, data, "none")
    run_groundwire("export", "--repository", _REPOSITORY, "--branch", BRANCH, "--data", data, "--output", nodes)
    with nodes.open(encoding="utf-8") as file:
        return [_document(line) for line in map(json.loads, file) if line["type"] == "node"]


def _is_wanted(name: str) -> bool:
    return name not in _LEFT_OUT and Path(name).suffix in (".py", "")


def _document(node: dict[str, object]) -> Document:
    fields = {name: value for name, value in node.items() if name not in ("type", "local_id")}
    return Document(str(node["local_id"]), fields)
