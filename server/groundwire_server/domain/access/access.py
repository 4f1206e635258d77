"""The access rules of nodes. Pure rules: demands are judged per policy class, bounds by a node's own values."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Final, Self

from groundwire_index.nodes.node import NodeAccess
from groundwire_server.domain.access.name_sets import Names


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of a caller; None sets no limit, and an empty set leaves nothing.

    A node is within a bound when its value is among the names. One without a value never is: nothing says that it
    belongs to what the caller is limited to.
    """

    collections: Names | None = None
    cases: Names | None = None
    documents: Names | None = None
    workflows: Names | None = None
    document_versions: Names | None = None

    @property
    def bind(self) -> bool:
        """True if any of them does."""
        return self != type(self)()

    def narrowed(self, requested: Self) -> Self:
        """The limits that both set; the names of `requested` are listed, none of them open."""
        return type(self)(**{name: _narrowed(getattr(self, name), getattr(requested, name)) for name in BOUNDS})

    @property
    def by_field(self) -> Mapping[str, Names]:
        """Those that are set and compare a field of a node, by the field; workflows are in its metadata."""
        compared = {
            "collection_id": self.collections,
            "case_id": self.cases,
            "document_id": self.documents,
            "document_version_id": self.document_versions,
        }
        return {name: names for name, names in compared.items() if names is not None}


UNBOUND = Bounds()
"""What sets a caller no limit."""
BOUNDS: Final = tuple(bound.name for bound in fields(Bounds))
"""The names of all bounds, which the contract, mapping files and audit records have too."""


def _narrowed(granted: Names | None, requested: Names | None) -> Names | None:
    if granted is None or requested is None:
        return requested if granted is None else granted
    return Names(granted.among(requested.listed))


@dataclass(frozen=True, slots=True)
class AccessContext:
    """The access that a caller holds, and its limits. The default holds nothing and so sees public nodes only."""

    tenant_id: str = ""
    acl_tags_any: frozenset[str] = field(default_factory=frozenset)
    classification_labels_all: frozenset[str] = field(default_factory=frozenset)
    clearance_level: int = 0
    bounds: Bounds = UNBOUND


def may_see(node: NodeAccess, caller: AccessContext) -> bool:
    """True when all four demands are met: tenant, ACL tags, classification, clearance. Bounds are not judged here."""
    tenant_met = not node.tenant_id or node.tenant_id == caller.tenant_id
    tags_met = not node.acl_tags or not caller.acl_tags_any.isdisjoint(node.acl_tags)
    labels_met = caller.classification_labels_all.issuperset(node.classification_labels)
    level_met = node.clearance_level <= caller.clearance_level
    return tenant_met and tags_met and labels_met and level_met
