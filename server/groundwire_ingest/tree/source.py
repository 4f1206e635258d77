"""A folder of source code as a source of nodes and edges."""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from groundwire_ingest.records import DerivedNames, FileContents, FileText, MovedFile, SkippedFile, SourceRecord
from groundwire_ingest.tree.access_rules import AccessRule, AccessRules
from groundwire_ingest.tree.code_languages import CODE_LANGUAGES
from groundwire_ingest.tree.code_of_other_files.protobuf import rpc_names
from groundwire_ingest.tree.component_code import read_components
from groundwire_ingest.tree.contents import TreeContents, tree_contents
from groundwire_ingest.tree.declaring import DeclaredTree, declare, late_component_facts
from groundwire_ingest.tree.deploy import DeployAnalysis
from groundwire_ingest.tree.file_analysis import FileAnalysis
from groundwire_ingest.tree.file_facts import FileFacts
from groundwire_ingest.tree.joining import JoinedTree, join_tree
from groundwire_ingest.tree.kept_readings import KeptReadings
from groundwire_ingest.tree.line_moves import line_moves
from groundwire_ingest.tree.other_readings import OtherReadings
from groundwire_ingest.tree.read_before import ReadBefore
from groundwire_ingest.tree.reading import Signs, code_of_component, deployment_facts, is_project, read_report
from groundwire_ingest.tree.resolve import Resolution, implementing_facts, resolve
from groundwire_ingest.tree.scip.indexes import CompilerIndexes
from groundwire_ingest.tree.single_file import FileReport, read_deployment, read_file
from groundwire_ingest.tree.stated_nodes import NodeStatements, TreeServices
from groundwire_ingest.tree.walk import ListedFile, Listing
from groundwire_ingest.workers import FILE_READERS, GivenUp, Workers

MOST_MOVED_FILES = 16
"""Each takes a look at all edges and ends of the tree; from some number on, to resolve all names is faster."""
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
    their file's path. `read_before` has the files that earlier sources have read. `contents` are those of the tree, if
    they are known already. The facts that a node states depend only on files that all callers who see the node may see.
    Raises IngestError for access rules that cannot be used. `read` and `contents` raise it when `root` is no folder,
    and for patterns that are none.
    """

    def __init__(
        self,
        root: Path,
        exclude: Sequence[str] = (),
        access: Sequence[AccessRule] = (),
        read_before: ReadBefore | None = None,
        origin: str = "",
        contents: TreeContents | None = None,
    ) -> None:
        self.file_count = 0
        self.files_read = 0
        self._root = root
        self._origin = origin
        self._files = read_before or ReadBefore()
        self._exclude, self._access_rules = tuple(exclude), tuple(access)
        self._access = AccessRules(access)
        self._contents = contents

    @property
    def description(self) -> str:
        """`source tree`, the folder's name, and where its files come from, if that is known."""
        name = f"source tree {self._root.resolve().name}"
        return f"{name} ({self._origin})" if self._origin else name

    def _listed_tree(self) -> TreeContents:
        """Lists the tree and hashes its files, unless that was done."""
        if self._contents is None:
            self._contents = tree_contents(self._root, self._exclude)
        return self._contents

    @property
    def settings(self) -> str:
        """The patterns of paths to leave out, and the access rules."""
        return repr((self._exclude, self._access_rules))

    def contents(self) -> FileContents:
        """Lists the tree, unless that was done."""
        return self._listed_tree().contents

    def unused_patterns(self) -> tuple[str, ...]:
        """The patterns of paths to leave out that match nothing."""
        return self._listed_tree().unused_patterns

    @contextmanager
    def readings_in(self, file: Path, software: str, others: Sequence[Path] = ()) -> Iterator[None]:
        """Keeps what the files that `contents` has listed were read as; other results are deleted."""
        with (
            KeptReadings(file, software) as readings,
            OtherReadings(others, software) as of_others,
            self._files.kept_in(readings, of_others),
        ):
            yield
            # A later build may read files that this one did not.
            self._files.take_over(read_file, self.contents())
            deployments = ((path, key) for path, key in self.contents() if key.partition(" ")[0] in _DEPLOY_LANGUAGES)
            self._files.take_over(read_deployment, deployments)
            readings.forget_others(self.contents())

    def moved(self, before: FileContents, now: FileContents) -> tuple[MovedFile, ...] | None:
        """Compares the readings of files whose content is another one."""
        if [path for path, _ in before] != [path for path, _ in now]:
            return None
        listing = self._listed_tree().listing
        listed = zip(listing, before, now, strict=True)
        changed = [(item, old, new) for item, (_, old), (_, new) in listed if old != new]
        if len(changed) > MOST_MOVED_FILES:
            return None
        # The index of a compiler names places in the files that it is of.
        if any(isinstance(item, ListedFile) and item.language == "scip" for item in listing):
            return None
        return self._compared(changed)

    def _compared(self, changed: Sequence[tuple[Listing, str, str]]) -> tuple[MovedFile, ...] | None:
        """The files that were listed with another content before."""
        moved: list[MovedFile] = []
        with Workers(FILE_READERS) as workers:
            for item, old, new in changed:
                if isinstance(item, SkippedFile) or item.language in _DEPLOY_LANGUAGES:
                    return None
                report_before = self._files.last_read(read_file, item.path, old)
                report = next(self._files.map(read_file, self._root, (item,), workers))
                # It may have changed since it was listed.
                is_current = self._files.is_kept(read_file, item.path, new)
                if report_before is None or isinstance(report, GivenUp) or not is_current:
                    return None
                lines = line_moves(report_before, report)
                if lines is None:
                    return None
                before, now = report_before.analysis, report.analysis
                nodes = tuple(zip(before.nodes, now.nodes, strict=True))
                edges = tuple(zip(before.edges, now.edges, strict=True))
                moved.append(MovedFile(item.path, nodes, edges, report.text, lines))
        return tuple(moved)

    def read(self) -> Iterator[SourceRecord]:
        """Skipped files, then nodes, then facts and edges of nodes that have been yielded."""
        with Workers(FILE_READERS) as workers:
            yield from self._read(workers)

    def _read(self, workers: Workers) -> Iterator[SourceRecord]:
        """The passes, in their order; each yields records, and gives what the next ones need of the files."""
        files, compiled = yield from self._listed()
        paths = tuple(item.path for item in files)
        signs = Signs.of_tree(paths, self._access.demand_of)
        deployments = self._deployments(files, workers)
        services = TreeServices(self._access, deployments, files)
        stating = NodeStatements(self._access, services, signs.flags)
        read = yield from self._files_read(files, deployments, signs, stating, compiled, workers)
        read_late = yield from self._components_read(read, signs, stating, workers)
        tree = declare(paths, (*read, *read_late), signs, self._access.demand_of_node)
        rpcs = rpc_names(tree.protos)
        has_sql = not tree.catalog.is_empty
        resolution = resolve(tree.all_code, tree.layout, tree.pages, tree.services, rpcs, has_sql=has_sql)
        joined = yield from join_tree(tree, resolution, workers)
        joined.edges.add(services.edges())
        yield from self._written(tree, resolution, joined, compiled, workers)

    def _listed(self) -> Generator[SourceRecord, None, tuple[list[ListedFile], CompilerIndexes]]:
        """Yields what is not read, and returns the files to read, and the indexes of compilers among them."""
        listed = self._listed_tree().listing
        self._access.decide(item.path for item in listed)
        yield DerivedNames()
        yield from (item for item in listed if isinstance(item, SkippedFile))
        files = [item for item in listed if isinstance(item, ListedFile)]
        compiled = CompilerIndexes(self._root, (item.path for item in files if item.language == "scip"))
        files = [item for item in files if item.language != "scip"]
        self.file_count = len(files)
        return files, compiled

    def _files_read(
        self,
        files: Sequence[ListedFile],
        deployments: Mapping[str, DeployAnalysis],
        signs: Signs,
        stating: NodeStatements,
        compiled: CompilerIndexes,
        workers: Workers,
    ) -> Generator[SourceRecord, None, list[FileFacts]]:
        """Yields the nodes of the files, projects first and code last, and returns what is kept of each."""
        kept: list[FileFacts] = []
        ordered = sorted(files, key=lambda item: (item.language in CODE_LANGUAGES, not is_project(item.path)))
        others = [item for item in ordered if item.path not in deployments]
        reports = self._files.map(read_file, self._root, others, workers)
        for item in ordered:
            if item.path in deployments:
                analysis = deployments[item.path].file
                facts = deployment_facts(item.path, deployments[item.path])
            else:
                report = next(reports)
                given = FileReport(_not_read(item, report)) if isinstance(report, GivenUp) else report
                analysis, facts = read_report(item.path, given, signs)
            kept.append(facts)
            compiled.keep(item, analysis.nodes)
            yield from stating.stated(analysis.nodes)
            if analysis.nodes:
                yield FileText(item.path, analysis.text)
            yield from analysis.skipped
            self.files_read += 1
        return kept

    def _components_read(
        self, files: Sequence[FileFacts], signs: Signs, stating: NodeStatements, workers: Workers
    ) -> Generator[SourceRecord, None, list[FileFacts]]:
        """Yields the nodes of the code in files of markup, and returns what is kept of each."""
        kept: list[FileFacts] = []
        for code in read_components(files, self._access.may_read, workers):
            kept.append(code_of_component(code, signs))
            yield from stating.stated(code.nodes)
            yield from code.skipped
        return kept

    def _written(
        self,
        tree: DeclaredTree,
        resolution: Resolution,
        joined: JoinedTree,
        compiled: CompilerIndexes,
        workers: Workers,
    ) -> Iterator[SourceRecord]:
        """What is known of nodes since they were yielded, and all edges."""
        yield from implementing_facts(resolution.implemented, self._access.may_name)
        yield from late_component_facts(tree)
        yield from compiled.join(joined.edges.sorted(), tree.code, workers)
        yield joined.ends

    def _deployments(self, files: Iterable[ListedFile], workers: Workers) -> dict[str, DeployAnalysis]:
        """The analyses of deployment files, by path; a YAML file that deploys nothing is read with the other files."""
        listed = [item for item in files if item.language in _DEPLOY_LANGUAGES]
        analyses = self._files.map(read_deployment, self._root, listed, workers)
        return {
            item.path: DeployAnalysis(_not_read(item, analysis)) if isinstance(analysis, GivenUp) else analysis
            for item, analysis in zip(listed, analyses, strict=True)
            if analysis is not None
        }


def _not_read(item: ListedFile, given_up: GivenUp) -> FileAnalysis:
    return FileAnalysis(skipped=(SkippedFile(item.path, given_up.why),))
