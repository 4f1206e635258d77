"""The facts of a code file that frameworks give a meaning: routes, requests, registrations, messages and tables.

A path in them is a dotted path as in `code_facts.Call.receiver`; `scope` is an index into the definitions of the file.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from groundwire_index.repository_edges.requests import Request


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
    """A class that templates use: a component, a directive or a pipe, definition `scope`.

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
class EntityUse:
    """Code in node `from_key` reads or, if it `writes`, changes entities of the type in node `entity_key`."""

    from_key: str
    entity_key: str
    line: int
    writes: bool
    confidence: float


@dataclass(frozen=True, slots=True)
class TableChange:
    """A migration step that creates a table if `creates`, else changes one; `table` is the name as written."""

    from_key: str
    table: str
    line: int
    creates: bool
