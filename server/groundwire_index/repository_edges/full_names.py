"""Names by which one repository refers to what another one defines: its modules, types, functions and packages.

A name is complete: it does not depend on the file that uses it. A name that several repositories offer says too little,
and leads to none of them.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from groundwire_index.repository_edges.confidences import EXACT, GUESSED, MAX_FAN_OUT, WILDCARD

RPC = "rpc"
"""The space of methods in .proto files. Repositories may have copies of a file, and all mean the same method."""
MAX_COPIES = 32
"""A method with copies in more places than this leads to none of them in particular."""
IMPORTS, CALLS, INHERITS, OVERRIDES = "Imports", "Calls", "Inherits", "Overrides"
CALLED = "()"
"""What follows the name of something that is called: `shop.Client().send` is a method of what the call returns."""
MAX_CALLED = 4
"""Names with more calls in them than this are not followed."""


@dataclass(frozen=True, slots=True)
class OfferedName:
    """A name by which other repositories reach the node `key`.

    `space` is the kind of names, such as those of one language. `file_key` is the node of the file that gives the name:
    the module that others import. `line` is that of its declaration. `result` is the name of the type that a call of it
    returns, "" where that is not known, and `result_confidence` says how sure that is. `is_abstract`: it is there to be
    implemented. `made_key` is the type that a constructor makes.
    """

    space: str
    name: str
    key: str
    file_key: str
    confidence: float = EXACT
    line: int = 0
    result: str = ""
    result_confidence: float = EXACT
    is_abstract: bool = False
    made_key: str = ""


@dataclass(frozen=True, slots=True)
class FullNames:
    """Names that end alike, the likeliest first: each of the `beginnings` with the `ending`.

    A name in C# may be of any namespace that its file imports. All uses of names in a file share these beginnings.
    """

    beginnings: tuple[str, ...]
    ending: str = ""

    @classmethod
    def of(cls, *names: str) -> "FullNames":
        """Names one by one."""
        return cls(("",), names[0]) if len(names) == 1 else cls(names)

    def followed_by(self, text: str) -> "FullNames":
        """The same names with a text behind each."""
        return FullNames(self.beginnings, self.ending + text)

    def __iter__(self) -> Iterator[str]:
        return (beginning + self.ending for beginning in self.beginnings)


@dataclass(frozen=True, slots=True)
class NameUse:
    """The node `key` uses a name that nothing in its own repository has.

    `names` are the names that may be meant; the first one that is offered counts. `import_lines` are those of imports
    of whole packages in the same order, 0 for none: by such an import the file, `file_key`, imports the file that has
    the name. `answered_by` are nodes of its own repository that the name means: only a
    caller who sees none of them has the edge.
    """

    space: str
    names: FullNames
    key: str
    edge_type: str
    line: int
    confidence: float
    file_key: str = ""
    import_lines: tuple[int, ...] = ()
    answered_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OfferedIn:
    """An offered name, the place of its index among those asked, and the repository of that."""

    index: int
    repository: str
    offered: OfferedName


@dataclass(frozen=True, slots=True)
class NamedEdge:
    """An edge that follows from a use: from a node of the using index to one of another index, `other_key`.

    With `is_back` it leads from the other one to the using one.
    """

    key: str
    other_index: int
    other_key: str
    edge_type: str
    confidence: float
    line: int
    is_back: bool = False


class NameMatching:
    """Finds what names mean among the names that several indexes offer."""

    def __init__(self, offered: Iterable[OfferedIn]) -> None:
        self._offered: defaultdict[tuple[str, str], list[OfferedIn]] = defaultdict(list)
        for item in offered:
            self._offered[item.offered.space, item.offered.name].append(item)

    def edges(self, index: int, repository: str, use: NameUse) -> Iterator[NamedEdge]:
        """The edges of a use in an index, which is one of a repository."""
        for place, name in enumerate(use.names):
            if use.space == RPC:
                meant, confidence = self._copies(repository, name), EXACT
            else:
                most = 1 if use.edge_type == IMPORTS else MAX_FAN_OUT
                meant, confidence = self._meant(index, repository, use.space, name, most)
            if not meant:
                continue
            for item in meant:
                sure = min(use.confidence, confidence, item.offered.confidence)
                line = use.import_lines[place] if use.import_lines else 0
                yield from _edges_to(item, use, sure, line)
            return

    def _copies(self, repository: str, name: str) -> Sequence[OfferedIn]:
        """The copies of a method in other repositories."""
        copies = [item for item in self._offered.get((RPC, name), ()) if item.repository != repository]
        return copies if len(copies) <= MAX_COPIES else ()

    def _meant(
        self, index: int, repository: str, space: str, name: str, most: int
    ) -> tuple[Sequence[OfferedIn], float]:
        """What a name means, and how sure that is: of one repository alone, and not of the one that uses it.

        It means nothing if more than `most` nodes of an index have it.
        """
        confidence = EXACT
        for _ in range(MAX_CALLED):
            before, called, after = name.partition(CALLED + ".")
            offered = self._offered.get((space, before), ())
            if not called or not offered:
                break
            first = offered[0].offered
            if len({item.offered.result for item in offered}) != 1:
                return (), confidence
            name = f"{first.result or before}.{after}"
            confidence = min(confidence, *(item.offered.result_confidence for item in offered))
        # The constructor of a type is offered under the name of the call.
        called_name = (space, name) if (space, name) in self._offered else (space, name.removesuffix(CALLED))
        offered = self._offered.get(called_name, ())
        if any(item.index == index for item in offered):
            return (), confidence
        others = [item for item in offered if item.repository != repository]
        if len({item.repository for item in others}) != 1:
            return (), confidence
        counts: defaultdict[int, set[str]] = defaultdict(set)
        for item in others:
            counts[item.index].add(item.offered.key)
        count = max(map(len, counts.values()))
        return (others, confidence if count == 1 else min(confidence, GUESSED)) if count <= most else ((), confidence)


def _edges_to(item: OfferedIn, use: NameUse, confidence: float, import_line: int) -> Iterator[NamedEdge]:
    """The edges of a use to what it means, and those that lead back; as `family.py` makes them within a tree."""
    offered, index = item.offered, item.index
    match use.edge_type:
        case "Imports":
            yield NamedEdge(use.key, index, offered.file_key, IMPORTS, confidence, use.line)
        case "Overrides":
            there, back = ("Implements", "ImplementedBy") if offered.is_abstract else ("Overrides", "OverriddenBy")
            yield NamedEdge(use.key, index, offered.key, there, confidence, use.line)
            yield NamedEdge(use.key, index, offered.key, back, confidence, offered.line, is_back=True)
        case stated:
            yield NamedEdge(use.key, index, offered.key, stated, confidence, use.line)
            if stated == CALLS and offered.made_key:
                yield NamedEdge(use.key, index, offered.made_key, "References", confidence, use.line)
            if stated == INHERITS and offered.is_abstract:
                sure = min(confidence, WILDCARD)
                yield NamedEdge(use.key, index, offered.key, "ImplementedBy", sure, offered.line, is_back=True)
    if import_line:
        yield NamedEdge(use.file_key, index, offered.file_key, IMPORTS, WILDCARD, import_line)
