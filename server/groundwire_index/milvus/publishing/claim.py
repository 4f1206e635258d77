"""The right to build one version: of all builds of a version, wherever they run, one at a time has it."""

import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from groundwire_index.milvus.catalogue import Catalogue
from groundwire_index.milvus.entries import Entry, build_entry
from groundwire_index.milvus.errors import AliasTakenError, StorageUnavailableError
from groundwire_index.milvus.schema import FACTS_SCHEMA, building_alias
from groundwire_index.milvus.upkeep import remove_build, remove_leftovers
from groundwire_index.scope import Scope
from groundwire_index.store.errors import BuildRefusedError


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
