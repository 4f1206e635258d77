"""A folder of source code as something that can be indexed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from groundwire_server.ingest.records import SkippedFile, SourceEdge, SourceNode, SourceRecord
from groundwire_server.ingest.spool import NodeSpool
from groundwire_server.ingest.tree.decoding import read_source
from groundwire_server.ingest.tree.deploy import DeployAnalysis, deploy_analysis
from groundwire_server.ingest.tree.edges import TreeEdges
from groundwire_server.ingest.tree.facts import CodeFacts
from groundwire_server.ingest.tree.languages.go import module_path
from groundwire_server.ingest.tree.languages.readers import CodeReaders
from groundwire_server.ingest.tree.languages.script_projects import ScriptProject, script_project
from groundwire_server.ingest.tree.literals import entity_edges, literal_edges
from groundwire_server.ingest.tree.markdown import markdown_analysis
from groundwire_server.ingest.tree.migrations import migration_edges
from groundwire_server.ingest.tree.model import FileAnalysis, SourceFile
from groundwire_server.ingest.tree.purposes import PROJECT_SUFFIXES, Purposes, is_generated, is_test_project
from groundwire_server.ingest.tree.resolve import TreeLayout, resolve
from groundwire_server.ingest.tree.services.catalog import ServiceCatalog
from groundwire_server.ingest.tree.sql.catalog import SqlCatalog
from groundwire_server.ingest.tree.walk import ListedFile, list_tree

_DEPLOY_LANGUAGES = frozenset({"yaml", "dockerfile", "helm"})


class TreeSource:
    """The files below a folder: code, SQL, Markdown and deployment files, with the edges between them.

    `read` yields what cannot be read, then the nodes file by file, then every edge once, sorted. Deployment files are
    read first, for they tell which service a file belongs to, then SQL, for the code of any file may name what it
    defines. Nodes wait on disk until all files have been read, for what a member implements stands in others. Nothing
    depends on the order in which the operating system lists folders.
    Raises IngestError when `root` is no folder.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    @property
    def description(self) -> str:
        """`source tree` and the folder's name."""
        return f"source tree {self._root.resolve().name}"

    def read(self) -> Iterator[SourceRecord]:
        """Skipped files, then nodes, then edges between nodes that have been yielded."""
        listed = list_tree(self._root)
        yield from (item for item in listed if isinstance(item, SkippedFile))
        files = [item for item in listed if isinstance(item, ListedFile)]
        deployments = {item.path: self._deployment(item) for item in files if item.language in _DEPLOY_LANGUAGES}
        services = ServiceCatalog(
            (part for deployment in deployments.values() for part in deployment.parts),
            (_folder(item.path) for item in files if item.language == "dockerfile"),
        )
        reading = _Reading(Purposes(self._test_folders(files)))
        with TemporaryDirectory(prefix="groundwire-tree-") as name, NodeSpool(Path(name)) as spool:
            for item in sorted(files, key=lambda item: item.language != "sql"):
                deployment = deployments.pop(item.path, None)
                analysis = self._analysis(item, reading) if deployment is None else reading.marked(deployment.file)
                reading.keep(analysis.edges)
                for node in analysis.nodes:
                    spool.append(services.named(node))
                yield from analysis.skipped
            reading.keep(services.edges())
            packages = frozenset(_folder(item.path) for item in files if PurePosixPath(item.path).name == "__init__.py")
            resolved = reading.resolved(packages)
            yield from map(resolved.completed, spool.written())
        yield from resolved.edges()

    def _test_folders(self, files: Iterable[ListedFile]) -> Iterator[str]:
        """The folders of projects that run tests."""
        for item in files:
            if PurePosixPath(item.path).suffix in PROJECT_SUFFIXES:
                source = read_source(self._root, item)
                if isinstance(source, SourceFile) and is_test_project(source.text):
                    yield _folder(item.path)

    def _deployment(self, item: ListedFile) -> DeployAnalysis:
        source = read_source(self._root, item)
        if isinstance(source, SkippedFile):
            return DeployAnalysis(FileAnalysis(skipped=(source,)))
        return deploy_analysis(source)

    def _analysis(self, item: ListedFile, reading: "_Reading") -> FileAnalysis:
        source = read_source(self._root, item)
        return FileAnalysis(skipped=(source,)) if isinstance(source, SkippedFile) else reading.analyse(source)


class _Reading:
    """What one pass over the files gathers for the edges that cross them."""

    def __init__(self, purposes: Purposes) -> None:
        self._purposes = purposes
        self._catalog = SqlCatalog()
        self._readers = CodeReaders()
        self._facts: list[CodeFacts] = []
        self._go_modules: dict[str, str] = {}
        self._script_projects: dict[str, ScriptProject] = {}
        self._edges = TreeEdges()

    def analyse(self, file: SourceFile) -> FileAnalysis:
        """The nodes and edges of a file; what is needed for edges to other files is kept."""
        analysis, facts = self._analyse(file)
        is_test, is_written = self._purposes.is_test(file.path, facts), is_generated(file.path, file.text)
        if facts is not None:
            self._facts.append(replace(facts, is_test=is_test, is_generated=is_written))
        return _marked(analysis, is_test, is_written)

    def marked(self, analysis: FileAnalysis) -> FileAnalysis:
        """A deployment file's nodes with what its path says that it is there for."""
        paths = {node.path for node in analysis.nodes}
        return _marked(analysis, any(self._purposes.is_test(path, None) for path in paths), False)

    def keep(self, edges: Iterable[SourceEdge]) -> None:
        """Adds edges; of equal ones the surest counts."""
        self._edges.add(edges)

    def resolved(self, python_packages: frozenset[str]) -> "_Resolved":
        """What the files say of each other, once all have been read."""
        resolution = resolve(self._facts, TreeLayout(python_packages, self._go_modules, self._script_projects))
        self.keep(resolution.edges)
        self.keep(self._catalog.edges())
        self.keep(entity_edges(self._catalog, resolution.mappings))
        self.keep(migration_edges(self._facts, resolution.mappings))
        return _Resolved(self._edges, resolution.implemented)

    def _analyse(self, file: SourceFile) -> tuple[FileAnalysis, CodeFacts | None]:
        if file.language == "sql":
            return self._catalog.add(file), None
        if file.language == "markdown":
            return markdown_analysis(file), None
        if file.language == "gomod":
            self._go_modules[_folder(file.path)] = module_path(file.text)
            why = "read for its module path only; it has no node"
            return FileAnalysis(skipped=(SkippedFile(file.path, why),)), None
        if file.language == "json":
            project = script_project(file.path, file.text)
            if project is not None:
                self._script_projects[file.path] = project
            why = "read for where it says that modules are; it has no node"
            return FileAnalysis(skipped=(SkippedFile(file.path, why),)), None
        analysis = self._readers.read(file)
        self.keep(literal_edges(self._catalog, analysis.literals))
        return analysis.file, analysis.facts


@dataclass(frozen=True, slots=True)
class _Resolved:
    """What is known of a tree's nodes once all of its files have been read."""

    found: TreeEdges
    implemented: Mapping[str, Sequence[str]]

    def edges(self) -> Iterator[SourceEdge]:
        """Every edge once, sorted by its ends and type."""
        return self.found.sorted()

    def completed(self, node: SourceNode) -> SourceNode:
        """A node whose `context_prefix` also says what it implements or overrides."""
        symbols = self.implemented.get(node.key)
        if not symbols:
            return node
        return replace(
            node, context_prefix="\n".join(filter(None, (node.context_prefix, f"implements {', '.join(symbols)}")))
        )


def _marked(analysis: FileAnalysis, is_test: bool, is_written: bool) -> FileAnalysis:
    nodes = tuple(replace(node, is_test=is_test, is_generated=is_written) for node in analysis.nodes)
    return replace(analysis, nodes=nodes)


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
