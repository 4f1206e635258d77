"""The value of an expression, and the segments of its path."""

from dataclasses import dataclass

from groundwire_ingest.tree.languages.types import arguments, head
from groundwire_ingest.tree.names.table import Found


@dataclass(frozen=True, slots=True)
class Value:
    """The value of an expression, or the type that it is an instance of.

    `found` are the types, modules or namespaces of the tree that it is; none where its type is not of the tree.
    `type_name` is its type as far as the source states it, as it is written in definition `scope`. With `is_itself` the
    expression is the class or function that was found, rather than an instance of it. With `is_wrapped` the value must
    first be waited for or unwrapped, as from an `Optional`.
    """

    found: Found
    type_name: str = ""
    scope: int = 0
    is_itself: bool = False
    is_wrapped: bool = False


def parts_of(segment: str) -> tuple[str, tuple[str, ...], bool]:
    """The name in a segment of a path, the type arguments that it states, and whether it is called."""
    plain = segment.removesuffix("()")
    return head(plain), arguments(plain.replace("::", ".")), plain != segment


def plain_name(name: str) -> str:
    """A method's name as `common_methods` has it."""
    return name.removesuffix("Async").replace("_", "").lower()
