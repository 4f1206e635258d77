"""What is kept of a file once its nodes are written."""

from dataclasses import dataclass
from typing import TypeAlias

from groundwire_index.repository_edges.requests import Request
from groundwire_ingest.records import SourceEdge
from groundwire_ingest.tree.code_facts import CodeFacts
from groundwire_ingest.tree.code_of_other_files.component import Component
from groundwire_ingest.tree.file_analysis import StringLiteral
from groundwire_ingest.tree.files.facts_about_code import MapperFacts, ProtoFacts, TemplateNames
from groundwire_ingest.tree.files.reading import PathReference
from groundwire_ingest.tree.languages.module_files import ModuleFile
from groundwire_ingest.tree.literals import Statement
from groundwire_ingest.tree.packages import PackageFacts

FormatFacts: TypeAlias = MapperFacts | ProtoFacts | TemplateNames
"""What files of some formats say of code."""


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What a file says of others.

    Attributes:
        path: Its path in the tree.
        first_key: Its first node, which edges to its path lead to; empty if it has none.
        keys: The node at each of its lines, "" where there is none; empty where nothing needs them.
        edges: Those that follow from the file alone.
        references: The files that it names.
        requests: Those of its links and forms, by the nodes that hold them.
        module_file: What it says about where modules are.
        packages: Those that it publishes and uses, if it is of a build tool.
        of_format: What it says in the way of its format.
        code: What its code says.
        component: Its code, where that is read after all other files.
        component_keys: The nodes of a file with a component.
        statements: The SQL in its strings that may name an object of an SQL file.
        late_literals: The strings that are searched for SQL once the tables that code creates are known.
    """

    path: str
    first_key: str = ""
    keys: tuple[str, ...] = ()
    edges: tuple[SourceEdge, ...] = ()
    references: tuple[PathReference, ...] = ()
    requests: tuple[Request, ...] = ()
    module_file: ModuleFile | None = None
    packages: PackageFacts | None = None
    of_format: FormatFacts | None = None
    code: CodeFacts | None = None
    component: Component | None = None
    component_keys: tuple[str, ...] = ()
    statements: tuple[Statement, ...] = ()
    late_literals: tuple[StringLiteral, ...] = ()
