"""`groundwire indexes`, `activate`, `delete`, `verify`: the versions in a data folder."""

import json
from dataclasses import replace
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from groundwire_server.commands.options import (
    DEFAULT_DATA,
    Branch,
    Data,
    Repository,
    checked_scope,
    fail,
    failures_told,
)

Version = Annotated[str, typer.Argument(help="The index version, as `groundwire indexes` lists it.")]


def indexes(
    data: Data = DEFAULT_DATA,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list of objects.")] = False,
) -> None:
    """List the index versions of a data folder with their full counts, whatever their access."""
    from groundwire_server.index.errors import IndexDamagedError
    from groundwire_server.index.manifest import Manifest
    from groundwire_server.index.store import IndexStore

    store = IndexStore(data)
    rows: list[dict[str, object]] = []
    for scope in store.scopes():
        active = store.active(scope)
        for version in store.versions(scope):
            row: dict[str, object] = {
                "repository": scope.repository,
                "branch": scope.branch,
                "version": version,
                "active": version == active,
            }
            try:
                manifest = Manifest.read(store.directory(replace(scope, active_index=version)))
            except IndexDamagedError as error:
                rows.append({**row, "damage": str(error)})
                continue
            space = manifest.vector_space
            rows.append(
                {
                    **row,
                    "node_count": manifest.node_count,
                    "edge_count": manifest.edge_count,
                    "embedder": space.embedder if space else "",
                    "dimension": space.dimension if space else 0,
                    "lexical": bool(manifest.tokenizer),
                    "created": manifest.created.isoformat(),
                    "source": manifest.source,
                    "damage": "",
                }
            )
    if as_json:
        print(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    _print_table(rows)


def activate(version: Version, repository: Repository, branch: Branch, data: Data = DEFAULT_DATA) -> None:
    """Let VERSION answer calls that pin none. Its files are checked first."""
    scope = checked_scope(repository, branch, version)
    with failures_told():
        from groundwire_server.index.store import IndexStore

        previous = IndexStore(data).activate(scope)
    print(f"{version} is active" + (f"; before it was {previous}" if previous not in ("", version) else ""))


def delete(version: Version, repository: Repository, branch: Branch, data: Data = DEFAULT_DATA) -> None:
    """Delete VERSION, which must not be active. Its name is not used again."""
    scope = checked_scope(repository, branch, version)
    with failures_told():
        from groundwire_server.index.store import IndexStore

        IndexStore(data).delete(scope)
    print(f"{version} is deleted")


def verify(
    repository: Repository,
    branch: Branch,
    version: Annotated[str, typer.Option(help="The version; the active one unless given.")] = "",
    data: Data = DEFAULT_DATA,
) -> None:
    """Read every file of a version and compare its checksum."""
    with failures_told():
        from groundwire_server.index.loaded import verify as verify_index
        from groundwire_server.index.store import IndexStore

        store = IndexStore(data)
        scope = checked_scope(repository, branch, version)
        pinned = replace(scope, active_index=version or store.active(scope))
        if not pinned.active_index:
            fail(f"{repository} {branch} has no active version in {data}; name one with --version")
        verify_index(store.require(pinned))
    print(f"{pinned.active_index} is sound")


def _print_table(rows: list[dict[str, object]]) -> None:
    table = Table()
    for heading in ("repository", "branch", "version", "active", "nodes", "edges", "embedder", "created", "source"):
        table.add_column(heading, justify="right" if heading in ("nodes", "edges") else "left")
    for row in rows:
        names = (str(row["repository"]), str(row["branch"]), str(row["version"]), "yes" if row["active"] else "")
        if row["damage"]:
            table.add_row(*names, "", "", "", "", f"[red]damaged: {row['damage']}[/red]")
        else:
            counts = (f"{row['node_count']:,}", f"{row['edge_count']:,}")
            table.add_row(*names, *counts, str(row["embedder"]), str(row["created"])[:19], str(row["source"]))
    Console().print(table)
