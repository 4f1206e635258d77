"""The grant of a caller's identity, and how a request narrows it. Pure rules."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from groundwire_index.scope import SEPARATOR, Scope
from groundwire_server.domain.access.access import UNBOUND, AccessContext, Bounds
from groundwire_server.domain.access.name_sets import ANY, NO_NAMES, Names
from groundwire_server.domain.errors import PermissionDeniedError, Reason

MAX_CLEARANCE_LEVEL = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Scopes:
    """A set of repositories and branches: the pairs listed, and the pairs of names in one of `patterns`."""

    listed: frozenset[tuple[str, str]] = frozenset()
    patterns: tuple[tuple[Names, Names], ...] = ()

    @classmethod
    def parse(cls, patterns: Iterable[str]) -> Self:
        """Scopes as an operator writes them, such as `shop::feature/*`. Raises ValueError."""
        return cls(patterns=tuple(pair for text in patterns for pair in cls.of(Scope(*split_scope(text))).patterns))

    @classmethod
    def of(cls, pattern: Scope) -> Self:
        """The scopes that one means whose names may end in `*`."""
        return cls(patterns=((Names.parse([pattern.repository]), Names.parse([pattern.branch])),))

    def includes(self, repository: str, branch: str) -> bool:
        """True if the pair is in this set."""
        return (repository, branch) in self.listed or any(
            repository in repositories and branch in branches for repositories, branches in self.patterns
        )

    def names_repository(self, repository: str) -> bool:
        """True if a branch of the repository may be in this set."""
        return any(repository == listed for listed, _ in self.listed) or any(
            repository in repositories for repositories, _ in self.patterns
        )

    def united(self, other: Self) -> Self:
        """The scopes of both."""
        return type(self)(self.listed | other.listed, (*self.patterns, *other.patterns))


def is_pattern(scope: Scope) -> bool:
    """True if the repository or the branch of a scope ends in `*`, for any ending."""
    return ANY in (scope.repository[-1:], scope.branch[-1:])


def split_scope(text: str) -> tuple[str, str]:
    """Repository and branch of `<repository>::<branch>`. Raises ValueError."""
    repository, separator, branch = text.partition(SEPARATOR)
    if not (repository and separator and branch) or SEPARATOR in branch:
        raise ValueError("must be <repository>::<branch>")
    return repository, branch


@dataclass(frozen=True, slots=True)
class Grant:
    """The most that one identity may see, name and do. The default grants public nodes of no scope.

    `bounds` hold its caller to collections, cases, documents and workflows; the default binds to none.
    """

    tenants: Names = NO_NAMES
    acl_tags: Names = NO_NAMES
    classification_labels: Names = NO_NAMES
    clearance_level: int = 0
    scopes: Scopes = Scopes()
    administration: Scopes = Scopes()
    bounds: Bounds = UNBOUND


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a call, and the grant of its identity.

    `subject` names the identity for operators and for what is shared out among callers: the subject of a token, or the
    name in a certificate. It is empty where callers are not distinguished.
    """

    subject: str
    grant: Grant


_ANY_NAME = Names(prefixes=("",))
ANY_SCOPE = Scopes(patterns=((_ANY_NAME, _ANY_NAME),))
"""Every repository and branch."""

UNLIMITED = Grant(_ANY_NAME, _ANY_NAME, _ANY_NAME, MAX_CLEARANCE_LEVEL, ANY_SCOPE, ANY_SCOPE)
"""Every request holds what it says that it holds."""

ANYBODY = Caller("", UNLIMITED)
"""The caller of a server that leaves it to the mesh to know its callers."""


def narrowed(grant: Grant, requested: AccessContext | None) -> AccessContext:
    """The access of a caller that asks with `requested`: never more than the grant, and never more than the request.

    A tag, label or level counts if both have it, and so does a value of a bound. A bound that only one of them has
    applies unchanged. Raises PermissionDeniedError for a tenant that is not granted.
    """
    if requested is None:
        return _held(grant)
    if requested.tenant_id and requested.tenant_id not in grant.tenants:
        raise PermissionDeniedError(
            Reason.TENANT_NOT_GRANTED,
            "access.tenant_id: your identity does not grant this tenant; name one that it grants, or none",
            {"field": "access.tenant_id"},
        )
    return AccessContext(
        tenant_id=requested.tenant_id,
        acl_tags_any=grant.acl_tags.among(requested.acl_tags_any),
        classification_labels_all=grant.classification_labels.among(requested.classification_labels_all),
        clearance_level=min(grant.clearance_level, requested.clearance_level),
        bounds=grant.bounds.narrowed(requested.bounds),
    )


def _held(grant: Grant) -> AccessContext:
    """The access of the caller of a request without an access context.

    Endings left open are not held: they bound what a request may name, and this one names nothing. For the same reason
    no tenant is chosen among several, and no level where any is granted. Bounds open nothing: they stay as they are.
    """
    only_tenant = len(grant.tenants.listed) == 1 and not grant.tenants.prefixes
    return AccessContext(
        tenant_id=next(iter(grant.tenants.listed)) if only_tenant else "",
        acl_tags_any=grant.acl_tags.listed,
        classification_labels_all=grant.classification_labels.listed,
        clearance_level=0 if grant.clearance_level == MAX_CLEARANCE_LEVEL else grant.clearance_level,
        bounds=grant.bounds,
    )
