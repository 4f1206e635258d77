"""The YAML that documents show is YAML, and what a command reads is read by it as it stands there."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from groundwire_ingest.repositories.repositories_file import read_repositories
from groundwire_pipelines import Pipeline
from groundwire_server.domain.limits import MAX_TOP_K
from groundwire_server.engine.corpus_boost import CorpusBoosts
from groundwire_server.engine.routing_file import load_routing
from groundwire_server.rpc.identity.access_modes import read_mapping
from groundwire_server.rpc.identity.certificate_mapping import CertificateMapping
from groundwire_server.rpc.identity.claim_mapping import ClaimMapping
from project.test_documents import documents
from project.tools import ROOT

BLOCK = re.compile(r"^```ya?ml[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
ELSEWHERE = frozenset({"docs/index.md", "docs/pipelines-actions.md"})
"""Whose examples need more files, and are tested with them."""


def blocks() -> Iterator[tuple[str, str]]:
    for document in documents():
        name = str(document.relative_to(ROOT))
        for place, block in enumerate(BLOCK.finditer(document.read_text(encoding="utf-8")), start=1):
            yield f"{name}#{place}", block[1]


def reader_of(content: object) -> Callable[[Path], object] | None:
    """The function that reads a file of this content."""
    if not isinstance(content, dict):
        return None
    match content:
        case {"rules": [{"when": _}, *_]}:
            return lambda file: load_routing(file, MAX_TOP_K)
        case {"rules": _}:
            return CorpusBoosts.load
        case {"repositories": _}:
            return read_repositories
        case {"callers": _}:
            return lambda file: read_mapping(file, CertificateMapping)
        case {"tenants": _} | {"acl_tags": _}:
            return lambda file: read_mapping(file, ClaimMapping)
        case {"pipeline": _}:
            return Pipeline.load
        case _:
            return None


BLOCKS = dict(blocks())


@pytest.mark.parametrize("name", BLOCKS)
def test_an_example_is_read_as_it_stands(name: str, tmp_path: Path) -> None:
    text = BLOCKS[name]
    contents = list(yaml.safe_load_all(text))
    read = reader_of(contents[0]) if len(contents) == 1 else None
    if read is not None and name.partition("#")[0] not in ELSEWHERE:
        file = tmp_path / "example.yaml"
        file.write_text(text, encoding="utf-8")
        assert read(file)


@pytest.mark.parametrize("name", ["routing.md#1", "indexing.md#1", "identity.md#1", "identity.md#2"])
def test_a_file_of_an_operator_has_its_reader(name: str) -> None:
    assert reader_of(yaml.safe_load(BLOCKS[f"docs/{name}"])) is not None
