"""What a code file says of itself, before names are resolved across the tree."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from groundwire_server.ingest.tree.model import FileAnalysis, StringLiteral

Construct: TypeAlias = Literal["module", "type", "callable", "value"]


@dataclass(frozen=True, slots=True)
class Definition:
    """Something with a name that other code can refer to; definition 0 of a file is the file itself.

    `key` is the node whose text holds it: a one-line member has no node of its own and shares its type's.
    `symbol` is dotted and qualified by types and namespaces, `parent` an index into the file's definitions
    (-1 for the file itself). `bases` are the dotted names of base types as written, without type arguments.
    `parameter_count` is None where it cannot tell overloads apart. `owner` names the type of a member that
    stands outside of it and is in another file (Go). `partial` marks a C# type of several declarations.
    """

    key: str
    symbol: str
    name: str
    construct: Construct
    parent: int
    line: int
    bases: tuple[str, ...] = ()
    parameter_count: int | None = None
    owner: str = ""
    partial: bool = False


@dataclass(frozen=True, slots=True)
class Import:
    """A name that a file takes from elsewhere, `alias` being what it is called here.

    `module` is written as the language does: dotted (leading dots: relative), a path, or empty for this
    very file (`export default Foo`). An empty `name` is the module itself, `*` everything in it; an empty
    `alias` binds no name. `tree_wide` holds for every file of the tree (C# `global using`).
    """

    module: str
    name: str
    alias: str
    line: int
    tree_wide: bool = False


@dataclass(frozen=True, slots=True)
class Binding:
    """A variable whose type the source states or makes plain; a field when `scope` is a type.

    `scope` is an index into the file's definitions; `stated` is False where the type is that of an initialiser.
    """

    scope: int
    name: str
    type_name: str
    stated: bool


@dataclass(frozen=True, slots=True)
class Call:
    """A call site inside definition `scope`, its text being in node `from_key`.

    `receiver` is the dotted path before the name, empty when there is none and `?` when it is some other
    expression; a path segment that is itself called ends with `()`. `constructs` marks `new Name()`.
    """

    from_key: str
    scope: int
    receiver: str
    name: str
    argument_count: int
    line: int
    constructs: bool = False


@dataclass(frozen=True, slots=True)
class TableMapping:
    """An ORM's word that the node `from_key` maps to a table, and so does the type `entity` unless that is empty."""

    from_key: str
    scope: int
    entity: str
    table: str
    confidence: float


@dataclass(frozen=True, slots=True)
class CodeFacts:
    """All that name resolution needs of one file."""

    path: str
    language: str
    definitions: tuple[Definition, ...]
    imports: tuple[Import, ...] = ()
    bindings: tuple[Binding, ...] = ()
    calls: tuple[Call, ...] = ()
    mappings: tuple[TableMapping, ...] = ()


@dataclass(frozen=True, slots=True)
class CodeAnalysis:
    """One code file: its nodes with their Contains edges, its facts, and its string literals.

    `facts` is None when the file could not be parsed.
    """

    file: FileAnalysis
    facts: CodeFacts | None = None
    literals: tuple[StringLiteral, ...] = ()
