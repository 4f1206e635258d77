"""A folder of source code as a source of nodes and edges."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from groundwire_index.nodes.node import NodeAccess
from groundwire_ingest.records import (
    DerivedNames,
    FileText,
    SkippedFile,
    SourceEdge,
    SourceNode,
    SourceRecord,
    UnusedPattern,
)
from groundwire_ingest.scip.indexes import CompilerIndexes
from groundwire_ingest.tree.access_rules import AccessRule, AccessRules
from groundwire_ingest.tree.code_languages import CODE_LANGUAGES
from groundwire_ingest.tree.deploy import DeployAnalysis
from groundwire_ingest.tree.folders import folder_of
from groundwire_ingest.tree.ignore import Exclusions
from groundwire_ingest.tree.model import FileAnalysis
from groundwire_ingest.tree.read_before import ReadBefore
from groundwire_ingest.tree.reading import TreeReading, is_project
from groundwire_ingest.tree.services.catalog import ServiceCatalog
from groundwire_ingest.tree.single_file import read_deployment, read_file
from groundwire_ingest.tree.walk import ListedFile, list_tree
from groundwire_ingest.workers import GivenUp, Workers

_DEPLOY_LANGUAGES = frozenset({"yaml", "dockerfile", "helm"})


class TreeSource:
    """The files below a folder: code, SQL, prose, deployment files and all others, with the edges between them.

    `read` yields files that cannot be read, then the nodes file by file, then what other files say about them, then
    every edge once, sorted, then the ends of edges to other repositories.
    Deployment files are read first, because they say which service a file belongs to, then
    projects, because they say which files are tests, and code last, because it may name what any other file defines.
    Nothing depends on the order in which the operating system lists folders.

    Workers parse the files; what none of them can read within its limits is skipped.

    `origin` says where the files come from, for the description.
    `exclude` are patterns of paths to leave out, as in a .gitignore at the root; `access` rules what nodes demand by
    their file's path. `read_before` has the files that earlier sources have read. The facts that a node states depend
    only on files that all callers who see the node may see.
    Raises IngestError when `root` is no folder, and for patterns and rules that cannot be used.
    """

    def __init__(
        self,
        root: Path,
        exclude: Sequence[str] = (),
        access: Sequence[AccessRule] = (),
        read_before: ReadBefore | None = None,
        origin: str = "",
    ) -> None:
        self.file_count = 0
        self.files_read = 0
        self._root = root
        self._origin = origin
        self._files = read_before or ReadBefore()
        self._exclusions = Exclusions(exclude)
        self._access = AccessRules(access)

    @property
    def description(self) -> str:
        """`source tree`, the folder's name, and where its files come from, if that is known."""
        name = f"source tree {self._root.resolve().name}"
        return f"{name} ({self._origin})" if self._origin else name

    def read(self) -> Iterator[SourceRecord]:
        """Skipped files, unused patterns, then nodes, then facts and edges of nodes that have been yielded."""
        with Workers("groundwire_ingest.tree.single_file") as workers:
            yield from self._read(workers)

    def _read(self, workers: Workers) -> Iterator[SourceRecord]:
        listed = list_tree(self._root, self._exclusions)
        self._access.decide(item.path for item in listed)
        yield DerivedNames()
        yield from (item for item in listed if isinstance(item, SkippedFile))
        yield from (UnusedPattern(text) for text in self._exclusions.unused)
        files = [item for item in listed if isinstance(item, ListedFile)]
        compiled = CompilerIndexes(self._root, (item.path for item in files if item.language == "scip"))
        files = [item for item in files if item.language != "scip"]
        self.file_count = len(files)
        reading = TreeReading((item.path for item in files), self._access.demand_of, self._access.demand_of_node)
        deployments = self._deployments(files, workers)
        services = _Services(self._access, deployments, files)
        for item, analysis in self._analyses(files, deployments, reading, workers):
            reading.keep(item.path, analysis)
            compiled.keep(item, analysis.nodes)
            yield from self._stated(analysis.nodes, services, reading)
            if analysis.nodes:
                yield FileText(item.path, analysis.text)
            yield from analysis.skipped
            self.files_read += 1
        for code in reading.component_code(self._access.may_read, workers):
            yield from self._stated(code.nodes, services, reading)
            yield from code.skipped
        reading.resolve_names()
        yield from reading.read_statements(workers)
        map_ = reading.resolved()
        map_.edges.add(services.edges())
        yield from map_.late_facts(self._access.may_name)
        yield from compiled.join(map_.edges.sorted(), map_.facts, workers)
        yield map_.ends

    def _stated(self, nodes: Iterable[SourceNode], services: "_Services", reading: TreeReading) -> Iterator[SourceNode]:
        """The nodes of a file with what its path decides."""
        for node in nodes:
            self._access.keep(node)
            yield self._access.stated(reading.marked(services.named(node)))

    def _deployments(self, files: Iterable[ListedFile], workers: Workers) -> dict[str, DeployAnalysis]:
        """The analyses of deployment files, by path; a YAML file that deploys nothing is read with the other files."""
        listed = [item for item in files if item.language in _DEPLOY_LANGUAGES]
        analyses = self._files.map(read_deployment, self._root, listed, workers)
        return {
            item.path: DeployAnalysis(_not_read(item, analysis)) if isinstance(analysis, GivenUp) else analysis
            for item, analysis in zip(listed, analyses, strict=True)
            if analysis is not None
        }

    def _analyses(
        self,
        files: Iterable[ListedFile],
        deployments: Mapping[str, DeployAnalysis],
        reading: TreeReading,
        workers: Workers,
    ) -> Iterator[tuple[ListedFile, FileAnalysis]]:
        """Every file with what it gives by itself, projects first and code last."""
        ordered = sorted(files, key=lambda item: (item.language in CODE_LANGUAGES, not is_project(item.path)))
        others = [item for item in ordered if item.path not in deployments]
        reports = self._files.map(read_file, self._root, others, workers)
        for item in ordered:
            if item.path in deployments:
                deployment = deployments[item.path]
                reading.refer(item.path, deployment.references, deployment.keys)
                yield item, deployment.file
                continue
            report = next(reports)
            if isinstance(report, GivenUp):
                yield item, _not_read(item, report)
            else:
                yield item, replace(reading.add(item, report), text=report.text)


def _not_read(item: ListedFile, given_up: GivenUp) -> FileAnalysis:
    return FileAnalysis(skipped=(SkippedFile(item.path, given_up.why),))


class _Services:
    """The services of a tree: one catalogue for each demand, from the files that callers who meet it may see."""

    def __init__(
        self, access: AccessRules, deployments: Mapping[str, DeployAnalysis], files: Iterable[ListedFile]
    ) -> None:
        self._access = access
        self._parts = [part for deployment in deployments.values() for part in deployment.parts]
        self._dockerfiles = [item.path for item in files if item.language == "dockerfile"]
        self._known: dict[NodeAccess, ServiceCatalog] = {}

    def named(self, node: SourceNode) -> SourceNode:
        demand = self._access.demand_of(node.path)
        if demand not in self._known:
            known = self._access.may_read(node.path)
            self._known[demand] = ServiceCatalog(
                (part for part in self._parts if known(part.path)), map(folder_of, filter(known, self._dockerfiles))
            )
        return self._known[demand].named(node)

    def edges(self) -> Iterator[SourceEdge]:
        """Who may not see an edge's ends does not see the edge."""
        return ServiceCatalog(self._parts, map(folder_of, self._dockerfiles)).edges()
