"""The facts about code in files other than code, for joining the two. Lines are 1-based; "" is what is not stated."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

CodeKind: TypeAlias = Literal["members", "statements", "expression", "script"]


@dataclass(frozen=True, slots=True)
class Setting:
    """A key of a configuration file: its names from the top down, its line, and its value where that is plain."""

    path: tuple[str, ...]
    line: int
    value: str = ""


@dataclass(frozen=True, slots=True)
class CodePart:
    """Code inside markup, exactly as written; `line` is that of its first character.

    `members` belong in a class (`@code {}`). `statements` belong in a method and may be halves of blocks with markup
    between them. An `expression` gives a value. A `script` is a module of `language`.
    """

    kind: CodeKind
    text: str
    line: int
    language: str


@dataclass(frozen=True, slots=True)
class Directive:
    """A directive of Razor, such as `inject` with the text `BasketState Basket`."""

    name: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of a tag with its value as written, quotes aside; "" without one."""

    name: str
    value: str
    line: int


@dataclass(frozen=True, slots=True)
class ComponentTag:
    """An element that is a component or has an attribute that names code, with all of its attributes."""

    name: str
    line: int
    attributes: tuple[Attribute, ...] = ()


@dataclass(frozen=True, slots=True)
class ComponentFacts:
    """A Razor, Vue, Svelte or Astro file: its directives, the code in it and the elements that lead to code.

    All are in the order of the file. `tags` are elements whose names mark components (`CartMenu`, `cart-menu`), and
    those with a tag helper's attributes (`asp-page`). `expressions` are those in the markup of Vue, Svelte and Astro.
    """

    directives: tuple[Directive, ...] = ()
    code: tuple[CodePart, ...] = ()
    tags: tuple[ComponentTag, ...] = ()
    expressions: tuple[CodePart, ...] = ()


@dataclass(frozen=True, slots=True)
class TemplateNames:
    """The names in a template of Angular, each with the line of its first use.

    `selectors` are as in `facts.TemplateView`; `members` are dotted names in its expressions.
    """

    selectors: tuple[tuple[str, int], ...]
    members: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class ProjectFacts:
    """An MSBuild file. `properties` are the elements of its property groups, the last of equal names counting.

    `packages` are the names of those that it uses, `projects` the paths of the projects that it refers to, relative to
    its folder, with forward slashes.
    """

    properties: tuple[tuple[str, str], ...]
    packages: tuple[str, ...]
    projects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MapperStatement:
    """A statement of MyBatis: the name of the method that it stands for, its line, and its SQL."""

    name: str
    line: int
    sql: str


@dataclass(frozen=True, slots=True)
class MapperFacts:
    """A mapper file of MyBatis; `interface` is the full name of the interface that it belongs to."""

    interface: str
    statements: tuple[MapperStatement, ...]


@dataclass(frozen=True, slots=True)
class Rpc:
    """A method of a service; message types as written, dotted where qualified."""

    name: str
    request: str
    response: str
    line: int
    key: str


@dataclass(frozen=True, slots=True)
class ProtoService:
    """A service with its methods; `key` is its node."""

    name: str
    line: int
    key: str
    rpcs: tuple[Rpc, ...]


@dataclass(frozen=True, slots=True)
class ProtoType:
    """A message or enum; `name` is dotted for one inside another. `key` is the node whose text holds it.

    `references` are the types of its fields as written, scalar types aside, each with its line.
    """

    name: str
    line: int
    key: str
    references: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class ProtoFacts:
    """A .proto file. `options` has those of the whole file, such as `csharp_namespace` and `go_package`."""

    path: str
    package: str
    imports: tuple[tuple[str, int], ...]
    options: tuple[tuple[str, str], ...]
    services: tuple[ProtoService, ...]
    types: tuple[ProtoType, ...]
