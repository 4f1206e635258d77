"""The interface of a framework: finders, which read its conventions in one file of code."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from groundwire_index.ends.requests import Request
from groundwire_ingest.tree.as_code.component import Component, ComponentCode
from groundwire_ingest.tree.facts import CodeAnalysis, Import
from groundwire_ingest.tree.framework_facts import (
    Mount,
    Registration,
    Route,
    TableChange,
    TableMapping,
    TemplateView,
    Topic,
)
from groundwire_ingest.tree.languages.nodes import Nodes
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.model import SourceFile, StringLiteral
from groundwire_ingest.tree.text_facts import BuiltText, PassedTexts, TextValue

Finding: TypeAlias = (
    Import
    | Route
    | Mount
    | Request
    | Registration
    | Topic
    | TableMapping
    | TableChange
    | TemplateView
    | TextValue
    | BuiltText
    | PassedTexts
    | StringLiteral
)
"""A fact about a file. A StringLiteral is the name of a template that the code renders."""

Finder: TypeAlias = Callable[[Syntax, Nodes, Places], Iterator[Finding]]


@dataclass(frozen=True, slots=True)
class ComponentForm:
    """Files of markup with code, and how their code is read.

    Attributes:
        suffixes: Of the files, with spaces between them.
        file: Makes a file of code of a component, each piece on its line; None if it has no code. It also gets the
            components `shared` in the folders above, the outermost first, and the root namespaces of .NET by folder.
        code: Makes the nodes and facts of a component from the analysis of that file.
        shared: The names of files whose directives hold for the components in their folder and below.
    """

    suffixes: str
    file: Callable[[Component, Sequence[Component], Mapping[str, str]], SourceFile | None]
    code: Callable[[Component, CodeAnalysis], ComponentCode]
    shared: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Framework:
    """A framework, or a group of frameworks with the same conventions.

    Attributes:
        finders: Run on each file, in this order.
        languages: The languages that it is used in, with spaces between them; empty for all.
        components: Its files of markup with code, if it has any.
    """

    finders: tuple[Finder, ...] = ()
    languages: str = ""
    components: ComponentForm | None = None
