"""A folder of source code as something that can be indexed."""

from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from groundwire_server.ingest.records import SkippedFile, SourceEdge, SourceRecord
from groundwire_server.ingest.tree.decoding import read_source
from groundwire_server.ingest.tree.deploy import DeployAnalysis, deploy_analysis
from groundwire_server.ingest.tree.facts import CodeFacts
from groundwire_server.ingest.tree.files.facts import ProtoFacts
from groundwire_server.ingest.tree.files.paths import path_edges
from groundwire_server.ingest.tree.files.proto_edges import proto_edges
from groundwire_server.ingest.tree.files.readers import FILE_READERS
from groundwire_server.ingest.tree.files.reading import PathReference
from groundwire_server.ingest.tree.languages.go import module_path
from groundwire_server.ingest.tree.languages.readers import CodeReaders
from groundwire_server.ingest.tree.literals import entity_edges, literal_edges
from groundwire_server.ingest.tree.markdown import markdown_analysis
from groundwire_server.ingest.tree.model import EntityMapping, FileAnalysis, SourceFile
from groundwire_server.ingest.tree.resolve import TreeLayout, resolve
from groundwire_server.ingest.tree.services.catalog import ServiceCatalog
from groundwire_server.ingest.tree.sql.catalog import SqlCatalog
from groundwire_server.ingest.tree.walk import ListedFile, list_tree

_DEPLOY_LANGUAGES = frozenset({"yaml", "dockerfile", "helm"})


class TreeSource:
    """The files below a folder: code, SQL, prose, deployment files and all others, with the edges between them.

    `read` yields what cannot be read and the nodes file by file, then every edge once, sorted. Deployment files are
    read before anything is yielded, for they tell which service a file belongs to. SQL files come first, for the code
    of any file may name what they define. Nothing depends on the order in which the operating system lists folders.
    Raises IngestError when `root` is no folder.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    @property
    def description(self) -> str:
        """`source tree` and the folder's name."""
        return f"source tree {self._root.resolve().name}"

    def read(self) -> Iterator[SourceRecord]:
        """Nodes and skipped files, then edges between nodes that have been yielded."""
        listed = list_tree(self._root)
        yield from (item for item in listed if isinstance(item, SkippedFile))
        files = [item for item in listed if isinstance(item, ListedFile)]
        deployments: dict[str, DeployAnalysis] = {}
        for item in files:
            deployment = self._deployment(item) if item.language in _DEPLOY_LANGUAGES else None
            if deployment is not None:
                deployments[item.path] = deployment
        services = ServiceCatalog(
            (part for deployment in deployments.values() for part in deployment.parts),
            (_folder(item.path) for item in files if item.language == "dockerfile"),
        )
        reading = _Reading()
        for item in sorted(files, key=lambda item: item.language != "sql"):
            deployment = deployments.pop(item.path, None)
            analysis = self._analysis(item, reading) if deployment is None else deployment.file
            reading.keep_file(item.path, analysis)
            yield from (services.named(node) for node in analysis.nodes)
            yield from analysis.skipped
        reading.keep(services.edges())
        packages = frozenset(_folder(item.path) for item in files if PurePosixPath(item.path).name == "__init__.py")
        yield from reading.edges(packages)

    def _deployment(self, item: ListedFile) -> DeployAnalysis | None:
        source = read_source(self._root, item)
        if isinstance(source, SkippedFile):
            return DeployAnalysis(FileAnalysis(skipped=(source,)))
        return deploy_analysis(source)

    def _analysis(self, item: ListedFile, reading: "_Reading") -> FileAnalysis:
        source = read_source(self._root, item)
        return FileAnalysis(skipped=(source,)) if isinstance(source, SkippedFile) else reading.analyse(source)


class _Reading:
    """What one pass over the files gathers for the edges that cross them."""

    def __init__(self) -> None:
        self._catalog = SqlCatalog()
        self._readers = CodeReaders()
        self._facts: list[CodeFacts] = []
        self._go_modules: dict[str, str] = {}
        self._edges: dict[tuple[str, str, str], SourceEdge] = {}
        self._references: list[PathReference] = []
        self._keys_by_line: dict[str, tuple[str, ...]] = {}
        self._first_keys: dict[str, str] = {}
        self._protos: list[ProtoFacts] = []

    def analyse(self, file: SourceFile) -> FileAnalysis:
        """The nodes and edges of a file; what is needed for edges to other files is kept."""
        if file.language == "sql":
            return self._catalog.add(file)
        if file.language == "markdown":
            return markdown_analysis(file)
        if file.language == "gomod":
            self._go_modules[_folder(file.path)] = module_path(file.text)
            return FileAnalysis(skipped=(SkippedFile(file.path, "read for its module path only; it has no node"),))
        return self._file(file) if file.language in FILE_READERS else self._code(file)

    def keep_file(self, path: str, analysis: FileAnalysis) -> None:
        """Adds the edges of a file; its first node stands for it when another file names its path."""
        self.keep(analysis.edges)
        if analysis.nodes:
            self._first_keys[path] = analysis.nodes[0].key

    def keep(self, edges: Iterable[SourceEdge]) -> None:
        """Adds edges; of equal ones the surest counts."""
        for edge in edges:
            place = (edge.from_key, edge.to_key, edge.edge_type)
            known = self._edges.get(place)
            if known is None or known.confidence < edge.confidence:
                self._edges[place] = edge

    def edges(self, python_packages: frozenset[str]) -> Iterator[SourceEdge]:
        """Every edge once, with the highest confidence it has been found with, sorted by its ends and type."""
        mappings: list[EntityMapping] = []
        for item in resolve(self._facts, TreeLayout(python_packages, self._go_modules)):
            if isinstance(item, EntityMapping):
                mappings.append(item)
            else:
                self.keep((item,))
        self.keep(self._catalog.edges())
        self.keep(path_edges(self._references, self._keys_by_line, self._first_keys))
        self.keep(proto_edges(self._protos))
        self.keep(entity_edges(self._catalog, mappings))
        for place in sorted(self._edges):
            yield self._edges[place]

    def _file(self, file: SourceFile) -> FileAnalysis:
        reading = FILE_READERS[file.language](file)
        if reading.references:
            self._references.extend(reading.references)
            self._keys_by_line[file.path] = reading.keys_by_line(file)
        if isinstance(reading.facts, ProtoFacts):
            self._protos.append(reading.facts)
        return reading.analysis

    def _code(self, file: SourceFile) -> FileAnalysis:
        analysis = self._readers.read(file)
        if analysis.facts is not None:
            self._facts.append(analysis.facts)
        self.keep(literal_edges(self._catalog, analysis.literals))
        return analysis.file


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
