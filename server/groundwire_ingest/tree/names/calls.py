"""The targets of call sites, and of names that are used without being called."""

from collections.abc import Iterator

from groundwire_index.repository_edges.confidences import GUESSED, INFERRED, MAX_FAN_OUT, WILDCARD
from groundwire_ingest.tree.code_facts import OF_ITEMS, OF_TARGET, RETURNED, Call, Definition, Reference
from groundwire_ingest.tree.languages.types import head
from groundwire_ingest.tree.names.lookup import Lookup
from groundwire_ingest.tree.names.rules import NameRules
from groundwire_ingest.tree.names.table import Found, Value

MAX_SAME_NAMED = 64
"""A method name with more definitions than this is never guessed, and overloads of more are not distinguished."""

_MAX_VARIABLES = 5


class CallResolution:
    """Resolves the call sites of one language family."""

    def __init__(self, rules: NameRules, lookup: Lookup) -> None:
        self._rules = rules
        self._lookup = lookup
        self._table = rules.table
        self._methods: dict[str, list[int]] = {}
        for number, definition in enumerate(self._table.definitions):
            owner = self._table.owner_of(number)
            if definition.construct == "callable" and owner >= 0 and self._table.is_type(owner):
                self._methods.setdefault(definition.name, []).append(number)

    def called(self, scope: int, call: Call) -> Found | None:
        """The definitions that a call in definition `scope` is to, MAX_FAN_OUT at most; None when that is not known."""
        named = self._named(scope, call)
        return self._narrowed(scope, named, call) if named else None

    def made(self, call: Call, number: int) -> int | None:
        """The type that a call of one of its constructors makes; None for a call of anything else."""
        owner = self._table.owner_of(number)
        definition = self._table.definitions[number]
        if owner < 0 or definition.construct != "callable" or not self._table.is_type(owner):
            return None
        is_constructor = definition.name == self._rules.constructor_name(owner)
        return owner if is_constructor and (call.constructs or call.name != definition.name) else None

    def _named(self, scope: int, call: Call) -> Found | None:
        if call.constructs:
            return self._constructed(scope, call)
        is_local = not call.receiver and self._lookup.local_variable(scope, call.name) is not None
        named = None if is_local else self._by_name(scope, call)
        definitions = self._table.definitions
        if named is None or all(definitions[number].construct == "value" for number in named.numbers):
            return self._held(scope, call) or named
        return named

    def _held(self, scope: int, call: Call) -> Found | None:
        """The class, function or instance that a variable, field or item holds and that is called."""
        path = f"{call.receiver}.{call.name}" if call.receiver else call.name
        path = path.removesuffix(f".{RETURNED}")
        value = None if path.startswith("?") else self._lookup.value(scope, path)
        if value is None or not value.resolved.numbers:
            return None
        if value.is_itself:
            return value.resolved
        return self._lookup.step(value.resolved, self._rules.call_name) if self._rules.call_name else None

    def _by_name(self, scope: int, call: Call) -> Found | None:
        lookup = self._lookup
        if not call.receiver:
            return lookup.unqualified(scope, call.name)
        if call.receiver in self._rules.super_names:
            around = self._table.enclosing_type(scope)
            return None if around is None else lookup.of_type(around, call.name, inherited=True)
        value = None if call.receiver.startswith("?") else lookup.value(scope, call.receiver)
        member = lookup.step(value.resolved, call.name) if value else None
        if member is not None:
            return (
                member if value is None or self._any_fits(member, call) else self._extending(scope, value, call, member)
            )
        if value is not None and value.is_itself and call.name == self._rules.maker:
            return value.resolved
        if value is not None and value.is_itself and call.name in self._lookup.frameworks.deferring:
            callables = all(
                self._table.definitions[number].construct == "callable" for number in value.resolved.numbers
            )
            return value.resolved.at_most(INFERRED) if callables else None
        extension = lookup.extensions.fitting(scope, value.resolved if value else None, call.name)
        if extension is not None or value is not None:
            return extension
        return self._guess(scope, call.name) if self._may_guess(scope, call.receiver) else None

    def _any_fits(self, resolved: Found, call: Call) -> bool:
        """True if one of the definitions accepts the arguments and the type arguments of a call."""
        return any(self._takes(number, call) and self._has_arity(number, call) for number in resolved.numbers)

    def _extending(self, scope: int, value: Value, call: Call, member: Found) -> Found:
        """The extension methods that accept a call that no member does; the member where there are none."""
        extension = self._lookup.extensions.fitting(scope, value.resolved, call.name)
        return extension if extension is not None and self._any_fits(extension, call) else member

    def _constructed(self, scope: int, call: Call) -> Found | None:
        if call.name not in (OF_ITEMS, OF_TARGET):
            return self._lookup.dotted(scope, [*filter(None, call.receiver.split(".")), call.name])
        value = self._lookup.value(scope, call.receiver)
        if value is not None and call.name == OF_ITEMS:
            value = self._lookup.item(value)
        return value.resolved if value and value.resolved.refs else None

    def _may_guess(self, scope: int, receiver: str, steps: int = _MAX_VARIABLES) -> bool:
        """True if a receiver of unknown type may be one of the tree's: not where the source says where it is from."""
        first = receiver.partition(".")[0]
        if first == "?":
            return True
        if self._rules.import_of(self._table.file_of(scope), head(first.removesuffix("()"))) is not None:
            return False
        variable = self._lookup.variable(scope, first)
        if variable is not None:
            number, binding = variable
            if binding.stated or steps == 0:
                return False
            if not binding.type_name:
                return not binding.value or self._may_guess(number, binding.value, steps - 1)
            return self._lookup.dotted(number, binding.type_name.split(".")) is not None
        return not self._rules.is_type_name(first)

    def _guess(self, scope: int, name: str) -> Found | None:
        """The method of that name when a single type that the file sees has it."""
        candidates = self._methods.get(name, [])
        if name in self._rules.common_methods or name.startswith("__") or len(candidates) > MAX_SAME_NAMED:
            return None
        file = self._table.file_of(scope)
        seen = tuple(number for number in candidates if self._rules.sees(file, number))
        return Found(seen, GUESSED) if len({self._table.owner_of(number) for number in seen}) == 1 else None

    def _narrowed(self, scope: int, resolved: Found, call: Call) -> Found | None:
        """The nearest of the definitions found, by their parameters where these distinguish overloads."""
        named = (number for ref in resolved.numbers for number in self._entered(ref))
        entered = dict.fromkeys(body for number in named for body in self._rules.bodies(number) or (number,))
        numbers = self._table.nearest(self._table.file_of(scope), tuple(entered))
        if 1 < len(numbers) <= MAX_SAME_NAMED and self._rules.has_overloads:
            numbers = tuple(number for number in numbers if self._takes(number, call)) or numbers
            numbers = tuple(number for number in numbers if self._has_arity(number, call)) or numbers
            numbers = self._best_by_types(scope, numbers, call)
        if not 0 < len(numbers) <= MAX_FAN_OUT:
            return None
        return Found(numbers, resolved.confidence if len(numbers) == 1 else min(resolved.confidence, GUESSED))

    def _takes(self, number: int, call: Call) -> bool:
        """True if a callable accepts the number of arguments that a call gives."""
        definition = self._table.definitions[number]
        if definition.parameters is None:
            return True
        parameters = definition.parameters[self._first_parameter(definition, call) :]
        least, given = sum(not parameter.is_optional for parameter in parameters), len(call.arguments)
        return least <= given and (given <= len(parameters) or "variadic" in definition.traits)

    def _has_arity(self, number: int, call: Call) -> bool:
        """True if a callable has as many type parameters as a call gives type arguments, where it gives any."""
        given = 0 if call.constructs else len(call.type_arguments)
        return not given or given == len(self._table.definitions[number].type_parameters)

    def _best_by_types(self, scope: int, numbers: tuple[int, ...], call: Call) -> tuple[int, ...]:
        """Of several callables those whose parameters have the most types that the arguments are known to have."""
        if len(numbers) == 1:
            return numbers
        types = [self._lookup.lineages(self._lookup.argument(scope, argument)) for argument in call.arguments]
        if not any(types):
            return numbers
        fits = [self._fitting_types(number, call, types) for number in numbers]
        best = max(fits)
        return tuple(number for number, fit in zip(numbers, fits, strict=True) if fit == best)

    def _fitting_types(self, number: int, call: Call, types: list[frozenset[int]]) -> int:
        definition = self._table.definitions[number]
        parameters = (definition.parameters or ())[self._first_parameter(definition, call) :]
        fitting = 0
        for parameter, known in zip(parameters, types, strict=False):
            declared = self._lookup.type_named(number, parameter.type_name) if known and parameter.type_name else None
            fitting += declared is not None and not known.isdisjoint(declared.numbers)
        return fitting

    @staticmethod
    def _first_parameter(definition: Definition, call: Call) -> int:
        """The parameter that the first argument is given to: the one before the dot has none."""
        return int("extension" in definition.traits and bool(call.receiver) and not call.constructs)

    def _entered(self, number: int) -> tuple[int, ...]:
        """Where control goes when a definition is called: a type's own constructors, a module's default export."""
        construct = self._table.definitions[number].construct
        if construct == "module":
            default = self._rules.member(number, "default")
            return tuple(ref for ref in default.numbers if ref != number) if default else ()
        constructors = self._table.members(number, self._rules.constructor_name(number)) if construct == "type" else ()
        return constructors or (number,)


class Uses:
    """Resolves the references of one language family."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._table = lookup.table
        numbers = filter(self._table.is_variable_with_node, range(len(self._table.definitions)))
        self._names = frozenset(self._table.definitions[number].name for number in numbers)

    def of(self, scope: int, reference: Reference) -> Iterator[tuple[str, int, float]]:
        """The edge types, definitions and confidences that a reference in definition `scope` leads to."""
        if reference.role == "type":
            resolved = self._lookup.type_named(scope, reference.name)
        elif reference.role == "string":
            resolved = self._named(scope, reference.name)
        else:
            resolved = self.value(scope, reference.name)
            if resolved is None and reference.role == "decorator" and "." in reference.name:
                resolved = self.value(scope, reference.name.rpartition(".")[0])
        if resolved is None:
            return
        bodies = self._lookup.rules.bodies
        written = resolved.numbers
        if reference.role == "value":  # in TypeScript a type and a variable may have one name
            written = tuple(filter(self._table.is_variable_with_node, written)) or written
        meant = (other for number in written for other in self._table.alternatives(number))
        named = dict.fromkeys(body for number in meant for body in bodies(number) or (number,))
        numbers = self._table.nearest(self._table.file_of(scope), tuple(named))
        names_module = reference.role == "string" and ":" not in reference.name
        edge_type = "DecoratedBy" if reference.role == "decorator" else "References"
        for number in numbers if len(numbers) <= MAX_FAN_OUT else ():
            if self._table.definitions[number].construct != "module" or names_module:
                yield edge_type, number, resolved.confidence if len(numbers) == 1 else min(resolved.confidence, GUESSED)

    def passed(self, scope: int, path: str) -> Iterator[tuple[int, float]]:
        """The constants and variables with nodes of their own that a path goes through, with the confidence of each."""
        segments = path.split(".")
        for count, segment in enumerate(segments, 1):
            resolved = self.value(scope, ".".join(segments[:count])) if segment in self._names else None
            numbers = resolved.numbers if resolved is not None else ()
            confidence = resolved.confidence if resolved is not None else 0.0
            for number in filter(self._table.is_variable_with_node, numbers if len(numbers) <= MAX_FAN_OUT else ()):
                yield number, confidence if len(numbers) == 1 else min(confidence, GUESSED)

    def _named(self, scope: int, name: str) -> Found | None:
        """The module of the tree that a string names by its full name, or what the string names in it."""
        module = self._lookup.rules.module_in(self._table.file_of(scope), name)
        resolved, members = module if module is not None else (None, "")
        for member in filter(None, members.split(".")):
            resolved = self._lookup.step(resolved, member) if resolved is not None else None
        return resolved and resolved.at_most(WILDCARD)

    def numbers(self, scope: int, path: str) -> tuple[int, ...]:
        """The definitions that a path leads to."""
        resolved = self.value(scope, path)
        return resolved.numbers if resolved is not None else ()

    def value(self, scope: int, path: str) -> Found | None:
        """The target of a path: the member it ends with, or the type that it is; none for a variable."""
        before, _, name = path.rpartition(".")
        if not before:
            return None if self._lookup.local_variable(scope, name) else self._lookup.unqualified(scope, name)
        value = self._lookup.value(scope, before)
        if value is None or not value.resolved.refs:
            return None
        member = self._lookup.step(value.resolved, name)
        if member is not None:
            return member
        around = self._table.enclosing_type(scope)
        owners = tuple(owner for owner in self._lookup.field_owners(value.resolved, name) if owner != around)
        return Found(owners, value.resolved.confidence) if owners else None
