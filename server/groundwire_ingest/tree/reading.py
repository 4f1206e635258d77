"""One pass over the files of a tree, which collects what edges between files need."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from posixpath import join, normpath
from typing import TypeAlias

from groundwire_index.ends.ends import Ends
from groundwire_index.ends.tables import TableUse
from groundwire_index.nodes.node import NodeAccess
from groundwire_ingest.frameworks.registry import form_of
from groundwire_ingest.records import LateFacts, SkippedFile, SourceEdge, SourceNode
from groundwire_ingest.tree.as_code.component import Component, ComponentCode, unread_code
from groundwire_ingest.tree.as_code.protobuf import rpc_names, with_generated
from groundwire_ingest.tree.facts import CodeAnalysis, CodeFacts
from groundwire_ingest.tree.files.facts import MapperFacts, ProjectFacts, ProtoFacts, TemplateNames
from groundwire_ingest.tree.files.paths import path_edges
from groundwire_ingest.tree.files.proto import proto_edges
from groundwire_ingest.tree.files.reading import PathReference
from groundwire_ingest.tree.flag_signs import FlagSigns, is_test_project
from groundwire_ingest.tree.folders import folder_of, folders_above, path_in
from groundwire_ingest.tree.framework_facts import Page
from groundwire_ingest.tree.languages.typescript.projects import ScriptProject
from groundwire_ingest.tree.literals import (
    Statement,
    is_perhaps_sql,
    literal_edges,
    procedure_edges,
    references_in,
    shared_table_uses,
    statements,
    text_edges,
    text_statements,
)
from groundwire_ingest.tree.mappers import MappedStatement, mapper_edges
from groundwire_ingest.tree.mentions import Mentions
from groundwire_ingest.tree.model import FileAnalysis, SourceFile, StringLiteral, TreeEdges
from groundwire_ingest.tree.names.family import ImplementedMember
from groundwire_ingest.tree.names.rules import TreeLayout
from groundwire_ingest.tree.packages import PackageFacts
from groundwire_ingest.tree.resolve import Resolution, resolve
from groundwire_ingest.tree.single_file import FileReport, OtherFile, read_code
from groundwire_ingest.tree.sql.catalog import SqlCatalog
from groundwire_ingest.tree.sql.file import SqlFile
from groundwire_ingest.tree.tables import (
    altering_edges,
    define_created_tables,
    entity_edges,
    entity_use_edges,
    migration_edges,
    shared_entity_uses,
)
from groundwire_ingest.tree.view_templates import Template, selector_edges, with_members_named
from groundwire_ingest.tree.walk import ListedFile
from groundwire_ingest.workers import GivenUp, Workers


@dataclass(frozen=True, slots=True)
class TreeMap:
    """The facts about a tree's nodes, after all of its files have been read."""

    edges: TreeEdges
    flags: FlagSigns
    facts: Sequence[CodeFacts]
    implemented: Mapping[str, Sequence[ImplementedMember]]
    components: Mapping[str, Sequence[str]]
    ends: Ends

    def late_facts(self, may_name: Callable[[str], Callable[[str], bool]]) -> Iterator[LateFacts]:
        """The nodes that others implement or override, and the nodes of components that turned out to be tests.

        `may_name` says of a node which others it may name, by their keys.
        """
        for key, members in self.implemented.items():
            symbols = sorted({item.name for item in members if may_name(key)(item.key)})
            if symbols:
                yield LateFacts(key, f"implements {', '.join(symbols)}")
        for path, keys in self.components.items():
            if self.flags.is_test(path):
                yield from (LateFacts(key, is_test=True) for key in keys)


class TreeReading:
    """Reads files one by one, code after all others; `paths` are those of all files of the tree.

    `demand_of` returns the access rules of a file's nodes, `demand_of_node` those of a node by its key.
    """

    def __init__(
        self, paths: Iterable[str], demand_of: Callable[[str], NodeAccess], demand_of_node: Callable[[str], NodeAccess]
    ) -> None:
        self._paths = tuple(paths)
        self._demand_of_node = demand_of_node
        self._catalog = SqlCatalog(demand_of)
        self._mentions = Mentions(self._paths)
        self._flags = FlagSigns()
        self._edges = TreeEdges()
        self._facts: list[CodeFacts] = []
        self._go_modules: dict[str, str] = {}
        self._script_projects: dict[str, ScriptProject] = {}
        self._crates: dict[str, str] = {}
        self._references: list[PathReference] = []
        self._keys_by_line: dict[str, tuple[str, ...]] = {}
        self._first_keys: dict[str, str] = {}
        self._protos: list[ProtoFacts] = []
        self._components: dict[str, Component] = {}
        self._component_keys: dict[str, list[str]] = {}
        self._pages: list[Page] = []
        self._templates: dict[str, Template] = {}
        self._root_namespaces: dict[str, str] = {}
        self._project_references: dict[str, set[str]] = {}
        self._packages: dict[str, PackageFacts] = {}
        self._table_uses: dict[TableUse, None] = {}
        self._statements: list[Statement] = []
        self._mapped: list[MappedStatement] = []
        self._late_literals: list[StringLiteral] = []
        self._mentioned: tuple[SourceEdge, ...] = ()
        self._resolution = Resolution((), (), {})

    def add(self, item: ListedFile, report: FileReport) -> FileAnalysis:
        """The nodes of a file and the edges that follow from it alone; keeps what other files' edges need."""
        path = item.path
        self._keep_stated(item, report)
        match report.content:
            case CodeAnalysis(file, facts, literals, views):
                if facts is not None:
                    self._keep_facts(facts)
                    self._mentions.add_variables(path, facts.references)
                if facts is not None and facts.language == "go":
                    # Its migrations may create tables.
                    self._late_literals.extend(filter(is_perhaps_sql, literals))
                else:
                    self._add_literals(literals)
                self._mentions.add(path, literals)
                self._mentions.add_views(path, views)
                return file.noted(report.notes)
            case OtherFile() as other:
                self._keep_other(path, other)
                return other.reading.analysis.noted(report.notes)
            case SqlFile() as sql:
                return self._catalog.add(sql).noted(report.notes)
            case FileAnalysis() as analysis:
                return analysis.noted(report.notes)

    def _keep_stated(self, item: ListedFile, report: FileReport) -> None:
        """Keeps what a file states about the tree."""
        path = item.path
        if report.is_generated:
            self._flags.generated.add(path)
        if report.project is not None:
            self._script_projects[path] = report.project
        if report.module:
            (self._go_modules if item.language == "gomod" else self._crates)[folder_of(path)] = report.module
        if report.packages is not None:
            self._packages[path] = report.packages

    def refer(self, path: str, references: Iterable[PathReference], keys: tuple[str, ...]) -> None:
        """Adds what a file says of others; `keys` has the node at each of its lines."""
        self._references.extend(references)
        self._keys_by_line[path] = keys

    def keep(self, path: str, analysis: FileAnalysis) -> None:
        """Adds the edges of a file; edges to its path lead to its first node."""
        self._edges.add(analysis.edges)
        if analysis.nodes:
            self._first_keys[path] = analysis.nodes[0].key
        if path in self._components:
            self._component_keys[path] = [node.key for node in analysis.nodes]

    def marked(self, node: SourceNode) -> SourceNode:
        """A node of a file that has been added, with the purpose of the file as far as it is known."""
        is_test, is_generated = self._flags.is_test(node.path), node.path in self._flags.generated
        return replace(node, is_test=is_test, is_generated=is_generated) if is_test or is_generated else node

    def component_code(
        self, may_read: Callable[[str], Callable[[str], bool]], workers: Workers
    ) -> Iterator[ComponentCode]:
        """The code in markup files, which is read once all files that they import are known.

        `may_read` says of a file which others its nodes may follow from.
        """

        def read(files: Iterable[SourceFile]) -> Iterator[CodeAnalysis | GivenUp]:
            return workers.map(read_code, files, lambda file: len(file.text))

        for code in read_components(self._components.values(), self._root_namespaces, may_read, read):
            if code.facts is not None:
                self._keep_facts(code.facts)
            self._edges.add(code.edges)
            yield code

    def resolve_names(self) -> None:
        """Resolves the names in the code, once every file has been added."""
        is_test, generated = self._flags.is_test, self._flags.generated
        facts = [replace(item, is_test=is_test(item.path), is_generated=item.path in generated) for item in self._facts]
        packages = frozenset(folder_of(path) for path in self._paths if PurePosixPath(path).name == "__init__.py")
        projects = {folder: frozenset(self._project_references.get(folder, ())) for folder in self._root_namespaces}
        layout = TreeLayout(
            packages, self._go_modules, projects, self._script_projects, self._crates, self._demand_of_node
        )
        self._mentioned = tuple(self._mentions.edges(self._first_keys, is_test))
        pages = self._rendered_pages(self._mentioned)
        self._facts = facts
        define_created_tables(facts, self._catalog)
        self._add_literals(self._late_literals)
        named = tuple(with_members_named(facts, self._templates))
        known = with_generated(self._protos, named, self._go_modules)
        self._resolution = resolve(
            known,
            layout,
            pages,
            self._mentions.settings.services,
            rpc_names(self._protos),
            has_sql=not self._catalog.is_empty,
        )
        texts = self._resolution.texts
        self._edges.add(text_edges(self._catalog, texts))
        self._statements.extend(text_statements(texts))

    def read_statements(self, workers: Workers) -> Iterator[SkippedFile]:
        """Adds the edges of SQL in strings of code, after `resolve_names`; gives what could not be read."""
        # A string that is read where its constant is used is the same in many places.
        distinct = {item.reading: item for item in reversed(self._statements)}
        found_in = dict(zip(distinct, workers.map(references_in, distinct.values(), _length), strict=True))
        for statement in self._statements:
            result = found_in[statement.reading]
            if isinstance(result, GivenUp):
                path = path_in(statement.literal.from_key)
                yield SkippedFile(path, f"the SQL in the string at line {statement.literal.line} {result.why}")
            else:
                self._edges.add(literal_edges(self._catalog, statement.literal, result, statement.most))
                demand = self._demand_of_node(statement.literal.from_key)
                uses = shared_table_uses(self._catalog, statement.literal, result, demand, statement.most)
                self._table_uses |= dict.fromkeys(uses)

    def resolved(self) -> TreeMap:
        """All edges between files, after `resolve_names`."""
        resolution, facts = self._resolution, self._facts
        self._edges.add(resolution.edges)
        self._edges.add(self._catalog.edges())
        self._edges.add(path_edges(self._references, self._keys_by_line, self._first_keys))
        self._edges.add(proto_edges(self._protos))
        self._edges.add(self._mentioned)
        self._edges.add(entity_edges(self._catalog, resolution.mappings))
        self._edges.add(entity_use_edges(self._catalog, resolution.mappings, resolution.entity_uses))
        self._edges.add(migration_edges(facts, resolution.mappings))
        self._edges.add(altering_edges(facts, self._catalog))
        self._edges.add(mapper_edges(self._mapped, facts))
        self._edges.add(selector_edges(facts, self._templates.values()))
        return TreeMap(self._edges, self._flags, facts, resolution.implemented, self._component_keys, self._ends())

    def _ends(self) -> Ends:
        """The ends of edges to other trees: those of code, those of packages, and tables."""
        ends = self._resolution.ends
        names, uses = list(ends.names), list(ends.uses)
        for path, packages in sorted(self._packages.items()):
            first_key = self._first_keys.get(path, "")
            if first_key:
                names.extend(packages.offered(first_key))
                uses.extend(packages.uses(self._keys_by_line.get(path, ()), first_key))
        table_uses = dict.fromkeys(self._catalog.shared_uses()) | self._table_uses
        table_uses |= dict.fromkeys(shared_entity_uses(self._catalog, self._resolution.mappings, self._demand_of_node))
        return replace(
            ends,
            names=tuple(names),
            uses=tuple(uses),
            tables=tuple(self._catalog.tables()),
            table_uses=tuple(table_uses),
        )

    def _add_literals(self, literals: Sequence[StringLiteral]) -> None:
        """Adds the procedures that strings are the names of, and keeps the statements in strings."""
        self._edges.add(procedure_edges(self._catalog, literals))
        self._statements.extend(statements(literals))

    def _rendered_pages(self, mentioned: Iterable[SourceEdge]) -> list[Page]:
        """The pages with the code that names their files, as that is what renders them."""
        naming: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for edge in mentioned:
            naming[edge.to_key][edge.from_key] = None
        keys, is_test = self._first_keys, self._flags.is_test
        rendered = ((page, tuple(naming[keys[page.path]])) for page in self._pages)
        return [replace(page, rendered_by=by, is_test=is_test(page.path)) for page, by in rendered]

    def _keep_facts(self, facts: CodeFacts) -> None:
        self._facts.append(facts)
        self._flags.note_imports(facts.path, (item.module for item in facts.imports))

    def _keep_other(self, path: str, other: OtherFile) -> None:
        """Keeps what a file that is no code says about others."""
        reading, keys = other.reading, other.keys
        if path in self._packages:
            self._keys_by_line.setdefault(path, keys)
        if other.component is not None:
            self._components[path] = other.component
        if reading.references:
            self.refer(path, reading.references, keys)
        first = next(filter(None, keys), "")
        if reading.requests and first:
            requests = (replace(item, from_key=keys[item.line - 1] or first) for item in reading.requests)
            self._pages.append(Page(path, tuple(requests)))
        self._mentions.settings.add(path, reading.settings, keys)
        match reading.facts:
            case MapperFacts() as facts:
                self._keep_mapper(facts, keys)
            case TemplateNames() as names:
                self._templates[path] = Template(path, keys, names)
            case ProtoFacts() as facts:
                self._protos.append(facts)
            case CodeFacts() as facts:
                self._keep_facts(facts)
            case ProjectFacts() as facts if is_project(path):
                self._keep_project(path, facts)

    def _keep_project(self, path: str, facts: ProjectFacts) -> None:
        """Keeps what a project of MSBuild says of its folder."""
        folder, stem = folder_of(path), PurePosixPath(path).stem
        paths = (normpath(join(folder, written)) for written in facts.projects)
        self._project_references.setdefault(folder, set()).update(map(folder_of, paths))
        self._root_namespaces[folder] = dict(facts.properties).get("RootNamespace", stem)
        if is_test_project(facts):
            self._flags.test_folders.add(folder)

    def _keep_mapper(self, facts: MapperFacts, keys: Sequence[str]) -> None:
        """Keeps the statements of a mapper file; `keys` has the node at each of its lines."""
        for item in facts.statements:
            key = keys[item.line - 1]
            self._mapped.append(MappedStatement(key, item.line, f"{facts.interface}.{item.name}"))
            self._late_literals.append(StringLiteral(key, item.sql, item.line))


def _length(statement: Statement) -> int:
    return len(statement.sql)


def is_project(path: str) -> bool:
    """True for a project of MSBuild."""
    return path.endswith("proj")


CodeReading: TypeAlias = Callable[[Iterable[SourceFile]], Iterator[CodeAnalysis | GivenUp]]
"""Analyses files of code, in their order."""


def read_components(
    components: Iterable[Component],
    root_namespaces: Mapping[str, str],
    may_read: Callable[[str], Callable[[str], bool]],
    read_code: CodeReading,
) -> Iterator[ComponentCode]:
    """The code of each of a tree's components, by path; those without a line that a node holds have none.

    `root_namespaces` has the root namespace of each folder that holds a .NET project. `may_read` says of a file which
    others its nodes may follow from.
    """
    by_path = sorted(components, key=lambda item: item.path)
    shared: defaultdict[str, list[Component]] = defaultdict(list)
    for component in by_path:
        folder, _, name = component.path.rpartition("/")
        if name in form_of(component.path).shared:
            shared[folder].append(component)

    def file_of(component: Component) -> SourceFile | None:
        may_follow = may_read(component.path)
        folders = reversed(list(folders_above(component.path)))
        above = [item for folder in folders for item in shared.get(folder, ()) if may_follow(item.path)]
        return form_of(component.path).file(component, above, root_namespaces)

    held = [item for item in by_path if any(item.keys)]
    files = [file_of(item) for item in held]
    analyses = read_code(file for file in files if file is not None)
    for component, file in zip(held, files, strict=True):
        analysis = next(analyses) if file is not None else None
        if analysis is None or isinstance(analysis, GivenUp):
            yield unread_code(component, "" if analysis is None else analysis.why)
        else:
            yield form_of(component.path).code(component, analysis)
