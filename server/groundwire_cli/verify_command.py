"""`groundwire verify`: read all of a version, and compare its checksum."""

from typing import Annotated

import typer

from groundwire_cli.options import Branch, Repository, checked_scope, pinned_scope, reporting_failures
from groundwire_cli.storage_options import Place, with_storage


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
