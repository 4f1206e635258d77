"""The scopes of a command: those that options name, else the only one that the server lists."""

from collections.abc import Iterable, Sequence

import typer

from groundwire.printable_text import printable
from groundwire.v1.scope_pb2 import IndexScope
from groundwire_client._client import GroundwireClient
from groundwire_client._errors import GroundwireError
from groundwire_client._helpers import Scopes, pinned
from groundwire_client._several import is_of, is_pattern

REPOSITORY_VARIABLE = "GROUNDWIRE_REPOSITORY"
BRANCH_VARIABLE = "GROUNDWIRE_BRANCH"
_MOST_NAMED = 20


def given_scopes(repositories: Sequence[str], branches: Sequence[str], index: str) -> Scopes:
    """The scopes that options name: one branch for all repositories, or one each. Raises typer.BadParameter."""
    count = max(len(repositories), len(branches))
    repositories, branches = ([*names] * count if len(names) == 1 else names for names in (repositories, branches))
    if len(repositories) != len(branches):
        raise typer.BadParameter("give one for all repositories, or one for each", param_hint="--branch")
    pairs = zip(repositories, branches, strict=True)
    scopes = [IndexScope(repository=repository, branch=branch) for repository, branch in pairs]
    if count == 1 and not is_pattern(scopes[0]):
        return pinned(scopes[0], index)
    if index:
        raise typer.BadParameter("only one repository and branch can be read in a version", param_hint="--index")
    return scopes


def found_scopes(client: GroundwireClient, repositories: Sequence[str], branches: Sequence[str], index: str) -> Scopes:
    """The scopes that options name. An absent option means the only repository of the server, or its only branch.

    Raises:
        typer.BadParameter: There are several to choose from, or none (exit code 2).
        GroundwireError: The server does not list its indexes.
    """
    if repositories and branches:
        return given_scopes(repositories, branches, index)
    listed = _listed(client, index)
    if not repositories:
        branch = only("--branch", branches)
        repository, branch = _only_scope(listed, IndexScope(repository="*", branch=branch or "*"), "--repository")
        return given_scopes([repository], [branch], index)
    pairs = [_only_scope(listed, IndexScope(repository=name, branch="*"), "--branch") for name in repositories]
    return given_scopes([repository for repository, _ in pairs], [branch for _, branch in pairs], index)


def visible_scopes(client: GroundwireClient) -> str:
    """The scopes that the caller sees, for a message; empty if the server does not list them."""
    try:
        return _named(_listed(client, ""))
    except GroundwireError:
        return ""


def only(option: str, values: Sequence[str]) -> str:
    """The one value of an option, "" for none.

    Raises typer.BadParameter for several, because only one could be used.
    """
    if len(values) > 1:
        raise typer.BadParameter(
            f"{', '.join(map(repr, values))}: give one, as this command reads one repository and branch",
            param_hint=option,
        )
    return "".join(values)


def _listed(client: GroundwireClient, version: str) -> list[IndexScope]:
    """The repositories and branches that have a version which the caller sees, the active one for ""; each once."""
    names = dict.fromkeys(
        (index.repository, index.branch)
        for index in client.list_indexes().indexes
        if (index.version == version if version else index.active)
    )
    return [IndexScope(repository=repository, branch=branch) for repository, branch in names]


def _only_scope(listed: Sequence[IndexScope], given_scope: IndexScope, missing: str) -> tuple[str, str]:
    """The repository and branch of the only scope that is one of those asked for; `missing` is the absent option."""
    matching = [scope for scope in listed if is_of(scope, given_scope)]
    if len(matching) == 1:
        return matching[0].repository, matching[0].branch
    if not matching:
        all_listed = _named(listed)
        cure = f"there are: {all_listed}" if all_listed else "the server has no index that you may see"
        given = {"--branch": ("--repository", given_scope.repository), "--repository": ("--branch", given_scope.branch)}
        option, name = given[missing]
        what = f"there is no index of {printable(name)!r}" if name != "*" else "there is no index"
        raise typer.BadParameter(f"{what}; {cure}", param_hint=option if name != "*" else missing)
    raise typer.BadParameter(f"give it, since there are several: {_named(matching)}", param_hint=missing)


def _named(scopes: Iterable[IndexScope]) -> str:
    names = [printable(f"{scope.repository} {scope.branch}") for scope in scopes]
    more = f", and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"{', '.join(names[:_MOST_NAMED])}{more}"
