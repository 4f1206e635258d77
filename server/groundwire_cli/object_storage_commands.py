"""`groundwire publish`, `published`, `withdraw`, `follow`: index versions in object storage, for fleets of servers."""

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from groundwire.printable_text import printable
from groundwire_cli.options import (
    DEFAULT_DATA,
    Branch,
    Data,
    Repository,
    checked_scope,
    fail,
    message_of,
    pinned_scope,
    reporting_failures,
)
from groundwire_cli.version_table import print_version_table
from groundwire_index.operator_errors import OperatorError

if TYPE_CHECKING:
    from groundwire_object_storage.index_cache import CacheUpdate, IndexCache

_EXTRA = "server,object-storage"
_MOST_BYTES = 50_000_000_000
Address = Annotated[
    str,
    typer.Argument(help="Where versions are published: s3://BUCKET/FOLDER, a folder, or another address of fsspec."),
]


def publish(
    address: Address,
    repository: Repository,
    branch: Branch,
    version: Annotated[str, typer.Option(help="The version; the active one unless given.")] = "",
    activate: Annotated[bool, typer.Option("--activate/--no-activate", help="Let servers take it.")] = True,
    data: Data = DEFAULT_DATA,
) -> None:
    """Copy a version of the data folder to ADDRESS, and name it as the one that servers take.

    A version that is published already is only named: so an older one is taken again.
    """
    scope = checked_scope(repository, branch, version)
    with reporting_failures(_EXTRA):
        from groundwire_index.embedding.int8.store import EncoderStore
        from groundwire_index.store.store import IndexStore
        from groundwire_object_storage.object_folder import ObjectFolder
        from groundwire_object_storage.published_versions import PublishedVersions
        from groundwire_object_storage.publishing import publish as publish_version

        store, published = IndexStore(data), PublishedVersions(ObjectFolder(address))
        pinned = pinned_scope(store, scope)
        upload = publish_version(store, EncoderStore(data), published, pinned)
        was_there = "" if upload.files else "was there already; "
        print(f"{pinned.active_index}: {was_there}{upload.files} files, {_megabytes(upload.bytes)} copied", flush=True)
        if activate:
            previous = published.activate(pinned)
            before = f"; before it was {previous}" if previous not in ("", pinned.active_index) else ""
            print(f"{pinned.active_index} is active at {published.place}{before}")


def published(
    address: Address, as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list of objects.")] = False
) -> None:
    """List the versions that are published at ADDRESS."""
    with reporting_failures(_EXTRA):
        from groundwire_object_storage.object_folder import ObjectFolder
        from groundwire_object_storage.published_versions import PublishedVersions

        entries = PublishedVersions(ObjectFolder(address)).listed()
    if as_json:
        print(json.dumps([asdict(entry) for entry in entries], indent=1, ensure_ascii=False))
    else:
        print_version_table(entries)


def withdraw(
    address: Address,
    version: Annotated[str, typer.Argument(help="The index version, as `groundwire published` lists it.")],
    repository: Repository,
    branch: Branch,
) -> None:
    """Remove VERSION, which must not be active, from ADDRESS and from all data folders that follow it.

    Its name is not used again.
    """
    scope = checked_scope(repository, branch, version)
    with reporting_failures(_EXTRA):
        from groundwire_object_storage.object_folder import ObjectFolder
        from groundwire_object_storage.published_versions import PublishedVersions

        PublishedVersions(ObjectFolder(address)).withdraw(scope)
    print(f"{version} is withdrawn")


def follow(
    address: Address,
    repository: Annotated[
        list[str] | None,
        typer.Option("--repository", "-r", metavar="PATTERN", help="Take only these; * at the end is any text."),
    ] = None,
    data: Data = DEFAULT_DATA,
    every: Annotated[float, typer.Option(min=1, help="Seconds between two looks at ADDRESS.")] = 30,
    once: Annotated[bool, typer.Option("--once", help="Look once, and fail if anything failed.")] = False,
    max_bytes: Annotated[
        int, typer.Option(min=1, help="What all versions may take; it must hold an old and a new one.")
    ] = (_MOST_BYTES),
    keep: Annotated[int, typer.Option(min=0, help="Versions of a branch to keep besides the active one.")] = 1,
) -> None:
    """Keep a data folder of its own up to date with what is published at ADDRESS, for the servers that read it."""
    with reporting_failures(_EXTRA):
        from groundwire_object_storage.index_cache import CacheBounds, IndexCache
        from groundwire_object_storage.object_folder import ObjectFolder
        from groundwire_object_storage.published_versions import PublishedVersions
        from groundwire_server.domain.access.name_sets import ANY, Names

        published_versions = PublishedVersions(ObjectFolder(address))
        cache = IndexCache(
            published_versions, data, CacheBounds(max_bytes, keep), Names.parse(repository or [ANY]).__contains__
        )
        cache.claim()
        if once:
            _look_once(cache, published_versions.place)
            return
        print(f"following {published_versions.place}; Ctrl-C ends it", flush=True)
        try:
            _look_again_and_again(cache, every)
        except KeyboardInterrupt:
            print("no version is taken any more; the active ones stay", flush=True)


def _look_once(cache: "IndexCache", place: str) -> None:
    update = cache.update()
    _report(update, [])
    if not update.scope_count:
        fail(f"{place} has no version of a wanted repository; publish one by `groundwire publish`")
    if update.failures:
        fail(f"{len(update.failures)} of {update.scope_count} indexes could not be taken")


def _look_again_and_again(cache: "IndexCache", every: float) -> None:
    """Updates until it is interrupted; a failure is reported when it appears."""
    reported: list[str] = []
    while True:
        try:
            update = cache.update()
        except (OperatorError, OSError) as error:
            failures = [message_of(error)]
            _report_failures(failures, reported)
        else:
            failures = update.failures
            _report(update, reported)
        reported = failures
        time.sleep(every)


def _report(update: "CacheUpdate", reported: Sequence[str]) -> None:
    for version in update.activated:
        scope = version.scope
        size = f"{_megabytes(version.bytes)} taken" if version.bytes else "it was there already"
        print(printable(f"{scope.repository} {scope.branch} {scope.active_index} (active): {size}"), flush=True)
    _report_failures(update.failures, reported)


def _report_failures(failures: Sequence[str], reported: Sequence[str]) -> None:
    for failure in failures:
        if failure not in reported:
            print(f"error: {printable(failure)}; it is tried again", file=sys.stderr, flush=True)


def _megabytes(count: int) -> str:
    return f"{count / 1e6:,.1f} MB"
