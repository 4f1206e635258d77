"""The entries of the catalogue: one for each version that is there or was deleted, and one for each build under way."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from groundwire_index.scope import Scope
from groundwire_milvus.packing import hexed, unhexed
from groundwire_milvus.rows import Rows
from groundwire_milvus.schema import UNUSED, UNUSED_VECTOR, VersionCollections, scope_key, version_key

FIELDS = ("key", "repository", "branch", "version", "state", "build", "beat", "parts")
"""The fields of a row that make an entry."""
_PART = "part"
"""The state of a row that is no entry, but a part of what one has."""


class State(Enum):
    """The entries of a version."""

    BUILDING = "building"
    READY = "ready"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class Entry:
    """A version in the catalogue, or a build of it. `scope` pins the version; `beat` rises while a build lives.

    `parts` is how many rows hold the version's document, or the policies of a deleted version.
    """

    key: str
    scope: Scope
    state: State
    build: str
    beat: int = 0
    parts: int = 0

    @property
    def collections(self) -> VersionCollections:
        """The collections that the version has, or the build makes."""
        return VersionCollections(version_key(self.scope), self.build)

    @property
    def part_keys(self) -> list[str]:
        """The keys of the rows that hold its content, in order."""
        return [f"{version_key(self.scope)}/{self.state.value}/{part}" for part in range(self.parts)]

    def row(self) -> dict[str, object]:
        """The entry as a row of the catalogue."""
        return self._row(self.key, self.state.value, "")

    def part_rows(self, contents: Sequence[str]) -> list[dict[str, object]]:
        """The parts of its content as rows of the catalogue."""
        return [self._row(key, _PART, part) for key, part in zip(self.part_keys, contents, strict=True)]

    def _row(self, key: str, state: str, content: str) -> dict[str, object]:
        return {
            "key": key,
            "scope": scope_key(self.scope),
            "repository": hexed(self.scope.repository),
            "branch": hexed(self.scope.branch),
            "version": hexed(self.scope.active_index),
            "state": state,
            "build": self.build,
            "beat": self.beat,
            "parts": self.parts,
            "content": content,
            UNUSED: list(UNUSED_VECTOR),
        }


def entry_key(version: str) -> str:
    """The key of the entry of a version of this key (`schema.version_key`)."""
    return f"{version}/0"


def build_entry(scope: Scope, build: str) -> Entry:
    """The entry of a new build of the version that `scope` pins."""
    return Entry(f"{version_key(scope)}/{State.BUILDING.value}/{build}", scope, State.BUILDING, build)


def entries_of(rows: Rows) -> Iterator[Entry]:
    """The entries that rows of the catalogue make."""
    names = zip(*(map(unhexed, rows.strings(field)) for field in ("repository", "branch", "version")), strict=True)
    for key, scope, state, build, beat, parts in zip(
        rows.strings("key"),
        names,
        rows.strings("state"),
        rows.strings("build"),
        rows.integers("beat").tolist(),
        rows.integers("parts").tolist(),
        strict=True,
    ):
        yield Entry(key, Scope(*scope), State(state), build, beat, parts)
