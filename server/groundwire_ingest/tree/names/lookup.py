"""Following a dotted expression from its place to its target."""

from collections.abc import Sequence
from dataclasses import replace

from groundwire_index.repository_edges.confidences import EXACT, INFERRED, WILDCARD
from groundwire_ingest.tree.code_facts import OF_ITEMS, RETURNED, Binding
from groundwire_ingest.tree.languages.types import arguments, head, item_type, substituted, value_type
from groundwire_ingest.tree.names.common_methods import (
    GIVE_AN_ITEM,
    GIVE_ONE_OF,
    GIVE_PERHAPS_AN_ITEM,
    GIVE_SEVERAL_OF,
    GIVE_THE_SAME,
)
from groundwire_ingest.tree.names.conventions import FrameworkNames
from groundwire_ingest.tree.names.members import Extensions, MemberLookup
from groundwire_ingest.tree.names.rules import NameRules
from groundwire_ingest.tree.names.table import NOTHING, Found, Value

_MAX_STEPS = 20
"""How many variables that are set to each other are followed."""
_SELF_TYPES = frozenset({"Self", "this"})
_TYPES_OF_TYPES = frozenset({"type", "Type"})


class Lookup(MemberLookup):
    """Follows expressions as well, from segment to segment."""

    def __init__(self, rules: NameRules, frameworks: FrameworkNames) -> None:
        super().__init__(rules, frameworks)
        self.extensions = Extensions(self)
        self._values: dict[tuple[int, str], Value | None] = {}
        self._steps = 0

    def value(self, scope: int, path: str) -> Value | None:
        """The value of a path as in `code_facts.Call.receiver`; None when nothing is known of it."""
        key = (scope, path)
        if key not in self._values and self._steps < _MAX_STEPS:
            self._values[key] = None  # what a variable that is set to itself finds on its way round
            self._steps += 1
            first, *others = path.split(".")
            value = self._first(scope, first) or self._by_type_argument(scope, *_parts_of(first))
            for segment in others:
                value = (
                    self._into(scope, value, segment) if value else self._by_type_argument(scope, *_parts_of(segment))
                )
            self._steps -= 1
            self._values[key] = value
        return self._values.get(key)

    def argument(self, scope: int, argument: str) -> tuple[int, ...]:
        """The definitions that an argument of a call is, or is an instance of; none for a string."""
        value = self.value(scope, argument) if argument not in ("", '"') else None
        return value.resolved.numbers if value is not None else ()

    def called(self, value: Value) -> Value | None:
        """The result of calling a value."""
        if value.is_itself:
            return self._result(value.resolved, None, is_called=True)
        entered = self.step(value.resolved, self.rules.call_name) if self.rules.call_name else None
        return self._result(entered, value, is_called=True) if entered else None

    def item(self, value: Value) -> Value | None:
        """The item of a collection, or of another value that holds one."""
        type_name = item_type(value.type_name)
        if not type_name:
            return value if value.is_wrapped else None
        return self._typed(value.scope, type_name, INFERRED)

    def _first(self, scope: int, name: str) -> Value | None:
        plain, given, is_called = _parts_of(name)
        variable = self.variable(scope, plain)
        if variable is not None and (not is_called or self.local_variable(scope, plain)):
            held: Value | None = self._of_binding(*variable)
            return self.called(held) if held and is_called else held
        around = self.table.enclosing_type(scope)
        if plain in self.rules.self_names:
            is_itself = name == "cls"
            return None if around is None else Value(Found((around,), EXACT), is_itself=is_itself)
        if name in self.rules.super_names:
            bases = self.bases(around) if around is not None else ()
            return Value(Found(tuple(ref for base in bases for ref in base.refs), WILDCARD)) if bases else None
        named = self.unqualified(scope, plain) if is_called else self.dotted(scope, (name,))
        return self._result(named, None, is_called, (scope, given)) if named else None

    def _into(self, scope: int, value: Value, segment: str) -> Value | None:
        """The type of a field, what a method returns, or what a type, module or namespace holds under a name."""
        name, given, is_called = _parts_of(segment)
        if name == OF_ITEMS:
            item = value if value.is_itself else self.item(value)
            return self.called(item) if item and is_called else item
        if not value.resolved.refs:
            member_value = self._by_type_argument(scope, name, given, is_called)
            return member_value or self._into_outside(scope, value, name, given, is_called)
        if not is_called:
            for number in value.resolved.numbers:
                field = self.field(number, name)
                if field is not None:
                    declared = self._of_binding(*field)
                    return declared and self._substituted(declared, value, field[0])
        member = self.step(value.resolved, name)
        if member is None and is_called and value.is_itself and name == self.rules.maker:
            return replace(value, is_itself=False)
        if member is None and is_called:
            held = self._into(scope, value, name)
            returned = self.called(held) if held is not None else None
            if returned is not None:
                return returned
            member = self.extensions.fitting(scope, value.resolved, name)
            if member is None:
                return self._by_type_argument(scope, name, given, is_called) or self._accessed(value, name)
        own_instance = value if name in self.rules.own_instances and not is_called else None
        return self._result(member, value, is_called, (scope, given)) if member else own_instance

    def _by_type_argument(self, scope: int, name: str, given: tuple[str, ...], is_called: bool) -> Value | None:
        """The result of a method outside the tree that gets the type as an argument, such as one of a container."""
        plain = _plain_name(name)
        if not is_called or len(given) != 1 or plain not in GIVE_ONE_OF | GIVE_SEVERAL_OF:
            return None
        return self._typed(scope, given[0] if plain in GIVE_ONE_OF else f"Array<{given[0]}>", INFERRED)

    def _accessed(self, value: Value, name: str) -> Value | None:
        """The result of a method outside the tree: generated, inherited, or of a type that wraps the value."""
        if name in self.rules.giving_itself:
            return value
        if value.is_wrapped and _plain_name(name) in GIVE_AN_ITEM | GIVE_THE_SAME:
            return value
        for number in value.resolved.numbers:
            fields = (self.field(number, field) for field in self.rules.accessed(name))
            field = next(filter(None, fields), None)
            if field is not None:
                declared = self._of_binding(*field)
                return declared and self._substituted(declared, value, number)
            for owner, _ in self.lineage(number):
                for base in self.table.definitions[owner].bases:
                    given = self.frameworks.inherited_result(name, base)
                    if given and self.type_named(owner, base) is None:
                        return self._typed(owner, given, INFERRED)
        return None

    def _into_outside(
        self, scope: int, value: Value, name: str, given: tuple[str, ...], is_called: bool
    ) -> Value | None:
        """A step from a value whose type is not of the tree."""
        if not is_called:
            return value if name in ("Value", "Result") else None
        plain = _plain_name(name)
        if plain in GIVE_AN_ITEM | GIVE_PERHAPS_AN_ITEM:
            item = self.item(value)
            return item and replace(item, is_wrapped=item.is_wrapped or plain in GIVE_PERHAPS_AN_ITEM)
        if plain in GIVE_THE_SAME:
            return value
        extension = self.extensions.fitting(scope, value.resolved, name)
        return self._result(extension, value, is_called, (scope, given)) if extension else None

    def _result(
        self,
        resolved: Found,
        owner: Value | None,
        is_called: bool,
        type_arguments: tuple[int, tuple[str, ...]] = (0, ()),
    ) -> Value | None:
        """The value of definitions: types, modules and functions themselves, or the result of calling one.

        `type_arguments` are the definition around the call, and the type arguments of the call.
        """
        for number in resolved.numbers:
            definition = self.table.definitions[number]
            if definition.construct in ("type", "module"):
                continue
            if definition.construct == "callable" and not is_called and "property" not in definition.traits:
                continue
            value = self._of_definition(number, resolved.confidence, owner)
            if definition.construct == "value" and is_called:
                return self.called(value) if value else None
            value = value and self._with_arguments(value, definition.type_parameters, *type_arguments)
            return self._substituted(value, owner, self.table.owner_of(number)) if owner and value else value
        return Value(resolved, is_itself=not is_called)

    def _of_definition(self, number: int, confidence: float, owner: Value | None) -> Value | None:
        """The type that a callable returns or that a variable has, as stated or else by the value it is set to."""
        definition = self.table.definitions[number]
        if definition.result.rpartition(".")[2] in _SELF_TYPES:
            return owner
        if definition.result:
            return self._typed(number, definition.result, min(confidence, WILDCARD))
        is_callable = definition.construct == "callable"
        where, name = (number, RETURNED) if is_callable else (self.table.owner_of(number), definition.name)
        binding = self.table.variable(where, name)
        value = self._of_binding(where, binding) if binding else None
        return value and replace(value, resolved=value.resolved.at_most(confidence))

    def _substituted(self, value: Value, owner: Value, owner_type: int) -> Value:
        """A value whose type names type parameters of its owner, as the owner's own type has them."""
        if owner_type < 0 or (value.resolved.refs and not value.is_bound):
            return value
        names = self.table.definitions[owner_type].type_parameters
        scope, given = self._type_arguments(owner, owner_type) if names else (0, ())
        return self._with_arguments(value, names, scope, given)

    def _with_arguments(self, value: Value, names: Sequence[str], scope: int, given: Sequence[str]) -> Value:
        """A value whose type names type parameters, with what is given to them in a scope."""
        if not names or len(names) != len(given) or (value.resolved.refs and not value.is_bound):
            return value
        type_name = substituted(value.type_name, dict(zip(names, given, strict=True)))
        if type_name == value.type_name:
            return value
        meant = self._typed(scope, type_name, INFERRED)
        return replace(meant, is_wrapped=meant.is_wrapped or value.is_wrapped)

    def _type_arguments(self, owner: Value, owner_type: int) -> tuple[int, tuple[str, ...]]:
        """The type arguments of a value's type, or those that it gives to a type it derives from.

        The definition in which it is written comes first.
        """
        given = arguments(owner.type_name)
        if given or owner_type in owner.resolved.numbers:
            return owner.scope, given
        for number in owner.resolved.numbers:
            for part, _ in self.lineage(number):
                for base in self.table.definitions[part].bases:
                    base_type = self.type_named(part, base) if "<" in base else None
                    if base_type is not None and owner_type in base_type.numbers:
                        return part, arguments(base)
        return owner.scope, ()

    def _typed(self, scope: int, type_name: str, at_most: float) -> Value:
        """A value of the type that is written in a scope."""
        written, type_name = type_name, value_type(type_name)
        inner = arguments(type_name)
        if inner and head(type_name).rpartition(".")[2] in _TYPES_OF_TYPES:
            return replace(self._typed(scope, inner[0], at_most), is_itself=True)
        bound = self._bound(scope, type_name)
        if bound is not None:
            is_wrapped = written != type_name
            return Value(bound.at_most(at_most), type_name, scope, is_wrapped=is_wrapped, is_bound=True)
        resolved = self.type_named(scope, type_name)
        alias = None if resolved or not self._is_alias(scope, type_name) else self.value(scope, type_name)
        if alias is not None and alias.is_itself:
            return replace(alias, resolved=alias.resolved.at_most(at_most), is_itself=False)
        return Value((resolved or NOTHING).at_most(at_most), type_name, scope, is_wrapped=written != type_name)

    def _bound(self, scope: int, type_name: str) -> Found | None:
        """The type that a type parameter around a scope is bound to; None for what is no bounded type parameter."""
        number = scope
        while number >= 0:
            bounds = self.table.definitions[number].type_bounds
            named = (self.type_named(number, bound) for name, bound in bounds if name == type_name)
            bound_type = next(filter(None, named), None)
            if bound_type is not None:
                return bound_type
            parent = self.table.parent_of(number)
            # A member that is defined outside of its type has the type parameters of that.
            owner = self.table.owner_of(number)
            number = owner if owner >= 0 and self.table.definitions[number].construct != "type" else parent
        return None

    def _is_alias(self, scope: int, type_name: str) -> bool:
        """True if the name of a type is the name of a variable that holds it."""
        named = self.dotted(scope, type_name.split(".")) if "<" not in type_name else None
        definitions = self.table.definitions
        return named is not None and all(definitions[number].construct == "value" for number in named.numbers)

    def _of_binding(self, number: int, binding: Binding) -> Value | None:
        if binding.type_name:
            value: Value | None = self._typed(number, binding.type_name, WILDCARD if binding.stated else INFERRED)
        elif binding.value:
            first = self.table.module_of(self.table.file_of(number))
            value = self.value(number if binding.written_in < 0 else first + binding.written_in, binding.value)
            value = value and replace(value, resolved=value.resolved.at_most(INFERRED))
        else:
            source = self.frameworks.given(number, binding.name)
            value = self._result(Found((source,), WILDCARD), None, is_called=True) if source is not None else None
        return self.item(value) if value and binding.is_item else value


def _parts_of(segment: str) -> tuple[str, tuple[str, ...], bool]:
    """The name in a segment of a path, the type arguments that it states, and whether it is called."""
    plain = segment.removesuffix("()")
    return head(plain), arguments(plain.replace("::", ".")), plain != segment


def _plain_name(name: str) -> str:
    """A method's name as `common_methods` has it."""
    return name.removesuffix("Async").replace("_", "").lower()
