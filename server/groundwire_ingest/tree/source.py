"""A folder of source code as a source of nodes and edges."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from groundwire_index.nodes.node import NodeAccess
from groundwire_ingest.build.spool import NodeSpool
from groundwire_ingest.records import SkippedFile, SourceEdge, SourceNode, SourceRecord, UnusedPattern
from groundwire_ingest.scip.indexes import CompilerIndexes
from groundwire_ingest.tree.access_rules import AccessRule, AccessRules
from groundwire_ingest.tree.decoding import read_source
from groundwire_ingest.tree.deploy import DeployAnalysis, deploy_analysis
from groundwire_ingest.tree.folders import folder_of
from groundwire_ingest.tree.ignore import Exclusions
from groundwire_ingest.tree.model import FileAnalysis
from groundwire_ingest.tree.reading import TreeReading
from groundwire_ingest.tree.services.catalog import ServiceCatalog
from groundwire_ingest.tree.walk import CODE_LANGUAGES, ListedFile, list_tree

_DEPLOY_LANGUAGES = frozenset({"yaml", "dockerfile", "helm"})


class TreeSource:
    """The files below a folder: code, SQL, prose, deployment files and all others, with the edges between them.

    `read` yields files that cannot be read, then the nodes file by file, then every edge once, sorted. Deployment files
    are read first, because they say which service a file belongs to, and code last, because it may name what any other
    file defines. Nodes are spooled to disk until all files have been read, because what a member implements may be in
    another file. Nothing depends on the order in which the operating system lists folders.

    `exclude` are patterns of paths to leave out, as in a .gitignore at the root; `access` rules what nodes demand by
    their file's path. What a node says of itself follows from those files only that all who may see it may see.
    Raises IngestError when `root` is no folder, and for patterns and rules that cannot be used.
    """

    def __init__(self, root: Path, exclude: Sequence[str] = (), access: Sequence[AccessRule] = ()) -> None:
        self._root = root
        self._exclusions = Exclusions(exclude)
        self._access = AccessRules(access)

    @property
    def description(self) -> str:
        """`source tree` and the folder's name."""
        return f"source tree {self._root.resolve().name}"

    def read(self) -> Iterator[SourceRecord]:
        """Skipped files, unused patterns, then nodes, then edges between nodes that have been yielded."""
        listed = list_tree(self._root, self._exclusions)
        self._access.decide(item.path for item in listed)
        yield from (item for item in listed if isinstance(item, SkippedFile))
        yield from (UnusedPattern(text) for text in self._exclusions.unused)
        files = [item for item in listed if isinstance(item, ListedFile)]
        deployments = self._deployments(files)
        services = _Services(self._access, deployments, files)
        compiled = CompilerIndexes(self._root, (item.path for item in files if item.language == "scip"))
        files = [item for item in files if item.language != "scip"]
        reading = TreeReading((item.path for item in files), self._access.demand_of)
        with TemporaryDirectory(prefix="groundwire-tree-") as name, NodeSpool(Path(name)) as spool:
            for item in sorted(files, key=lambda item: item.language in CODE_LANGUAGES):
                deployment = deployments.pop(item.path, None)
                analysis = self._analysis(item, reading) if deployment is None else deployment.file
                reading.keep(item.path, analysis)
                compiled.keep(item, analysis.nodes)
                for node in analysis.nodes:
                    self._access.keep(node)
                    spool.append(services.named(node))
                yield from analysis.skipped
            for node in reading.component_nodes(self._access.may_read):
                self._access.keep(node)
                spool.append(services.named(node))
            map_ = reading.resolved()
            map_.edges.add(services.edges())
            for node in spool.written():
                yield self._access.stated(map_.completed(node, self._access.may_name(node.path)))
        yield from compiled.join(map_.edges.sorted(), map_.facts)

    def _deployments(self, files: Iterable[ListedFile]) -> dict[str, DeployAnalysis]:
        """The analyses of deployment files, by path; a YAML file that deploys nothing is read with the other files."""
        found: dict[str, DeployAnalysis] = {}
        for item in files:
            if item.language in _DEPLOY_LANGUAGES:
                source = read_source(self._root, item)
                if isinstance(source, SkippedFile):
                    found[item.path] = DeployAnalysis(FileAnalysis(skipped=(source,)))
                    continue
                analysis = deploy_analysis(source)
                if analysis is not None:
                    found[item.path] = analysis
        return found

    def _analysis(self, item: ListedFile, reading: TreeReading) -> FileAnalysis:
        source = read_source(self._root, item)
        return FileAnalysis(skipped=(source,)) if isinstance(source, SkippedFile) else reading.analyse(source)


class _Services:
    """The services of a tree, as far as those know of them who may see a node: one catalogue for each demand."""

    def __init__(
        self, access: AccessRules, deployments: Mapping[str, DeployAnalysis], files: Iterable[ListedFile]
    ) -> None:
        self._access = access
        self._parts = [part for deployment in deployments.values() for part in deployment.parts]
        self._dockerfiles = [item.path for item in files if item.language == "dockerfile"]
        self._known: dict[NodeAccess, ServiceCatalog] = {}

    def named(self, node: SourceNode) -> SourceNode:
        """See `ServiceCatalog.named`."""
        demand = self._access.demand_of(node.path)
        if demand not in self._known:
            known = self._access.may_read(node.path)
            self._known[demand] = ServiceCatalog(
                (part for part in self._parts if known(part.path)), map(folder_of, filter(known, self._dockerfiles))
            )
        return self._known[demand].named(node)

    def edges(self) -> Iterator[SourceEdge]:
        """See `ServiceCatalog.edges`; who may not see an edge's ends does not see the edge."""
        return ServiceCatalog(self._parts, map(folder_of, self._dockerfiles)).edges()
