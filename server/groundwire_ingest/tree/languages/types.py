"""Types as text in one form for all languages: `Head<Argument,Argument>`.

Pointers, references and what says "or nothing" are left out; an array or slice of T is `Array<T>`. Of a union the first
type other than null is used.
"""

import re
from collections.abc import Iterator, Mapping

_TOKEN = re.compile(r"""[^\W\d][\w$]*(?:(?:\.|::)[^\W\d][\w$]*)*|\[\]|[<>\[\],|()=]""")
_MODIFIERS = frozenset(
    """mut dyn impl const ref out in params this scoped readonly final volatile struct enum typename unsafe extends
    super""".split()
)
_NOTHING = frozenset("None null undefined nil void Null never".split())
# The type of a value after it has been waited for, unwrapped or dereferenced.
_WRAPPERS = frozenset(
    """Task ValueTask Promise Awaitable Coroutine Optional Nullable Future CompletableFuture Mono ActionResult Result
    Lazy Annotated Final ClassVar Box Rc Arc RefCell Mutex Option shared_ptr unique_ptr PromiseLike Maybe Readonly
    Partial Required NonNullable Provider ObjectProvider""".split()
)
_COLLECTIONS = frozenset(
    """Array IEnumerable IList List ICollection Collection IReadOnlyList IReadOnlyCollection ISet HashSet Set Iterable
    Sequence MutableList ImmutableArray""".split()
)
_MAX_DEPTH = 8
_MAX_CHARACTERS = 300


def type_text(written: str) -> str:
    """The type that a source writes, in the common form; empty when it is none, such as the type of a function."""
    tokens = [token for token in _TOKEN.findall(written[:_MAX_CHARACTERS]) if token not in _MODIFIERS]
    return _Reader(tokens).union(0)


def head(type_name: str) -> str:
    """`List` of `List<Order>`."""
    return type_name.partition("<")[0]


def arguments(type_name: str) -> tuple[str, ...]:
    """`K` and `V` of `Map<K,V>`."""
    _, opened, inner = type_name.partition("<")
    if not opened:
        return ()
    parts: list[str] = []
    depth = start = 0
    inner = inner[:-1]
    for position, character in enumerate(inner):
        depth += (character == "<") - (character == ">")
        if character == "," and depth == 0:
            parts.append(inner[start:position])
            start = position + 1
    return (*parts, inner[start:])


def names_in(type_name: str) -> Iterator[str]:
    """Every type that a type is made of, the outermost first, without type arguments."""
    yield from filter(None, re.split("[<>,]", type_name))


def substituted(type_name: str, given: Mapping[str, str]) -> str:
    """A type with some of the names in it replaced."""
    return re.sub("[^<>,]+", lambda match: given.get(match[0], match[0]), type_name)


def value_type(type_name: str) -> str:
    """The type that users of a value see: `Order` of `Task<Order>`."""
    for _ in range(_MAX_DEPTH):
        inner = arguments(type_name)
        if not inner or head(type_name).rpartition(".")[2] not in _WRAPPERS:
            break
        type_name = inner[0]
    return type_name


def item_type(type_name: str) -> str:
    """The type of a collection's items: the last of its type arguments; empty when there is none."""
    inner = arguments(value_type(type_name))
    return inner[-1] if inner else ""


def collected_type(type_name: str) -> str:
    """The type of the items of a collection of all entities of a type; empty for any other type."""
    is_collection = head(value_type(type_name)).rpartition(".")[2] in _COLLECTIONS
    return item_type(type_name) if is_collection else ""


class _Reader:
    """Reads tokens of a type from the left; what it does not understand ends the type."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._next = 0

    def union(self, depth: int) -> str:
        """The first type of `A | B` that is something."""
        type_name = self._single(depth)
        while self._takes("|"):
            other = self._single(depth)
            type_name = other if type_name in _NOTHING or not type_name else type_name
        return "" if type_name in _NOTHING else type_name

    def _single(self, depth: int) -> str:
        if depth > _MAX_DEPTH:
            return ""
        if self._takes("[]"):
            item = self._single(depth + 1)
            return f"Array<{item}>" if item else ""
        name = self._peek().replace("::", ".")
        if not name[:1].isidentifier():
            return ""
        self._next += 1
        inner: list[str] = []
        if self._takes("<"):
            inner = self._arguments(">", depth)
        elif self._takes("["):
            inner = self._arguments("]", depth)
            if name == "map":
                name, inner = "Map", [*inner, self._single(depth + 1)]
        inner = [*filter(None, inner)]
        if name.rpartition(".")[2] == "Union" and inner:
            type_name = next((item for item in inner if item not in _NOTHING), "")
        else:
            type_name = f"{name}<{','.join(inner)}>" if inner else name
        while self._takes("[]"):
            type_name = f"Array<{type_name}>"
        return type_name

    def _arguments(self, closing: str, depth: int) -> list[str]:
        """The types between a bracket and the one that closes it."""
        arguments: list[str] = []
        while self._peek() not in (closing, ""):
            arguments.append(self.union(depth + 1))
            if not self._takes(",") and self._peek() != closing:
                self._skip(closing)
                break
        self._next += 1
        return arguments

    def _skip(self, closing: str) -> None:
        opening, open_brackets = "<" if closing == ">" else "[", 0
        while self._peek() and (open_brackets or self._peek() != closing):
            open_brackets += (self._peek() == opening) - (self._peek() == closing)
            self._next += 1

    def _takes(self, token: str) -> bool:
        """True if a token is the next one, which is then behind."""
        is_next = self._peek() == token
        self._next += is_next
        return is_next

    def _peek(self) -> str:
        return self._tokens[self._next] if self._next < len(self._tokens) else ""
