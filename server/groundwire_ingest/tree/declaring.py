"""The pass over what is kept of the files of a tree: what all of them together declare."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from groundwire_index.nodes.node import NodeAccess
from groundwire_ingest.frameworks.registry import FRAMEWORKS
from groundwire_ingest.records import LateFacts, SourceEdge
from groundwire_ingest.tree.code_facts import CodeFacts
from groundwire_ingest.tree.code_of_other_files.protobuf import with_generated
from groundwire_ingest.tree.file_facts import FileFacts
from groundwire_ingest.tree.files.facts_about_code import ProtoFacts
from groundwire_ingest.tree.flag_signs import FlagSigns
from groundwire_ingest.tree.framework_facts import Page
from groundwire_ingest.tree.languages.go.go_modules import GoModule
from groundwire_ingest.tree.languages.module_files import ModuleFile
from groundwire_ingest.tree.literals import ProcedureNames, Statement, statements
from groundwire_ingest.tree.names.rules import TreeLayout
from groundwire_ingest.tree.reading import Signs
from groundwire_ingest.tree.sql.catalog import SqlCatalog
from groundwire_ingest.tree.tables import define_created_tables


@dataclass(frozen=True, slots=True)
class DeclaredTree:
    """What the files of a tree declare and say of each other.

    Attributes:
        files: What is kept of each file.
        flags: Which files are tests, and which are generated.
        catalog: The objects of SQL files, and the tables that code creates.
        layout: Where modules are.
        code: What the code of each file says.
        all_code: The same with what other files say of it, and with what is generated from .proto files.
        protos: What the .proto files say.
        pages: The files with links and forms.
        services: The names that services give themselves, by the folders of their code.
        first_keys: The first node of each file, by path.
        mentioned: The edges from strings to the files and settings that they name.
        procedures: The edges from strings to the procedures of SQL that they name.
        statements: The SQL in strings, which may name objects of the catalogue, or tables of other trees.
    """

    files: tuple[FileFacts, ...]
    flags: FlagSigns
    catalog: SqlCatalog
    layout: TreeLayout
    code: tuple[CodeFacts, ...]
    all_code: tuple[CodeFacts, ...]
    protos: tuple[ProtoFacts, ...]
    pages: tuple[Page, ...]
    services: Mapping[str, str]
    first_keys: Mapping[str, str]
    mentioned: tuple[SourceEdge, ...]
    procedures: tuple[SourceEdge, ...]
    statements: tuple[Statement, ...]


def declare(
    paths: Iterable[str], files: Sequence[FileFacts], signs: Signs, demand_of_node: Callable[[str], NodeAccess]
) -> DeclaredTree:
    """What a tree declares.

    `paths` are those of all its files, `signs` what was noted while they were read. `demand_of_node` returns the access
    rules of a node by its key.
    """
    flags, catalog = signs.flags, signs.catalog
    layout = TreeLayout(tuple(paths), module_files(files), demand_of_node)
    first_keys = {file.path: file.first_key for file in files if file.first_key}
    mentioned = tuple(signs.mentions.edges(first_keys, flags.is_test))
    protos = tuple(file.of_format for file in files if isinstance(file.of_format, ProtoFacts))
    code = tuple(_flagged(file.code, flags) for file in files if file.code is not None)
    completed: Sequence[CodeFacts] = code
    for framework in FRAMEWORKS:
        if framework.completed is not None:
            completed = tuple(framework.completed(files, completed))
    define_created_tables(code, catalog)
    late_literals = [literal for file in files for literal in file.late_literals]
    return DeclaredTree(
        tuple(files),
        flags,
        catalog,
        layout,
        code,
        with_generated(protos, completed, layout.stated(GoModule)),
        protos,
        tuple(_pages(files, first_keys, mentioned, flags)),
        signs.mentions.settings.services,
        first_keys,
        mentioned,
        tuple(ProcedureNames(catalog).edges(late_literals)),
        (*(item for file in files for item in file.statements), *statements(late_literals)),
    )


def module_files(files: Iterable[FileFacts]) -> dict[str, ModuleFile]:
    """What files say about where modules are, by path."""
    return {file.path: file.module_file for file in files if file.module_file is not None}


def late_component_facts(tree: DeclaredTree) -> Iterator[LateFacts]:
    """The nodes of components that turned out to be tests."""
    for file in tree.files:
        if file.component is not None and tree.flags.is_test(file.path):
            yield from (LateFacts(key, is_test=True) for key in file.component_keys)


def _flagged(code: CodeFacts, flags: FlagSigns) -> CodeFacts:
    return replace(code, is_test=flags.is_test(code.path), is_generated=code.path in flags.generated)


def _pages(
    files: Iterable[FileFacts], first_keys: Mapping[str, str], mentioned: Iterable[SourceEdge], flags: FlagSigns
) -> Iterator[Page]:
    """The files with links and forms, with the code that names them, as that is what renders them."""
    naming: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for edge in mentioned:
        naming[edge.to_key][edge.from_key] = None
    for file in files:
        if file.requests:
            yield Page(file.path, file.requests, tuple(naming[first_keys[file.path]]), flags.is_test(file.path))
