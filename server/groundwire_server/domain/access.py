"""Who may see what (design §4). Pure rules; evaluated per policy class, never per node."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class NodeAccess:
    """What a node demands of a caller.

    Defaults describe a public node: no tenant, no tags, no labels, level 0 (which means "absent").
    Tags and labels are kept sorted and unique, so equal demands compare equal.
    """

    tenant_id: str = ""
    acl_tags: tuple[str, ...] = ()
    classification_labels: tuple[str, ...] = ()
    clearance_level: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "acl_tags", tuple(sorted(set(self.acl_tags))))
        object.__setattr__(self, "classification_labels", tuple(sorted(set(self.classification_labels))))


@dataclass(frozen=True, slots=True)
class AccessContext:
    """What a caller holds. The default holds nothing and so sees public nodes only."""

    tenant_id: str = ""
    acl_tags_any: frozenset[str] = field(default_factory=frozenset)
    classification_labels_all: frozenset[str] = field(default_factory=frozenset)
    clearance_level: int = 0


def may_see(node: NodeAccess, caller: AccessContext) -> bool:
    """True when all four rules of design §4 hold: tenant, ACL tags, classification, clearance."""
    tenant_admits = not node.tenant_id or node.tenant_id == caller.tenant_id
    tags_admit = not node.acl_tags or not caller.acl_tags_any.isdisjoint(node.acl_tags)
    labels_admit = caller.classification_labels_all.issuperset(node.classification_labels)
    level_admits = node.clearance_level <= caller.clearance_level
    return tenant_admits and tags_admit and labels_admit and level_admits
