"""A folder of source code as a source of nodes and edges."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from groundwire_ingest.build.spool import NodeSpool
from groundwire_ingest.records import SkippedFile, SourceRecord
from groundwire_ingest.scip.indexes import CompilerIndexes
from groundwire_ingest.tree.decoding import read_source
from groundwire_ingest.tree.deploy import DeployAnalysis, deploy_analysis
from groundwire_ingest.tree.folders import folder_of
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
        deployments = self._deployments(files)
        services = ServiceCatalog(
            (part for deployment in deployments.values() for part in deployment.parts),
            (folder_of(item.path) for item in files if item.language == "dockerfile"),
        )
        compiled = CompilerIndexes(self._root, (item.path for item in files if item.language == "scip"))
        files = [item for item in files if item.language != "scip"]
        reading = TreeReading(item.path for item in files)
        with TemporaryDirectory(prefix="groundwire-tree-") as name, NodeSpool(Path(name)) as spool:
            for item in sorted(files, key=lambda item: item.language in CODE_LANGUAGES):
                deployment = deployments.pop(item.path, None)
                analysis = self._analysis(item, reading) if deployment is None else deployment.file
                reading.keep(item.path, analysis)
                compiled.keep(item, analysis.nodes)
                for node in analysis.nodes:
                    spool.append(services.named(node))
                yield from analysis.skipped
            for node in reading.component_nodes():
                spool.append(services.named(node))
            map_ = reading.resolved()
            map_.edges.add(services.edges())
            yield from map(map_.completed, spool.written())
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
