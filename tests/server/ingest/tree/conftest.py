"""Builders of source trees, of analyses of single files, and of the edges between several."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import pytest

from groundwire_ingest.records import SourceEdge, SourceNode
from groundwire_ingest.tree import source
from groundwire_ingest.tree.code_languages import CODE_LANGUAGES, module_file
from groundwire_ingest.tree.facts import CodeAnalysis
from groundwire_ingest.tree.flag_signs import FlagSigns
from groundwire_ingest.tree.languages.go.go_modules import GoModule
from groundwire_ingest.tree.model import EntityMapping, SourceFile
from groundwire_ingest.tree.names.rules import TreeLayout
from groundwire_ingest.tree.resolve import resolve
from groundwire_ingest.tree.single_file import read_code
from groundwire_ingest.tree.source import TreeSource
from groundwire_ingest.tree.walk import language_of
from groundwire_ingest.workers import Workers

TreeMaker: TypeAlias = Callable[[Mapping[str, str | bytes]], Path]
Analyser: TypeAlias = Callable[[str, str], CodeAnalysis]
Resolver: TypeAlias = Callable[..., list[SourceEdge | EntityMapping]]


@dataclass(frozen=True)
class ReadTree:
    """The nodes of a tree by key, and the confidence of its edges by their ends and type."""

    nodes: dict[str, SourceNode]
    edges: dict[tuple[str, str, str], float]

    def of(self, edge_type: str) -> dict[tuple[str, str], float]:
        """The edges of one type, by their ends less the prefix of the kind."""
        return {
            (start.partition("::")[2], end.partition("::")[2]): confidence
            for (start, end, type_of_edge), confidence in self.edges.items()
            if type_of_edge == edge_type
        }


@pytest.fixture(scope="session", autouse=True)
def shared_workers() -> Iterator[None]:
    """Trees are read by the same workers, since a fresh one loads its grammars again."""
    with Workers("groundwire_ingest.tree.single_file") as workers, pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "Workers", lambda _: nullcontext(workers))
        yield


@pytest.fixture
def make_tree(tmp_path: Path) -> TreeMaker:
    """Writes files by path below a fresh folder and returns it."""

    def make(files: Mapping[str, str | bytes]) -> Path:
        root = tmp_path / "shop"
        root.mkdir(exist_ok=True)
        for path, content in files.items():
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.encode() if isinstance(content, str) else content)
        return root

    return make


@pytest.fixture
def analyse() -> Analyser:
    """Analyses one file of code, whose language its name tells."""

    def analyse(path: str, text: str) -> CodeAnalysis:
        language = language_of(path)
        assert language is not None
        return read_code(SourceFile(path, text, language))

    return analyse


@pytest.fixture
def resolved(analyse: Analyser) -> Resolver:
    """The edges across files of code, and the mappings, by path; those within a file aside."""

    def resolve_files(
        files: Mapping[str, str], go_modules: Mapping[str, str] | None = None, packages: frozenset[str] = frozenset()
    ) -> list[SourceEdge | EntityMapping]:
        stated = {path: module_file(path, text) for path, text in files.items()}
        module_files = {path: item for path, item in stated.items() if item is not None}
        code = {path: text for path, text in files.items() if language_of(path) in CODE_LANGUAGES}
        facts = [analyse(path, text).facts for path, text in code.items()]
        module_files |= {
            f"{folder}/go.mod": GoModule(import_path) for folder, import_path in (go_modules or {}).items()
        }
        layout = TreeLayout([*files, *(f"{folder}/__init__.py" for folder in packages)], module_files)
        purposes = FlagSigns()
        known = [item for item in facts if item is not None]
        for item in known:
            purposes.note_imports(item.path, (imported.module for imported in item.imports))
        known = [replace(item, is_test=purposes.is_test(item.path)) for item in known]
        resolution = resolve(known, layout)
        return [*resolution.edges, *resolution.mappings]

    return resolve_files


@pytest.fixture
def tree(make_tree: TreeMaker) -> Callable[[Mapping[str, str]], ReadTree]:
    """Reads a tree of files, whose edges all lead between nodes that are there."""

    def read(files: Mapping[str, str]) -> ReadTree:
        records = list(TreeSource(make_tree(dict(files))).read())
        nodes = {record.key: record for record in records if isinstance(record, SourceNode)}
        edges = [record for record in records if isinstance(record, SourceEdge)]
        assert {key for edge in edges for key in (edge.from_key, edge.to_key)} <= nodes.keys()
        assert len({(edge.from_key, edge.to_key, edge.edge_type) for edge in edges}) == len(edges)
        return ReadTree(nodes, {(edge.from_key, edge.to_key, edge.edge_type): edge.confidence for edge in edges})

    return read
