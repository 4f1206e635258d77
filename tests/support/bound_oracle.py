"""What a caller's bounds leave, judged node by node and apart from the product's rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from groundwire_index.nodes.node import JsonValue, Node
from groundwire_server.domain.access.access import Bounds
from groundwire_server.domain.access.name_sets import Names

VALUES = ("", "", "red", "reed", "blue", "ré", '"r')
Patterns = Sequence[str] | None


@dataclass(frozen=True)
class Bound:
    """Bounds as an operator writes them, a `*` at the end for any ending; None binds to nothing."""

    collections: Patterns
    cases: Patterns
    documents: Patterns
    workflows: Patterns
    versions: Patterns

    @property
    def bounds(self) -> Bounds:
        """The same for the product."""
        return Bounds(*map(_names, (self.collections, self.cases, self.documents, self.workflows, self.versions)))

    def admits(
        self, collection: str, case: str, document: str, version: str, metadata: Mapping[str, JsonValue]
    ) -> bool:
        """Whether a node with these values is within all of them."""
        stated = metadata.get("workflow_id")
        workflows = [
            workflow for workflow in (stated if isinstance(stated, list) else [stated]) if isinstance(workflow, str)
        ]
        values = (
            *((self.collections, [collection]), (self.cases, [case]), (self.documents, [document])),
            *((self.versions, [version]), (self.workflows, workflows)),
        )
        return all(_one_of(patterns, of_node) for patterns, of_node in values)

    def admits_node(self, node: Node) -> bool:
        """Whether a node is within all of them."""
        return self.admits(node.collection_id, node.case_id, node.document_id, node.document_version_id, node.metadata)


UNBOUND = Bound(None, None, None, None, None)
patterns = st.none() | st.lists(st.sampled_from(("red", "re*", "blue", "r*", "*", '"*', "absent")), max_size=2)
bounds = st.just(UNBOUND) | st.builds(Bound, *[patterns] * 5)
workflows = st.sampled_from(
    ({}, {"workflow_id": "red"}, {"workflow_id": ""}, {"workflow_id": ["blue", "reed", ""]}, {"workflow_id": 7})
)


def _names(patterns: Patterns) -> Names | None:
    return None if patterns is None else Names.parse(patterns)


def _one_of(patterns: Patterns, values: Sequence[str]) -> bool:
    if patterns is None:
        return True
    starts = [pattern[:-1] for pattern in patterns if pattern[-1:] == "*"]
    whole = [pattern for pattern in patterns if pattern[-1:] != "*"]
    return any(value and (value in whole or any(value.startswith(start) for start in starts)) for value in values)
