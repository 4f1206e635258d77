"""What a framework finds in one file of code."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from groundwire_index.repository_edges.requests import Request
from groundwire_ingest.tree.code_facts import Binding, Import
from groundwire_ingest.tree.file_analysis import StringLiteral
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
    | Binding
)
"""A fact about a file. A StringLiteral is the name of a template that the code renders."""

Finder: TypeAlias = Callable[[Syntax, Nodes, Places], Iterator[Finding]]
"""Reads the conventions of a framework in the nodes of one file."""
