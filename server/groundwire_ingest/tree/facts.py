"""What a code file says of itself, before names are resolved across the tree."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from groundwire_ingest.tree.model import FileAnalysis, StringLiteral

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
]
"""What a declaration says of itself.

`interface` and `abstract` mark types whose members others implement, and such a member; `structural` an interface that
types satisfy without naming it (Go); `extension` a callable whose first parameter stands before the dot where it is
called; `property` a callable that is read like a field; `variadic` one that takes any number of further arguments;
`local` what is declared inside a callable and known only there; `declared` a callable whose body stands elsewhere.
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

    `key` is the node whose text holds it: a field has no node of its own and shares its type's. `symbol` is dotted and
    qualified by types and namespaces, `parent` an index into the file's definitions (-1 for the file itself). Types are
    in the form of `languages.types`: `bases` those that a type derives from, `result` what a callable returns or a
    value is. `parameters` is None where nothing is known of them. `owner` names the type of a member that stands
    outside of it and is in another file (Go). With `stands_for`, the index of another definition of the file or -1, it
    is but a further name of that one.
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
    stands_for: int = -1
    traits: frozenset[Trait] = frozenset()

    @property
    def is_abstract(self) -> bool:
        """Whether it says of itself that it is there to be implemented."""
        return not self.traits.isdisjoint(_ABSTRACT)


@dataclass(frozen=True, slots=True)
class Import:
    """A name that a file takes from elsewhere, `alias` being what it is called here.

    `module` is written as the language does: dotted (leading dots: relative), a path, or empty for this
    very file (`export default Foo`). An empty `name` is the module itself, `*` everything in it; an empty
    `alias` binds no name. `project_wide` holds for every file of the project (C# `global using`).
    """

    module: str
    name: str
    alias: str
    line: int
    project_wide: bool = False


@dataclass(frozen=True, slots=True)
class Binding:
    """A variable whose type the source states or makes plain; a field when `scope` is a type.

    `scope` is an index into the file's definitions. Where the type is not `stated`, it is `type_name`, that of a plain
    initialiser, or that of the expression `value`, a path as in `Call.receiver`; both are empty for any other value,
    and such a variable still hides others of its name. With `is_item` the variable is one of the items that the value
    or type holds. `value` is written in definition `written_in`, or in `scope` where that is -1.
    """

    scope: int
    name: str
    type_name: str
    stated: bool
    value: str = ""
    is_item: bool = False
    written_in: int = -1


RETURNED = "()"
"""Name of the binding that says what a callable returns, its scope being the callable, and of a call of a result."""

OF_ITEMS, OF_TARGET = "[]", "="
"""Names of a construction without a type: of what the collection `receiver` holds, of what the receiver itself is."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call site inside definition `scope`, its text being in node `from_key`.

    `receiver` is the dotted path before the name, empty when there is none and `?` when it is some other expression; a
    path segment that is itself called ends with `()`, and `[]` stands for an item of what is before it. `constructs`
    marks `new Name()`. `arguments` are paths of the same form, `"` for a string and empty for any other expression;
    `type_arguments` are types.
    """

    from_key: str
    scope: int
    receiver: str
    name: str
    line: int
    constructs: bool = False
    arguments: tuple[str, ...] = ()
    type_arguments: tuple[str, ...] = ()


Role: TypeAlias = Literal["type", "value", "decorator"]


@dataclass(frozen=True, slots=True)
class Reference:
    """A name that is used without being called: a type, a value such as a function that is passed on, a decorator.

    `name` is a dotted path as in `Call.receiver`, without type arguments.
    """

    from_key: str
    scope: int
    name: str
    line: int
    role: Role


@dataclass(frozen=True, slots=True)
class Route:
    """A pattern of URLs and what answers requests for it.

    `pattern` starts with `/` and is complete as far as the file tells; what varies stands as `{name}`, or as `{name*}`
    where it may hold further slashes. `prefix_of` is the path of the object that the route was given to and that may be
    given a prefix elsewhere (a blueprint, a router). `handler` is a path as in `Call.receiver`, empty when the handler
    is definition `scope` itself. Where it may be one of several, a route states each, the likeliest first. `method` is
    that of HTTP in capitals, empty for any. `line` is where the pattern is.
    """

    from_key: str
    scope: int
    pattern: str
    handler: str
    line: int
    prefix_of: str = ""
    method: str = ""


MountRole: TypeAlias = Literal["own", "added", "instead"]


@dataclass(frozen=True, slots=True)
class Mount:
    """A prefix of the URLs of all routes that were given to an object.

    `router` is the path of the object as in `Call.receiver`, or that of a callable that is handed it as its argument
    number n, counted from 0, with `(n)` behind it, and `within` that of the object to whose routes its own
    are added, empty when the file tells of none. What is said where the object is made is its `own` prefix, which comes
    last; one `instead` takes the place of it. `line` is where the prefix stands.
    """

    scope: int
    router: str
    prefix: str
    line: int
    within: str = ""
    role: MountRole = "added"


@dataclass(frozen=True, slots=True)
class Request:
    """A string that looks like the path of a URL, without its query; what is put in at run time stands as `{}`.

    `url` starts with `/`; `has_base` when something that the source does not tell stands before it. `method` is that of
    HTTP in capitals, empty when the source does not tell. `is_sent` when a call gets the string that is named after
    what it does with URLs, such as `get`, `fetch` or `visit`.
    """

    from_key: str
    url: str
    line: int
    method: str = ""
    is_sent: bool = False
    has_base: bool = False


@dataclass(frozen=True, slots=True)
class Registration:
    """What stands behind a name for those who ask for it, or, when it `asks`, a place that does.

    What is asked for is a string, `name`, or what the path `path` leads to. `given` is a path as in `Call.receiver`,
    empty when what is given is definition `scope` itself.
    """

    from_key: str
    scope: int
    name: str
    path: str
    given: str
    line: int
    asks: bool = False


@dataclass(frozen=True, slots=True)
class Topic:
    """A message that is sent or, where it `handles` it, waited for.

    It is told by a string, `name`, or by a constant or type that the path `path` leads to. `handler` is a path as in
    `Call.receiver`, empty when the handler is definition `scope` itself.
    """

    from_key: str
    scope: int
    name: str
    path: str
    handles: bool
    handler: str
    line: int


@dataclass(frozen=True, slots=True)
class TableMapping:
    """An ORM's word that the node `from_key` maps to a table, and so does the type `entity` unless that is empty."""

    from_key: str
    scope: int
    entity: str
    table: str
    confidence: float


@dataclass(frozen=True, slots=True)
class TableChange:
    """A migration's step that creates a table or, unless `creates`, changes one; `table` is its name as written."""

    from_key: str
    table: str
    line: int
    creates: bool


@dataclass(frozen=True, slots=True)
class CodeFacts:
    """All that name resolution needs of one file.

    `imported_as` are further modules that the file stands for, such as one that is generated from it: paths of files,
    or names of packages. `is_test` when it is there to test others, `is_generated` when a program wrote it.
    """

    path: str
    language: str
    definitions: tuple[Definition, ...]
    imports: tuple[Import, ...] = ()
    bindings: tuple[Binding, ...] = ()
    calls: tuple[Call, ...] = ()
    references: tuple[Reference, ...] = ()
    routes: tuple[Route, ...] = ()
    mounts: tuple[Mount, ...] = ()
    requests: tuple[Request, ...] = ()
    registrations: tuple[Registration, ...] = ()
    topics: tuple[Topic, ...] = ()
    mappings: tuple[TableMapping, ...] = ()
    table_changes: tuple[TableChange, ...] = ()
    imported_as: tuple[str, ...] = ()
    is_test: bool = False
    is_generated: bool = False


@dataclass(frozen=True, slots=True)
class CodeAnalysis:
    """One code file: its nodes with their Contains edges, its facts, and its string literals.

    `facts` is None when the file could not be parsed.
    """

    file: FileAnalysis
    facts: CodeFacts | None = None
    literals: tuple[StringLiteral, ...] = ()
