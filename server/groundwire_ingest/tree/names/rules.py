"""The interface of a language family for name resolution."""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from posixpath import basename, join, normpath
from typing import ClassVar, TypeVar

from groundwire_index.nodes.node import NodeAccess
from groundwire_index.repository_edges.confidences import EXACT
from groundwire_index.repository_edges.full_names import FullNames
from groundwire_ingest.tree.code_facts import Import
from groundwire_ingest.tree.folders import folder_of
from groundwire_ingest.tree.languages.module_files import ModuleFile
from groundwire_ingest.tree.names.table import Found, Ref, SymbolTable

DISPATCHED = 0.8
"""A call through an interface, or to a method that is overridden, goes to the only implementation there is."""

MAX_WILDCARDS = 256
"""Of more imports of everything in a file than this the first ones count: each is asked for each name."""

MAX_IMPORT_STEPS = 10
"""How many re-exports are followed before a name is given up."""


ModuleFileT = TypeVar("ModuleFileT", bound=ModuleFile)


@dataclass(frozen=True, slots=True)
class TreeLayout:
    """The facts about a tree that name resolution needs besides its code.

    `paths` are those of all files, relative to the tree. `module_files` has what files state about where the modules of
    a language are, by path. `demand_of_node` returns the access rules of a node by its key.
    """

    paths: Collection[str] = ()
    module_files: Mapping[str, ModuleFile] = field(default_factory=dict)
    demand_of_node: Callable[[str], NodeAccess] = lambda _: NodeAccess()

    def stated(self, kind: type[ModuleFileT]) -> dict[str, ModuleFileT]:
        """What files state in the way of one language, by path."""
        return {path: item for path, item in self.module_files.items() if isinstance(item, kind)}


@dataclass(frozen=True, slots=True)
class ExportedName:
    """A definition, the full name by which other trees know it, and the module that they import for it."""

    number: int
    name: str
    module: int
    confidence: float = EXACT


@dataclass(frozen=True, slots=True)
class ModuleName:
    """A module and the full name by which other trees import it."""

    number: int
    name: str
    confidence: float = EXACT


@dataclass(frozen=True, slots=True)
class OutsideName:
    """What a name in a file stands for in other trees.

    `names` are the full names that it may have, the likeliest first. `answered_by` are the modules or definitions of
    the tree itself that it means. `import_lines` are as in `NameUse`.
    """

    names: FullNames
    answered_by: tuple[int, ...] = ()
    is_module: bool = False
    confidence: float = EXACT
    import_lines: tuple[int, ...] = ()


class NameRules(ABC):
    """The names that files of one language family see. Made for one table; answers are cached by the caller."""

    self_names: ClassVar[frozenset[str]] = frozenset()
    super_names: ClassVar[frozenset[str]] = frozenset()
    # True if a method names its type's members without a receiver.
    implicit_members: ClassVar[bool] = False
    # True if the files of a folder see each other's variables and constants.
    shares_packages: ClassVar[bool] = False
    # True if parameters distinguish several callables of one name.
    has_overloads: ClassVar[bool] = True
    # True if a member only overrides one with parameters of the same types, as far as these are known.
    overrides_by_types: ClassVar[bool] = False
    # The member that runs when an instance is called.
    call_name: ClassVar[str] = ""
    # The methods of a callable that call it.
    invoking: ClassVar[frozenset[str]] = frozenset()
    # The types of callables, where a field has to state one of them for such a method to call it.
    callable_types: ClassVar[frozenset[str]] = frozenset()
    # The method of every type that makes an instance of it.
    maker: ClassVar[str] = ""
    # Names under which a type holds the instance that its own members are called on.
    own_instances: ClassVar[frozenset[str]] = frozenset()
    # Methods of every value that give the value itself.
    giving_itself: ClassVar[frozenset[str]] = frozenset()
    # The name of the member that `new` calls: empty where there is none, None for that of the type.
    constructor: ClassVar[str | None] = None
    # Methods of the language's own collections and strings, whose name alone says nothing about the tree.
    common_methods: ClassVar[frozenset[str]]
    # True if files import modules, which are files; else they import what is in packages or namespaces.
    imports_modules: ClassVar[bool] = False
    # What is between the full name of a module and a name in it.
    inside_module: ClassVar[str] = "."

    def __init__(self, table: SymbolTable, layout: TreeLayout) -> None:
        self.table = table
        self.layout = layout
        self.number_at = {facts.path: table.module_of(file) for file, facts in enumerate(table.files)}
        self._answers: dict[tuple[int | str, ...], Found | None] = {}
        self._imports = [{item.alias: item for item in reversed(facts.imports) if item.alias} for facts in table.files]
        wildcards = ((item for item in facts.imports if item.name == "*") for facts in table.files)
        self._wildcards = [tuple(islice(of_file, MAX_WILDCARDS)) for of_file in wildcards]
        # Types and the members that they have in other files.
        self.adopted: list[tuple[int, int]] = []
        # Pairs of declarations that make up one type, the first part before another.
        self.parts: list[tuple[int, int]] = []

    @abstractmethod
    def visible(self, scope: int, name: str) -> Found | None:
        """The target of an unqualified name in the file of definition `scope`, locals and members aside."""

    def member(self, container: Ref, name: str) -> Found | None:
        """The definitions that a module, namespace or package offers under a name."""
        return None

    def imported(self, file: int) -> Iterator[tuple[Import, Found]]:
        """The imports of a file that lead to files of the tree, and the definitions or modules they name."""
        return iter(())

    @abstractmethod
    def sees(self, file: int, number: int) -> bool:
        """True if what the file imports, or the file itself, holds a definition."""

    def namespace_import(self, file: int, number: int) -> Import | None:
        """The import of a whole namespace or package, rather than of a file, that brings a definition in."""
        return None

    def exported(self) -> Iterator[ExportedName]:
        """The definitions that other trees can name."""
        return iter(())

    def module_names(self) -> Iterator[ModuleName]:
        """The modules that other trees can import."""
        return iter(())

    def outside(self, file: int, name: str) -> OutsideName | None:
        """The full name that an imported name of a file has, wherever it is defined; None for what is no such name."""
        return None

    def outside_module(self, file: int, item: Import) -> OutsideName | None:
        """The full name of the module or type that an import is of; None if it is of a whole package."""
        return None

    def bodies(self, number: int) -> tuple[int, ...]:
        """Where a declaration that has no body has it; empty for one that has."""
        return ()

    def may_override(self, member: int, overridden: int, is_listed: bool) -> bool:
        """True if a member that fits another one of a base type by name and parameters overrides or implements it.

        `is_listed`: the type of the member names the base type itself, or an interface that derives from it.
        """
        traits = (self.table.definitions[number].traits for number in (member, overridden))
        return not any("private" in item for item in traits)

    def module_in(self, file: int, dotted: str) -> tuple[Found, str] | None:
        """The module that the name in a string starts with, and the names behind it with dots between them."""
        return None

    def is_type_name(self, name: str) -> bool:
        """True if a name that nothing in sight declares is by its form that of a type, which then is from elsewhere."""
        return self.implicit_members and name[:1].isupper()

    def accessed(self, method: str) -> tuple[str, ...]:
        """The fields that a method of this name may hand out where it is generated: the likeliest first."""
        return ()

    def constructor_name(self, type_number: int) -> str:
        """The name of the member that `new` calls."""
        return self.table.definitions[type_number].name if self.constructor is None else self.constructor

    def once(self, question: tuple[int | str, ...], find: Callable[[], Found | None]) -> Found | None:
        """The answer to a question, found once; None for one that is asked on the way to its own answer.

        That happens where imports form a cycle.
        """
        if question not in self._answers:
            self._answers[question] = None
            self._answers[question] = find()
        return self._answers[question]

    def import_of(self, file: int, alias: str) -> Import | None:
        """The import that binds a name in a file; the first of several."""
        return self._imports[file].get(alias)

    def wildcards_of(self, file: int) -> tuple[Import, ...]:
        """The imports of everything that a module, namespace or package holds."""
        return self._wildcards[file]

    def module_at(self, file: int, path: str) -> int | None:
        """The module at a path that is written relative to the folder of a file."""
        return self.number_at.get(normpath(join(folder_of(self.table.files[file].path), path)))

    @cached_property
    def _modules_by_name(self) -> Mapping[str, Sequence[str]]:
        """The paths of the files of one name, less their folders."""
        paths_of_name: defaultdict[str, list[str]] = defaultdict(list)
        for path in self.number_at:
            paths_of_name[basename(path)].append(path)
        return paths_of_name

    def modules_ending(self, path: str) -> list[int]:
        """The modules of files whose paths end with a path."""
        named = self._modules_by_name.get(basename(path), ())
        return [self.number_at[other] for other in named if f"/{other}".endswith(f"/{path}")]

    def namespaces(self) -> list[str]:
        """For each definition the namespace around it, types aside, by the symbols of the outermost definitions."""
        namespace_of = [""] * len(self.table.definitions)
        for number, definition in enumerate(self.table.definitions):
            parent = self.table.parent_of(number)
            if parent >= 0:
                own_symbol = f"{definition.owner}.{definition.name}" if definition.owner else definition.name
                outside = definition.symbol.removesuffix(own_symbol).rstrip(".")
                namespace_of[number] = namespace_of[parent] if self.table.parent_of(parent) >= 0 else outside
        return namespace_of


def with_outer(namespace: str) -> list[str]:
    """The namespace and those around it, the innermost first, the global one (empty) last."""
    names: list[str] = []
    while namespace:
        names.append(namespace)
        namespace = namespace.rpartition(".")[0]
    return [*names, ""]
