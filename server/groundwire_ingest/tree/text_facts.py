"""The strings of a code file as the code builds them, which are read once the values in them are known."""

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

NAME_OF_TYPE = "typeof({}).Name"
"""How `TextPart` writes the name of a type, whose place is that of the braces."""


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
