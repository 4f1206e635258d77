"""The access rules of a file's nodes, by rules over the file's path.

A tree's files do not state who may read them, so an operator does. Every rule that fits a file applies, in whatever
order the rules stand: together they only ever demand more (docs/adr/0053).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from groundwire_index.nodes.node import NodeAccess
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.records import SourceNode, StatedAccess
from groundwire_ingest.tree.folders import folders_above
from groundwire_ingest.tree.ignore import operator_pattern
from groundwire_ingest.tree.ignore_pattern import IgnorePattern

PUBLIC = NodeAccess()


@dataclass(frozen=True, slots=True)
class AccessRule:
    """The demand on the files that a pattern matches, or that are in a folder that it matches.

    `path` is in the syntax of a .gitignore at the tree's root, without `!`. With `allow_no_match` it may match nothing.
    """

    path: str
    demand: NodeAccess
    allow_no_match: bool = False


class AccessRules:
    """The rules of one tree; without any, nodes state no access."""

    def __init__(self, rules: Iterable[AccessRule]) -> None:
        """Raises IngestError for a pattern that is none."""
        self._rules = [(rule, _pattern(rule.path)) for rule in rules]
        self._matched: set[int] = set()
        self._demands: dict[str, NodeAccess] = {}
        self._distinct: frozenset[NodeAccess] = frozenset()
        self._known: dict[NodeAccess, frozenset[NodeAccess | None]] = {}
        self._demands_of_nodes: dict[str, NodeAccess] = {}

    def decide(self, paths: Iterable[str]) -> None:
        """Decides what each file of the tree demands.

        Raises IngestError naming every rule that matches none of them, unless that is allowed: a typing error must not
        publish what a rule was to protect. Raises IngestError also for a file that no caller could ever see.
        """
        of_folders: dict[str, frozenset[int]] = {}
        self._demands = {path: self._decided(path, of_folders) for path in paths}
        self._distinct = frozenset(self._demands.values())
        self._known.clear()
        unused = [rule for number, (rule, _) in enumerate(self._rules) if number not in self._matched]
        unmatched = [rule.path for rule in unused if not rule.allow_no_match]
        if unmatched:
            raise IngestError(
                f"no file matches the access rule{'s' if len(unmatched) > 1 else ''} "
                f"{', '.join(map(repr, unmatched))}; correct the pattern, or allow that with allow_no_match: true"
            )

    def stated(self, node: SourceNode) -> SourceNode:
        """The node with what its file demands; without rules it states nothing."""
        if not self._rules:
            return node
        demand = self._demands[node.path]
        access = StatedAccess(demand.tenant_id, demand.acl_tags, demand.classification_labels, demand.clearance_level)
        return replace(node, access=access)

    def demand_of(self, path: str) -> NodeAccess:
        """The demand on a file that was decided on."""
        return self._demands[path]

    def demand_of_node(self, key: str) -> NodeAccess:
        """The demand on a node that was kept, by its key."""
        return self._demands_of_nodes.get(key, PUBLIC)

    def keep(self, node: SourceNode) -> None:
        """Notes a node of a file that was decided on, for `may_name`."""
        if self._rules:
            self._demands_of_nodes[node.key] = self._demands[node.path]

    def may_read(self, path: str) -> Callable[[str], bool]:
        """True if everybody who may see the nodes of a file may see those of another; both were decided on."""
        known = self._known_beside(self._demands[path])
        return lambda other: self._demands[other] in known

    def may_name(self, key: str) -> Callable[[str], bool]:
        """True if everybody who may see a node that was kept may see another one, both by their keys."""
        if not self._rules:
            return lambda _: True
        demand = self._demands_of_nodes.get(key)
        known = frozenset() if demand is None else self._known_beside(demand)
        return lambda other: self._demands_of_nodes.get(other) in known

    def _known_beside(self, demand: NodeAccess) -> frozenset[NodeAccess | None]:
        """The demands that everybody meets who meets this one."""
        if demand not in self._known:
            self._known[demand] = frozenset(other for other in self._distinct if _merged(other, demand) == demand)
        return self._known[demand]

    def _decided(self, path: str, of_folders: dict[str, frozenset[int]]) -> NodeAccess:
        fitting = self._around(path, of_folders) | self._matching(path, is_folder=False)
        demand = PUBLIC
        for number in sorted(fitting):
            merged = _merged(demand, self._rules[number][0].demand)
            if merged is None:
                raise IngestError(_contradiction(path, [self._rules[each][0] for each in sorted(fitting)]))
            demand = merged
        return demand

    def _around(self, path: str, of_folders: dict[str, frozenset[int]]) -> frozenset[int]:
        """The rules that match a folder around a path, by number; kept for other files in these folders."""
        matched = frozenset[int]()
        for folder in reversed([folder for folder in folders_above(path) if folder]):
            if folder not in of_folders:
                of_folders[folder] = matched | self._matching(folder, is_folder=True)
            matched = of_folders[folder]
        return matched

    def _matching(self, path: str, *, is_folder: bool) -> frozenset[int]:
        """The rules that match a path itself, by number; notes that they match something."""
        matches = enumerate(pattern.matches(path.encode(), is_folder) for _, pattern in self._rules)
        matching_rules = frozenset(number for number, is_match in matches if is_match)
        self._matched |= matching_rules
        return matching_rules


def _pattern(path: str) -> IgnorePattern:
    pattern = operator_pattern(path)
    if pattern.includes:
        raise IngestError(f"the access rule {path!r} starts with `!`; a rule only adds demands: name what it protects")
    return pattern


def _merged(access: NodeAccess, other: NodeAccess) -> NodeAccess | None:
    """The demand that includes both; None where no node can express it.

    A node lists tags, and a caller needs one of them. So both demands together leave the tags in both: a caller with
    one of these meets both demands. Where there is no such tag, or two tenants are asked for, no node could say it.
    """
    if access.tenant_id and other.tenant_id and access.tenant_id != other.tenant_id:
        return None
    tags = access.acl_tags or other.acl_tags
    if access.acl_tags and other.acl_tags:
        tags = tuple(tag for tag in access.acl_tags if tag in other.acl_tags)
        if not tags:
            return None
    return NodeAccess(
        tenant_id=access.tenant_id or other.tenant_id,
        acl_tags=tags,
        classification_labels=(*access.classification_labels, *other.classification_labels),
        clearance_level=max(access.clearance_level, other.clearance_level),
    )


def _contradiction(path: str, rules: Sequence[AccessRule]) -> str:
    demands = " and ".join(
        f"{rule.path!r} (tenant {rule.demand.tenant_id!r}, tags {list(rule.demand.acl_tags)})" for rule in rules
    )
    return (
        f"{path}: the access rules {demands} have no tag in common, or different tenants, so no caller could see the "
        "file; add the tags of the narrower rule to the wider one, or demand classification labels, which add up"
    )
