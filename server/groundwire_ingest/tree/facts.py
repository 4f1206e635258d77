"""The facts that one code file states by itself, before names are resolved across the tree."""

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

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
    "private",
    "virtual",
]
"""The flags of a declaration.

`interface` and `abstract` mark types whose members are implemented elsewhere, and such members. `structural` is an
interface that types satisfy without naming it (Go). `extension` is a callable whose first argument is written before
the dot of a call. `property` is a callable that is read like a field. `variadic` is a callable with any number of
further arguments. `local` is a declaration inside a callable, known only there. `declared` is a callable whose body is
elsewhere. `private` is a member that only its own type sees, so that no other overrides it. `virtual` is a member that
says that others may override it.
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


NAME_OF_TYPE = "typeof({}).Name"
"""How `TextPart` writes the name of a type, whose place is that of the braces."""
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
class Route:
    """A pattern of URLs and its handler.

    `pattern` starts with `/` and is as complete as the file states; a variable part is `{name}`, or `{name*}` if it may
    hold slashes. `prefix_of` is the path of the object that the route is registered at and that may get a prefix
    elsewhere (a blueprint, a router). `handler` is a path as in `Call.receiver`, empty if the handler is definition
    `scope` itself. If several handlers are possible there is a route for each, the likeliest first. `method` is the
    HTTP method in capitals, empty for any. `line` is that of the pattern. `name` is what requests may name it by, empty
    for the handler's name.
    """

    from_key: str
    scope: int
    pattern: str
    handler: str
    line: int
    prefix_of: str = ""
    method: str = ""
    name: str = ""


MountRole: TypeAlias = Literal["own", "added", "instead"]


@dataclass(frozen=True, slots=True)
class Mount:
    """A prefix of the URLs of all routes of a router.

    `router` is the path of the router as in `Call.receiver`, or `<path>(n)` for a router that the callable at `<path>`
    gets as argument n, counted from 0. `within` is the path of the router that it is mounted in, empty if the file
    names none. `role`: an `own` prefix is stated where the router is made, and is innermost; `instead` replaces the own
    one; `added` is put before it. `line` is that of the prefix.
    """

    scope: int
    router: str
    prefix: str
    line: int
    within: str = ""
    role: MountRole = "added"


@dataclass(frozen=True, slots=True)
class Request:
    """A string that looks like the path of a URL, without its query; parts inserted at run time are `{}`.

    `url` starts with `/`. In a page it may also be relative to the page's own URL, which is meant by an empty one.
    `has_base`: an unknown value precedes it; in a page that value is the `{}` at the start, unless the URL is relative.
    `method` is the HTTP method in capitals, empty if unknown. `is_sent`: the string is an argument of a call whose name
    says that it requests URLs, such as `get`, `fetch` or `visit`. `is_name`: it is the name of a route instead,
    `order`, `shop:order` or `shop.order`. `service` is the name of the only service that may answer, empty for any.
    """

    from_key: str
    url: str
    line: int
    method: str = ""
    is_sent: bool = False
    has_base: bool = False
    is_name: bool = False
    service: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """The requests of the links and forms of a file of markup; `rendered_by` has the keys of code that renders it."""

    path: str
    requests: tuple[Request, ...]
    rendered_by: tuple[str, ...] = ()
    is_test: bool = False


@dataclass(frozen=True, slots=True)
class Registration:
    """A registration in a dependency injection container, or, if it `asks`, a place that requests one from it.

    The token is a string, `name`, or what the path `path` leads to. `given`, what is registered, is a path as in
    `Call.receiver`, empty if it is definition `scope` itself.
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
    """A message that is sent or, if `handles`, handled.

    It is identified by a string, `name`, or by a constant or type that the path `path` leads to. `handler` is a path as
    in `Call.receiver`, empty if the handler is definition `scope` itself.
    """

    from_key: str
    scope: int
    name: str
    path: str
    handles: bool
    handler: str
    line: int


@dataclass(frozen=True, slots=True)
class TemplateView:
    """A class that templates use: a component, a directive or a pipe of Angular, definition `scope`.

    `selectors` are the elements that stand for it, such as `app-card`, attributes in brackets, and a pipe behind `|`.
    `template` is the path of the file with its own template, empty if it has none. `used_selectors` are those in a
    template that is written in the code, each with its line.
    """

    scope: int
    selectors: tuple[str, ...]
    template: str
    used_selectors: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class TableMapping:
    """An ORM's statement that the node `from_key`, and the type `entity` unless empty, map to a table."""

    from_key: str
    scope: int
    entity: str
    table: str
    confidence: float


@dataclass(frozen=True, slots=True)
class TableChange:
    """A migration step that creates a table if `creates`, else changes one; `table` is the name as written."""

    from_key: str
    table: str
    line: int
    creates: bool


class TextPart(NamedTuple):
    """A part of a string: what it says or, if `is_inserted`, an expression whose value is put there.

    Such an expression is a path as in `Call.receiver`, with `typeof(T).Name` for the name of a type. It is empty for
    any other expression.
    """

    text: str
    is_inserted: bool = False


Text: TypeAlias = tuple[TextPart, ...]
"""A string as the code builds it; empty where nothing is known of it."""


@dataclass(frozen=True, slots=True)
class TextValue:
    """A string that a variable, field or property is set to, or that a callable without parameters returns.

    `name` may start with `this.`, a variable or a type, and ends with `()` for a callable. `scope` is the definition
    around. With `is_default` it is the default of a parameter of `scope`; with `is_assigned` a statement sets it.
    """

    scope: int
    name: str
    text: Text
    is_default: bool = False
    is_assigned: bool = False


TextRole: TypeAlias = Literal["any", "procedure", "read", "written"]


@dataclass(frozen=True, slots=True)
class BuiltText:
    """A string with inserted values, or a string that is used in a place for SQL; `role` says what it has to be.

    A `procedure` is the name of one that is executed; `read` and `written` is the name of a table.
    """

    from_key: str
    scope: int
    text: Text
    line: int
    role: TextRole = "any"


@dataclass(frozen=True, slots=True)
class PassedTexts:
    """The arguments that constructor `scope` hands on to one of its base class, or of its own if `is_own`.

    `scope` is the type itself if it has a primary constructor. `names` are the parameters that arguments name, empty
    for those that count by position.
    """

    scope: int
    texts: tuple[Text, ...]
    names: tuple[str, ...]
    is_own: bool = False


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
