"""The first pass over the files of a tree: what each of them gives by itself, and what is kept of it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from posixpath import join, normpath

from groundwire_index.nodes.node import NodeAccess
from groundwire_ingest.tree.code_facts import CodeAnalysis, CodeFacts
from groundwire_ingest.tree.code_languages import CODE_LANGUAGES
from groundwire_ingest.tree.code_of_other_files.component import ComponentCode
from groundwire_ingest.tree.deploy import DeployAnalysis
from groundwire_ingest.tree.file_analysis import FileAnalysis, StringLiteral
from groundwire_ingest.tree.file_facts import FileFacts
from groundwire_ingest.tree.files.facts_about_code import MapperFacts, ProjectFacts, ProtoFacts, TemplateNames
from groundwire_ingest.tree.flag_signs import FlagSigns, is_test_project
from groundwire_ingest.tree.folders import folder_of
from groundwire_ingest.tree.languages.csharp.projects import DotnetProject
from groundwire_ingest.tree.literals import ProcedureNames, is_perhaps_sql, statements
from groundwire_ingest.tree.mentions import Mentions
from groundwire_ingest.tree.packages import PackageFacts
from groundwire_ingest.tree.single_file import FileReport, OtherFile
from groundwire_ingest.tree.sql.catalog import SqlCatalog
from groundwire_ingest.tree.sql.file import SqlFile


@dataclass(frozen=True, slots=True)
class Signs:
    """What files say that the reading of later ones depends on.

    Attributes:
        flags: Which files are tests, and which are generated.
        catalog: The objects of SQL files.
        procedures: The procedures among them that literals name.
        mentions: The settings, and the strings that name one of them or a file.
    """

    flags: FlagSigns
    catalog: SqlCatalog
    procedures: ProcedureNames
    mentions: Mentions

    @classmethod
    def of_tree(cls, paths: Iterable[str], demand_of: Callable[[str], NodeAccess]) -> "Signs":
        """Those of a tree none of whose files are read; `demand_of` returns the access rules of a file's nodes."""
        catalog = SqlCatalog(demand_of)
        return cls(FlagSigns(), catalog, ProcedureNames(catalog), Mentions(paths))


def read_report(path: str, report: FileReport, signs: Signs) -> tuple[FileAnalysis, FileFacts]:
    """The nodes of a file, and what is kept of it. Projects come before other files, and code after them."""
    if report.is_generated:
        signs.flags.generated.add(path)
    match report.content:
        case CodeAnalysis() as code:
            analysis, facts = code.file, _of_code(path, code, signs)
        case OtherFile() as other:
            analysis, facts = other.reading.analysis, _of_other(path, other, report.packages, signs)
        case SqlFile() as sql:
            analysis, facts = signs.catalog.add(sql), FileFacts(path)
        case FileAnalysis() as analysis:
            facts = FileFacts(path)
    module_file = facts.module_file or report.module_file
    analysis = replace(analysis.noted(report.notes), text=report.text)
    return analysis, _with_nodes(replace(facts, module_file=module_file, packages=report.packages), analysis)


def deployment_facts(path: str, deployment: DeployAnalysis) -> FileFacts:
    """What is kept of a deployment file."""
    facts = FileFacts(path, keys=deployment.keys, references=deployment.references)
    return _with_nodes(facts, deployment.file)


def code_of_component(code: ComponentCode, signs: Signs) -> FileFacts:
    """What is kept of the code in a file of markup."""
    if code.facts is not None:
        _note_imports(code.facts, signs)
    return FileFacts(code.path, edges=code.edges, code=code.facts)


def _with_nodes(facts: FileFacts, analysis: FileAnalysis) -> FileFacts:
    keys = tuple(node.key for node in analysis.nodes)
    component_keys = keys if facts.component is not None else ()
    edges = (*facts.edges, *analysis.edges)
    return replace(facts, first_key=keys[0] if keys else "", edges=edges, component_keys=component_keys)


def _of_code(path: str, analysis: CodeAnalysis, signs: Signs) -> FileFacts:
    code, literals = analysis.facts, analysis.literals
    if code is not None:
        _note_imports(code, signs)
        signs.mentions.add_variables(path, code.references)
    signs.mentions.add(path, literals)
    signs.mentions.add_views(path, analysis.views)
    if code is not None and CODE_LANGUAGES[code.language].creates_tables:
        return FileFacts(path, code=code, late_literals=tuple(filter(is_perhaps_sql, literals)))
    return FileFacts(
        path, code=code, edges=tuple(signs.procedures.edges(literals)), statements=tuple(statements(literals))
    )


def _note_imports(code: CodeFacts, signs: Signs) -> None:
    signs.flags.note_imports(code.path, (item.module for item in code.imports))


def _of_other(path: str, other: OtherFile, packages: PackageFacts | None, signs: Signs) -> FileFacts:
    """What a file that is no code says about others."""
    reading, keys = other.reading, other.keys
    signs.mentions.settings.add(path, reading.settings, keys)
    first = next(filter(None, keys), "")
    requests = (replace(item, from_key=keys[item.line - 1] or first) for item in reading.requests if first)
    facts = FileFacts(
        path,
        keys=keys if reading.references or reading.facts is not None or packages is not None else (),
        references=tuple(reading.references),
        requests=tuple(requests),
        component=other.component,
    )
    match reading.facts:
        case MapperFacts() as mapper:
            return replace(facts, of_format=mapper, late_literals=tuple(_statements_of(mapper, keys)))
        case (TemplateNames() | ProtoFacts()) as of_format:
            return replace(facts, of_format=of_format)
        case CodeFacts() as code:
            _note_imports(code, signs)
            return replace(facts, code=code)
        case ProjectFacts() as project if is_project(path):
            if is_test_project(project):
                signs.flags.test_folders.add(folder_of(path))
            return replace(facts, module_file=_dotnet_project(path, project))
        case _:
            return facts


def _dotnet_project(path: str, facts: ProjectFacts) -> DotnetProject:
    paths = (normpath(join(folder_of(path), written)) for written in facts.projects)
    root_namespace = dict(facts.properties).get("RootNamespace", PurePosixPath(path).stem)
    return DotnetProject(root_namespace, frozenset(map(folder_of, paths)))


def _statements_of(mapper: MapperFacts, keys: tuple[str, ...]) -> Iterator[StringLiteral]:
    for item in mapper.statements:
        yield StringLiteral(keys[item.line - 1], item.sql, item.line)


def is_project(path: str) -> bool:
    """True for a project of MSBuild."""
    return path.endswith("proj")
