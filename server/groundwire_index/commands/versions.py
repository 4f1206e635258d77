"""`groundwire verify`, and how commands choose a version."""

from dataclasses import replace
from typing import Annotated

import typer

from groundwire_index.commands.options import Branch, Repository, checked_scope, fail, reporting_failures
from groundwire_index.commands.storage import Place, with_storage
from groundwire_index.scope import Scope
from groundwire_index.storage import Storage


@with_storage
def verify(
    repository: Repository,
    branch: Branch,
    place: Place,
    version: Annotated[str, typer.Option(help="The version; the active one unless given.")] = "",
) -> None:
    """Read everything of a version, every file or every row, and compare its checksum."""
    with reporting_failures():
        storage = place.open()
        pinned = pinned_scope(storage, checked_scope(repository, branch, version))
        storage.verify(pinned)
    print(f"{pinned.active_index} is sound")


def pinned_scope(storage: Storage, scope: Scope) -> Scope:
    """The scope with its active version unless it pins one; ends the command where it has none."""
    pinned = replace(scope, active_index=scope.active_index or storage.active(scope))
    if not pinned.active_index:
        fail(f"{scope.repository} {scope.branch} has no active version in {storage.place}; name a version")
    return pinned
