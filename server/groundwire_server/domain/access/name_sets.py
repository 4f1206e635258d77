"""Sets of names as an operator writes them: listed, or by how they begin. Pure rules."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

ANY = "*"


@dataclass(frozen=True, slots=True)
class Names:
    """A set of names: those listed, and all that start with one of `prefixes`."""

    listed: frozenset[str] = frozenset()
    prefixes: tuple[str, ...] = ()

    @classmethod
    def parse(cls, patterns: Iterable[str]) -> Self:
        """Names as an operator writes them: a trailing `*` matches any ending, elsewhere it is a character."""
        texts = set(patterns)
        starts = sorted(text.removesuffix(ANY) for text in texts if text.endswith(ANY))
        return cls(frozenset(text for text in texts if not text.endswith(ANY)), tuple(starts))

    def __contains__(self, name: str) -> bool:
        return name in self.listed or name.startswith(self.prefixes)

    def among(self, names: frozenset[str]) -> frozenset[str]:
        """Those of `names` that are in this set."""
        if not self.prefixes:
            return names & self.listed
        return frozenset(name for name in names if name in self)

    def united(self, other: Self) -> Self:
        """The names of both."""
        return type(self)(self.listed | other.listed, (*self.prefixes, *other.prefixes))


NO_NAMES = Names()
