"""The facts that one code file states by itself, before names are resolved across the tree."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from groundwire_index.repository_edges.requests import Request
from groundwire_ingest.tree.file_analysis import FileAnalysis, StringLiteral
from groundwire_ingest.tree.framework_facts import (
    Mount,
    Registration,
    Route,
    TableChange,
    TableMapping,
    TemplateView,
    Topic,
)
from groundwire_ingest.tree.text_facts import BuiltText, PassedTexts, TextValue

Construct: TypeAlias = Literal["module", "type", "callable", "value"]
Trait: TypeAlias = Literal[
    "interface",
    "abstract",
    "static",
    "extension",
    "override",
    "partial",
    "property",
    "variadic",
    "structural",
    "local",
    "declared",
    "private",
    "virtual",
    "conditional",
]
"""The flags of a declaration.

`interface` and `abstract` mark types whose members are implemented elsewhere, and such members. `structural` is an
interface that types satisfy without naming it (Go). `extension` is a callable whose first argument is written before
the dot of a call. `property` is a callable that is read like a field. `variadic` is a callable with any number of
further arguments. `local` is a declaration inside a callable, known only there. `declared` is a callable whose body is
elsewhere. `private` is a member that only its own type sees, so that no other overrides it. `virtual` is a member that
says that others may override it. `conditional` is a variable that is set under a condition, so that its name may mean
another definition as well.
"""

_ABSTRACT = frozenset[Trait]({"interface", "abstract", "structural"})


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a callable; `type_name` in the form of `languages.types`, empty when the source states none."""

    name: str
    type_name: str = ""
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class Definition:
    """Something with a name that other code can refer to; definition 0 of a file is the file itself.

    `key` is the node whose text holds it: a field has no node of its own and has that of its type. `symbol` is dotted
    and qualified by types and namespaces; `parent` is an index into the file's definitions (-1 for the file itself).
    Types are in the form of `languages.types`: `bases` are those that a type derives from, `result` is the return type
    of a callable or the type of a value. `parameters` is None if they are not known. `owner` names the type of a member
    that is written outside of it, in another file (Go). `type_bounds` are pairs of a type parameter and a type that it
    is bound to, in the order of the source. `stands_for`, unless -1, is the index of the definition of this
    file for which this one is another name.
    """

    key: str
    symbol: str
    name: str
    construct: Construct
    parent: int
    line: int
    bases: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] | None = None
    result: str = ""
    owner: str = ""
    type_parameters: tuple[str, ...] = ()
    type_bounds: tuple[tuple[str, str], ...] = ()
    stands_for: int = -1
    traits: frozenset[Trait] = frozenset()

    @property
    def is_abstract(self) -> bool:
        """True if it is declared to be implemented elsewhere."""
        return not self.traits.isdisjoint(_ABSTRACT)


@dataclass(frozen=True, slots=True)
class Import:
    """A name that a file imports; `alias` is its name in the file.

    `module` is as the language writes it: dotted (leading dots: relative), a path, or empty for this
    file itself (`export default Foo`). An empty `name` is the module itself, `*` everything in it; an empty
    `alias` binds no name. `project_wide` holds for every file of the project (C# `global using`).
    """

    module: str
    name: str
    alias: str
    line: int
    project_wide: bool = False


@dataclass(frozen=True, slots=True)
class Binding:
    """A variable whose type the source states or implies; a field when `scope` is a type.

    `scope` is an index into the file's definitions. `stated`: the source states the type, `type_name`. Otherwise the
    type is `type_name`, from a simple initialiser, or that of the expression `value`, a path as in `Call.receiver`.
    Both are empty for any other value, and such a variable still hides others of its name. `is_item`: the variable is
    an item of the value or type. `value` is evaluated in definition `written_in`, or in `scope` if that is -1.
    """

    scope: int
    name: str
    type_name: str
    stated: bool
    value: str = ""
    is_item: bool = False
    written_in: int = -1


RETURNED = "()"
"""The name of a binding for what a callable, its scope, returns; also the name of a call of a returned value."""

OF_ITEMS, OF_TARGET = "[]", "="
"""The names of a construction without a type: of an item of the collection `receiver`; of the receiver's own type."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call site inside definition `scope`; its text is in node `from_key`.

    `receiver` is the dotted path before the name, empty if there is none and `?` for any other expression. A segment
    that is itself called ends with `()`, or `<Ns::Order>()` if it states type arguments. `[]` means an item of the path
    before it. `constructs` marks `new Name()`. `arguments` are paths of the same form, `"` for a string and empty for
    any other expression; `type_arguments` are types.
    """

    from_key: str
    scope: int
    receiver: str
    name: str
    line: int
    constructs: bool = False
    arguments: tuple[str, ...] = ()
    type_arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KeptParameter:
    """A statement in definition `scope` that sets a field, at the path `target`, to a parameter, `name`."""

    from_key: str
    scope: int
    target: str
    name: str
    line: int


@dataclass(frozen=True, slots=True)
class StatedImplementation:
    """A statement outside of a type that it satisfies an interface: `var _ Store = (*FileStore)(nil)` in Go.

    Both are types as they are written in definition `scope`.
    """

    scope: int
    interface: str
    implementation: str


@dataclass(frozen=True, slots=True)
class FieldValue:
    """A place in definition `scope` that sets field `name` of an object to what the path `value` leads to.

    `value` is empty for a function that is written out there.
    The object is an instance of `type_name` unless that is empty. Otherwise `holder` is its path: empty for the object
    around, and `<path>(n)` for argument n of a call of the callable at `<path>`, counted from 0.
    """

    from_key: str
    scope: int
    holder: str
    type_name: str
    name: str
    value: str
    line: int


Role: TypeAlias = Literal["type", "value", "decorator", "string"]


@dataclass(frozen=True, slots=True)
class Reference:
    """A name that is used without being called: a type, a value such as a function that is passed on, a decorator.

    `name` is a dotted path as in `Call.receiver`, without type arguments; in a string it starts with a module, which a
    colon may end.
    """

    from_key: str
    scope: int
    name: str
    line: int
    role: Role


@dataclass(frozen=True, slots=True)
class CodeFacts:
    """All that name resolution needs from one file.

    `imported_as` are further modules that imports find in this file, such as one generated from it: paths of files, or
    names of packages. `is_test`: it tests other files. `is_generated`: a program wrote it.
    """

    path: str
    language: str
    definitions: tuple[Definition, ...]
    imports: tuple[Import, ...] = ()
    bindings: tuple[Binding, ...] = ()
    calls: tuple[Call, ...] = ()
    references: tuple[Reference, ...] = ()
    kept_parameters: tuple[KeptParameter, ...] = ()
    field_values: tuple[FieldValue, ...] = ()
    stated_implementations: tuple[StatedImplementation, ...] = ()
    routes: tuple[Route, ...] = ()
    mounts: tuple[Mount, ...] = ()
    requests: tuple[Request, ...] = ()
    registrations: tuple[Registration, ...] = ()
    topics: tuple[Topic, ...] = ()
    mappings: tuple[TableMapping, ...] = ()
    table_changes: tuple[TableChange, ...] = ()
    text_values: tuple[TextValue, ...] = ()
    built_texts: tuple[BuiltText, ...] = ()
    passed_texts: tuple[PassedTexts, ...] = ()
    template_views: tuple[TemplateView, ...] = ()
    imported_as: tuple[str, ...] = ()
    is_test: bool = False
    is_generated: bool = False


@dataclass(frozen=True, slots=True)
class CodeAnalysis:
    """One code file: its nodes with their Contains edges, its facts, and its string literals.

    `facts` is None when the file could not be parsed. `views` are names of templates that the code renders.
    """

    file: FileAnalysis
    facts: CodeFacts | None = None
    literals: tuple[StringLiteral, ...] = ()
    views: tuple[StringLiteral, ...] = ()
