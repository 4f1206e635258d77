"""The right to build one version: of all builds of a version, wherever they run, one at a time has it.

A build that died leaves its entry and collections behind, which the next one of its scope removes.
"""

import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from groundwire_index.index_errors import BuildRefusedError
from groundwire_index.scope import Scope
from groundwire_milvus.catalogue import Catalogue
from groundwire_milvus.entries import Entry, State, build_entry
from groundwire_milvus.schema import FACTS_SCHEMA, building_alias
from groundwire_milvus.storage_errors import AliasTakenError, StorageUnavailableError

SECONDS_BETWEEN_BEATS = 5.0
"""How often a living build changes its entry."""
BEATS_MISSED = 6
"""A build that has missed this number of beats has died."""
_SECONDS_BETWEEN_LOOKS = 0.1


@contextmanager
def claimed(catalogue: Catalogue, scope: Scope, seconds_between_beats: float) -> Iterator[Entry]:
    """Yields the entry of a new build of a version, whose collection of facts is made.

    At the end the results of the build are removed, unless the version exists by then. Leftovers of the scope are
    removed first. Raises BuildRefusedError when the version's name is taken or another build of it is running.
    """
    catalogue.ensure()
    catalogue.check_free(scope)
    living = remove_leftovers(catalogue, scope, seconds_between_beats)
    if any(build.scope == scope for build in living):
        raise _running(scope)
    build = build_entry(scope, secrets.token_hex(4))
    try:
        catalogue.write_entry(build)
        with _beating(catalogue, build, seconds_between_beats):
            catalogue.store.create(FACTS_SCHEMA, build.collections.facts)
            try:
                catalogue.store.create_alias(building_alias(scope), build.collections.facts)
            except AliasTakenError as error:
                raise _running(scope) from error
            catalogue.check_free(scope)
            yield build
    finally:
        # Where Milvus is away, the next build of the scope does it.
        with suppress(StorageUnavailableError):
            remove_build(catalogue, build)


def check_held(catalogue: Catalogue, build: Entry) -> None:
    """Raises BuildRefusedError when the build was taken for dead, and another may run."""
    if catalogue.store.alias_target(building_alias(build.scope)) != build.collections.facts:
        raise BuildRefusedError(
            f"this build of version {build.scope.active_index!r} made no progress for too long, so another build "
            "removed it; start it again"
        )


def _running(scope: Scope) -> BuildRefusedError:
    return BuildRefusedError(
        f"another build of version {scope.active_index!r} of {scope.repository} {scope.branch} is running; wait for it "
        "to end, or give another --version"
    )


@contextmanager
def _beating(catalogue: Catalogue, build: Entry, seconds: float) -> Iterator[None]:
    """Lets the build's entry change every few seconds, in a thread of its own."""
    ended = threading.Event()

    def beat() -> None:
        entry = build
        while not ended.wait(seconds):
            entry = replace(entry, beat=entry.beat + 1)
            with suppress(StorageUnavailableError):  # the build itself meets it, or Milvus comes back
                catalogue.write_entry(entry)

    thread = threading.Thread(target=beat, name="groundwire-build", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def remove_leftovers(catalogue: Catalogue, scope: Scope, seconds_between_beats: float) -> list[Entry]:
    """Removes everything in a scope that is no longer used; returns the entries of builds that live.

    Waits until each build has shown that it lives, or missed BEATS_MISSED beats: clocks of machines are not compared.
    Raises StorageUnavailableError.
    """
    living, dead = _judged(catalogue, scope, BEATS_MISSED * seconds_between_beats)
    for build in dead:
        remove_build(catalogue, build)
    there = set(catalogue.store.collections())
    for entry in catalogue.others(scope, State.DELETED):
        if not there.isdisjoint(entry.collections.all):
            catalogue.remove(entry)
    return living


def remove_build(catalogue: Catalogue, build: Entry) -> None:
    """Removes the entry of a build, with its collections unless a version that is there has them."""
    alias = building_alias(build.scope)
    if catalogue.store.alias_target(alias) == build.collections.facts:
        catalogue.store.drop_alias(alias)
    version = catalogue.entry(build.scope)
    if version is None or version.build != build.build:
        catalogue.remove(build)
    catalogue.remove_entry(build)


def _judged(catalogue: Catalogue, scope: Scope, patience: float) -> tuple[list[Entry], list[Entry]]:
    """The builds of a scope that live, and those that have died."""
    suspects = {build.key: build for build in catalogue.others(scope, State.BUILDING)}
    living: list[Entry] = []
    deadline = time.monotonic() + patience
    while suspects and time.monotonic() < deadline:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
        now = {build.key: build for build in catalogue.others(scope, State.BUILDING)}
        living += [now[key] for key, build in suspects.items() if key in now and now[key].beat != build.beat]
        suspects = {key: build for key, build in suspects.items() if key in now and now[key].beat == build.beat}
    return living, list(suspects.values())
