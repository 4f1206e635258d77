"""Scopes and canonical node ids."""

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote

SEPARATOR = "::"
MAX_NAME_LENGTH = 200
MAX_ID_LENGTH = 2048

_NAME = re.compile(r"[^\x00-\x1f\x7f:\ud800-\udfff]+(?::[^\x00-\x1f\x7f:\ud800-\udfff]+)*")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,127}")
_KIND = re.compile(r"[a-z][a-z0-9_]{0,31}")


@dataclass(frozen=True, slots=True)
class Scope:
    """Where an id is unique: a repository and branch, and optionally a pinned index version.

    An empty `active_index` means the version that is active when the call is answered.
    """

    repository: str
    branch: str
    active_index: str = ""

    @property
    def names(self) -> dict[str, str]:
        """The three names by field: the metadata of errors that speak of a version."""
        return {"repository": self.repository, "branch": self.branch, "active_index": self.active_index}


def name_problem(name: str) -> str | None:
    """The rule that a repository or branch name breaks; None for a valid name."""
    if not name:
        return "must not be empty"
    if name.strip() != name or not _NAME.fullmatch(name):
        return "must hold no control characters, no '::' and no leading or trailing space or colon"
    length = len(escaped(name))
    if length > MAX_NAME_LENGTH:
        return (
            f"is {length} characters long when every byte but letters, digits and '_.-~' counts three; "
            f"at most {MAX_NAME_LENGTH} are allowed"
        )
    return None


def escaped(name: str) -> str:
    """A repository or branch name as one path component: never hidden, never `..`, never with a separator."""
    quoted = quote(name, safe="")
    return f"%2E{quoted[1:]}" if quoted.startswith(".") else quoted


def unescaped(component: str) -> str | None:
    """The name whose `escaped` form this path component is; None for a component that no name has."""
    name = unquote(component)
    return name if not name_problem(name) and escaped(name) == component else None


def version_problem(version: str) -> str | None:
    """The rule that an index version's name breaks; None for a valid name."""
    if _VERSION.fullmatch(version):
        return None
    return "must be 1 to 128 letters, digits, '.', '_', '+' or '-', starting with a letter or digit"


def kind_problem(kind: str) -> str | None:
    """The rule that a node kind breaks; None for a valid kind."""
    if _KIND.fullmatch(kind):
        return None
    return "must be 1 to 32 of a-z, 0-9 and '_', starting with a letter"


def canonical_id(scope: Scope, kind: str, local_id: str) -> str:
    """`<repository>::<branch>::<kind>::<local id>`: stable from one index version to the next."""
    return SEPARATOR.join((scope.repository, scope.branch, kind, local_id))


def id_prefix(scope: Scope) -> str:
    """The beginning of the ids of a scope's nodes, and of no others."""
    return SEPARATOR.join((scope.repository, scope.branch, ""))


def node_key(kind: str, local_id: str) -> str:
    """`<kind>::<local id>`: a node's name within its scope, as JSONL edges use it."""
    return f"{kind}{SEPARATOR}{local_id}"
