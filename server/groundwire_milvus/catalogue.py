"""The catalogue: which index versions a Milvus holds, and which of each scope is active.

A version exists from the moment that its entry says so, in one write; no reader sees a build before that. An alias
names the active version of a scope, and Milvus moves it in one step. Entries are always read with strong consistency.
"""

import logging
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from itertools import takewhile
from threading import Lock

from groundwire_index.index_errors import (
    BuildRefusedError,
    IndexDamagedError,
    VersionActiveError,
    VersionDeletedError,
    VersionNotFoundError,
)
from groundwire_index.nodes.node import NodeAccess
from groundwire_index.scope import Scope
from groundwire_milvus.document import VersionDocument, policies_of, sealed_policies
from groundwire_milvus.entries import FIELDS, Entry, State, entries_of, entry_key
from groundwire_milvus.packing import pieces
from groundwire_milvus.schema import (
    CATALOGUE,
    CATALOGUE_SCHEMA,
    VersionCollections,
    active_alias,
    scope_key,
    version_key,
)
from groundwire_milvus.storage_errors import CollectionMissingError, StorageUnavailableError
from groundwire_milvus.store import MOST_ROWS, MilvusStore, among
from groundwire_milvus.verification import check_contents, check_counts

SECONDS_REMEMBERED = 0.5
"""How long the active version of a scope is known before Milvus is asked again."""
MOST_REMEMBERED = 4_096
_NEVER: tuple[float, frozenset[Scope]] = -math.inf, frozenset()
_LOG = logging.getLogger(__name__)


class Catalogue:
    """The versions in one database of a Milvus. Thread-safe.

    Its methods raise StorageUnavailableError in addition to the errors that they name.
    """

    def __init__(self, store: MilvusStore, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` gives seconds."""
        self.store = store
        self._clock = clock
        self._active: OrderedDict[Scope, tuple[float, str]] = OrderedDict()
        self._scopes = _NEVER
        self._names: dict[str, str] = {}
        self._lock = Lock()

    def ensure(self) -> None:
        """Makes the catalogue where there is none."""
        if not self.store.has(CATALOGUE):
            try:
                self.store.create(CATALOGUE_SCHEMA, CATALOGUE)
            except StorageUnavailableError:
                if not self.store.has(CATALOGUE):  # else another made it in between
                    raise
        self.store.make_readable(CATALOGUE_SCHEMA, CATALOGUE)

    def entry(self, scope: Scope) -> Entry | None:
        """The entry of the version that `scope` pins, READY or DELETED; None where there is none."""
        entries = self._entries(f'key == "{entry_key(version_key(scope))}"')
        return entries[0] if entries else None

    def versions(self, scope: Scope | None = None) -> list[Entry]:
        """The entries of all READY versions, of one repository and branch or of all, ordered by their names."""
        of_scope = "" if scope is None else f' and scope == "{scope_key(scope)}"'
        return sorted(
            self._entries(f'state == "{State.READY.value}"{of_scope}'),
            key=lambda entry: (entry.scope.repository, entry.scope.branch, entry.scope.active_index),
        )

    def scopes(self) -> frozenset[Scope]:
        """The repositories and branches that have a READY version. The value may be SECONDS_REMEMBERED old."""
        now = self._clock()
        known = self._scopes
        if now - known[0] >= SECONDS_REMEMBERED:
            known = self._scopes = now, frozenset(replace(entry.scope, active_index="") for entry in self.versions())
        return known[1]

    def others(self, scope: Scope, state: State) -> list[Entry]:
        """The entries of a scope of another state: deleted versions, or builds, whether they live or have died."""
        return self._entries(f'state == "{state.value}" and scope == "{scope_key(scope)}"')

    def require(self, scope: Scope) -> Entry:
        """The entry of a version that is READY. Raises VersionNotFoundError, or VersionDeletedError."""
        entry = self.entry(scope)
        if entry is None:
            raise VersionNotFoundError(f"there is no index {scope.active_index!r} in this scope")
        if entry.state is State.DELETED:
            raise VersionDeletedError(f"index {scope.active_index!r} was deleted")
        return entry

    def check_free(self, scope: Scope) -> None:
        """Raises BuildRefusedError when the version's name is taken by an index or by a deleted one."""
        entry = self.entry(scope)
        if entry is not None:
            state = "was deleted" if entry.state is State.DELETED else "exists"
            raise BuildRefusedError(
                f"version {scope.active_index!r} of {scope.repository} {scope.branch} {state} in Milvus; versions are "
                "immutable and names are not used twice: give another --version"
            )

    def document(self, entry: Entry) -> VersionDocument:
        """The document of a version that is READY. Raises IndexDamagedError."""
        parts = self._parts(entry)
        if len(parts) != entry.parts:
            raise IndexDamagedError(f"the catalogue lacks parts of index {entry.scope.active_index!r}")
        return VersionDocument.from_content("".join(parts))

    def policies(self, entry: Entry) -> tuple[NodeAccess, ...]:
        """The policy classes of a version that is READY, damaged or not, or DELETED; none where they are damaged."""
        try:
            return policies_of("".join(self._parts(entry)))
        except IndexDamagedError as error:
            _LOG.error("the policies of index %s cannot be read: %s", entry.scope.active_index, error)
            return ()

    def active(self, scope: Scope) -> str:
        """The active version of a scope, "" when there is none. The value may be SECONDS_REMEMBERED old."""
        known = self.remembered_active(scope)
        return self.active_now(scope) if known is None else known

    def remembered_active(self, scope: Scope) -> str | None:
        """The result of `active` if it is known without a request to Milvus, else None."""
        with self._lock:
            known = self._active.get(replace(scope, active_index=""))
        return None if known is None or self._clock() - known[0] >= SECONDS_REMEMBERED else known[1]

    def active_now(self, scope: Scope) -> str:
        """The active version of a scope as Milvus has it now, "" when there is none."""
        bare = replace(scope, active_index="")
        now = self._clock()
        version = self._aliased(bare)
        with self._lock:
            self._active[bare] = now, version
            self._active.move_to_end(bare)
            if len(self._active) > MOST_REMEMBERED:
                self._active.popitem(last=False)
        return version

    def verify(self, scope: Scope) -> None:
        """Reads every row of a version and compares the checksums.

        Raises VersionNotFoundError, VersionDeletedError, IndexDamagedError naming a bad collection.
        """
        entry = self.require(scope)
        check_contents(self.store, entry.collections, self.document(entry))

    def activate(self, scope: Scope) -> str:
        """Makes a version the active one; returns the one before, or "".

        Checks that its collections are there with all their rows; `groundwire verify` compares their contents. Raises
        VersionNotFoundError, VersionDeletedError, and IndexDamagedError when it is not sound.
        """
        entry = self.require(scope)
        try:
            check_counts(self.store, entry.collections, self.document(entry))
        except IndexDamagedError:
            self.require(scope)  # what is deleted while it is checked misses collections, but is gone
            raise
        alias = active_alias(scope)
        previous, before = self._aliased(scope), self.store.alias_target(alias)
        try:
            self.store.move_alias(alias, entry.collections.nodes)
        except CollectionMissingError:
            self.require(scope)
            raise
        finally:
            self._forget(scope)
        try:
            self.require(scope)
        except VersionDeletedError:
            # It was deleted in between; who deletes looks at the alias afterwards as well.
            if before is None:
                self.store.drop_alias(alias)
            else:
                self.store.move_alias(alias, before)
            raise
        return previous

    def delete(self, scope: Scope) -> None:
        """Removes a version, leaving its policies as a tombstone; who reads it finds its collections missing.

        Raises VersionNotFoundError, VersionDeletedError, VersionActiveError.
        """
        entry = self.require(scope)
        self._refuse_active(scope)
        self._write(replace(entry, state=State.DELETED), sealed_policies(self.policies(entry)))
        try:
            self._refuse_active(scope)
        except VersionActiveError:
            self.write_entry(entry)  # it was activated in between
            raise
        self.remove(entry)
        self.store.delete_rows(CATALOGUE, among("key", entry.part_keys))

    def make_ready(self, build: Entry, document: VersionDocument) -> None:
        """Lets the version of a build be there, with everything it has."""
        self._write(replace(build, key=entry_key(version_key(build.scope)), state=State.READY), document.to_content())

    def remove(self, entry: Entry) -> None:
        """Drops the collections of a version or of a build."""
        for name in entry.collections.all:
            self.store.drop(name)

    def write_entry(self, entry: Entry) -> None:
        """Writes an entry, whose parts are there or which has none."""
        self.store.upsert(CATALOGUE, [entry.row()])

    def remove_entry(self, entry: Entry) -> None:
        """Removes an entry that has no parts."""
        self.store.delete_rows(CATALOGUE, among("key", [entry.key]))

    def _write(self, entry: Entry, content: str) -> None:
        """Writes an entry, and before it its parts, which no reader uses until then."""
        parts = pieces(content)
        entry = replace(entry, parts=len(parts))
        for row in entry.part_rows(parts):
            self.store.upsert(CATALOGUE, [row])
        self.write_entry(entry)

    def _parts(self, entry: Entry) -> list[str]:
        """The content of an entry up to the first part that is missing."""
        keys = entry.part_keys
        part_rows = self.store.query(CATALOGUE, among("key", keys), ["key", "content"], strong=True)
        parts = dict(zip(part_rows.strings("key"), part_rows.strings("content"), strict=True))
        return [parts[key] for key in takewhile(parts.__contains__, keys)]

    def _refuse_active(self, scope: Scope) -> None:
        if self._aliased(scope) == scope.active_index:
            raise VersionActiveError(f"index {scope.active_index!r} is active; activate another first")

    def _aliased(self, scope: Scope) -> str:
        """The active version as Milvus has it now."""
        target = self.store.alias_target(active_alias(scope))
        collections = None if target is None else VersionCollections.of_nodes(target)
        if collections is None:
            return ""
        name = self._names.get(collections.version_key)
        if name is None:
            entries = self._entries(f'key == "{entry_key(collections.version_key)}"')
            if not entries:
                return ""
            name = self._names[collections.version_key] = entries[0].scope.active_index
        return name

    def _forget(self, scope: Scope) -> None:
        self._scopes = _NEVER
        with self._lock:
            self._active.pop(replace(scope, active_index=""), None)

    def _entries(self, expression: str, start: str = "") -> list[Entry]:
        """The entries that meet an expression and whose keys, which begin with evenly spread digits, have this start.

        Where one answer of Milvus cannot hold them, it is asked once for each next digit.
        """
        within = f'{expression} and key like "{start}%"' if start else expression
        try:
            entry_rows = self.store.query(CATALOGUE, within, FIELDS, strong=True)
        except CollectionMissingError:
            return []
        if len(entry_rows) < MOST_ROWS:
            return list(entries_of(entry_rows))
        return [entry for digit in "0123456789abcdef" for entry in self._entries(expression, start + digit)]
