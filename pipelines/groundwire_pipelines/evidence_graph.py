"""The nodes that all retrievals of a question found, and the edges between them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import TypeVar

from groundwire_client import DependencyPath, GraphEdge, NodeText, ServiceContext, scope_of_id
from groundwire_pipelines.evidence_nodes import EvidenceNode, distinct
from groundwire_pipelines.state import PipelineState

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class EvidenceGraph:
    """The nodes that were found or reached, best first, and all known edges between two of them.

    A node's `handle` is that of its text in the evidence, None if the evidence shows no text of it.
    """

    nodes: tuple[EvidenceNode, ...] = ()
    edges: tuple[GraphEdge, ...] = ()


def graph_of(state: PipelineState) -> EvidenceGraph:
    """The graph of all retrievals of the question."""
    handles = {shown_text.node.id: shown_text.handle for shown_text in state.shown}
    nodes = tuple(replace(node, handle=handles.get(node.id)) for node in nodes_of(state))
    return EvidenceGraph(nodes, edges_of(state))


def texts_of(state: PipelineState) -> list[NodeText]:
    """The texts of all retrievals, each once: the best of each, that of the newest first, then the second best, ..."""
    first: dict[str, NodeText] = {}
    for text in in_turn([retrieval.texts for retrieval in reversed(state.retrievals())]):
        first.setdefault(text.id, text)
    return list(first.values())


def nodes_of(state: PipelineState) -> list[EvidenceNode]:
    """All nodes, each once: those of `texts_of`, then the others in the same order.

    A node's symbol and location are those of its text, else those of the walk, the paths or the last search; empty if
    none of these has it.
    """
    newest_first = state.retrievals()[::-1]
    texts = {text.id: EvidenceNode.of(text) for text in texts_of(state)}
    walked = {node.id: EvidenceNode.of(node) for retrieval in newest_first for node in retrieval.walked}
    on_paths = {node.id: EvidenceNode.of(node) for retrieval in newest_first for node in retrieval.path_nodes}
    hits = {hit.id: EvidenceNode.of(hit) for hit in state.retrieval_hits}
    known = {**hits, **on_paths, **walked, **texts}
    others = in_turn([[*earlier.seeds, *(node.id for node in earlier.walked)] for earlier in newest_first])
    nodes = [known.get(id_) or EvidenceNode(id_) for id_ in dict.fromkeys([*texts, *others])]
    return [replace(node, scope=scope_of_id(node.id)) for node in nodes] if state.scopes else nodes


def edges_of(state: PipelineState) -> tuple[GraphEdge, ...]:
    """The edges of all retrievals, each once, oldest first."""
    return tuple(distinct(edge for retrieval in state.retrievals() for edge in retrieval.edges))


def paths_of(state: PipelineState) -> list[DependencyPath]:
    """The paths of all retrievals, each once, those of the newest first."""
    return distinct(path for retrieval in reversed(state.retrievals()) for path in retrieval.paths)


def services_of(state: PipelineState) -> list[ServiceContext]:
    """The services around the matches of all retrievals, each once, those of the newest first."""
    first: dict[str, ServiceContext] = {}
    for service in (context for retrieval in reversed(state.retrievals()) for context in retrieval.services):
        first.setdefault(service.service_name, service)
    return list(first.values())


def in_turn(lists: Iterable[Iterable[_Item]]) -> Iterable[_Item]:
    """The first item of each, then the second of each, and so on; items must not be None."""
    return (item for item in chain.from_iterable(zip_longest(*lists)) if item is not None)
