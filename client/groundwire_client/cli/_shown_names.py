"""The names of nodes as one output shows them: without the namespace that its other names share."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from groundwire_client._helpers import symbol_beside

_NAMESPACED = tuple(".cs .csx .razor .cshtml .vb .java .kt .kts .php .cpp .cc .cxx .h .hpp".split())
"""Files of languages whose symbols begin with a namespace."""
_TYPE_AND_MEMBER = 2


@dataclass(frozen=True, slots=True)
class ShownNames:
    """The names of the nodes of one output.

    Nodes whose namespaces begin with the same word lose the namespace that all of them share: `Invoice.Create` for
    `Shop.Billing.Invoice.Create`, beside other nodes of `Shop.Billing`. A name is whole if two would read the same.

    Attributes:
        shared: The namespace that the names lose, by its first word.
        ambiguous: Names that are shown whole, since a shorter one would mean several of them.
    """

    shared: Mapping[str, str]
    ambiguous: frozenset[str]

    def of(self, path: str, symbol: str) -> str:
        """The name of a node: its symbol for readers of its path, and of the other names; empty without a symbol."""
        beside = symbol_beside(path, symbol)
        return beside if beside in self.ambiguous else _without(self.shared, path, beside)


def shown_names(nodes: Iterable[tuple[str, str]]) -> ShownNames:
    """The names of an output whose nodes have these paths and symbols."""
    symbols = {(path, symbol_beside(path, symbol)) for path, symbol in nodes}
    namespaces: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    counts: Counter[str] = Counter()
    for path, symbol in sorted(symbols):
        if namespace := _namespace(path, symbol):
            namespaces[namespace[0]].add(namespace)
            counts[namespace[0]] += 1
    shared = {first: _common(group) for first, group in namespaces.items() if counts[first] > 1}
    meanings: dict[str, set[str]] = defaultdict(set)
    for path, symbol in symbols:
        meanings[_without(shared, path, symbol)].add(symbol)
    several = (meant for meant in meanings.values() if len(meant) > 1)
    return ShownNames(shared, frozenset(symbol for meant in several for symbol in meant))


def _without(shared: Mapping[str, str], path: str, symbol: str) -> str:
    namespace = _namespace(path, symbol)
    return symbol.removeprefix(f"{shared[namespace[0]]}.") if namespace and namespace[0] in shared else symbol


def _common(namespaces: Collection[tuple[str, ...]]) -> str:
    """The words with which all namespaces begin: in sorted order those of the first and the last one."""
    common: list[str] = []
    for word, other in zip(min(namespaces), max(namespaces), strict=False):
        if word != other:
            break
        common.append(word)
    return ".".join(common)


def _namespace(path: str, symbol: str) -> tuple[str, ...]:
    """The words before the type that the file is named after; without such a type, all but the last two words."""
    if not path.endswith(_NAMESPACED) or path.endswith(symbol):
        return ()
    words = symbol.partition("(")[0].partition("<")[0].split(".")
    stem = path.rpartition("/")[2].partition(".")[0]
    return tuple(words[: words.index(stem)] if stem in words else words[:-_TYPE_AND_MEMBER])
