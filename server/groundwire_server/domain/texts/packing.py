"""In which order nodes compete for a text budget, and packing whole texts into it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from groundwire_server.domain.response_size import of_skipped, of_text
from groundwire_server.domain.texts.texts import PrioritizationMode, RequestedText, SkippedNode, SkipReason, TextSize


def prioritize(
    seed_ids: Sequence[str], nodes: Sequence[RequestedText], mode: PrioritizationMode
) -> tuple[RequestedText, ...]:
    """Orders the distinct seeds and graph nodes for packing. A node that is a seed as well counts as the seed.

    The order depends on the request alone, never on what the index holds, so that a hidden node changes nothing.
    """
    seeds = [RequestedText(seed_id, depth=0, parent_id="", is_seed=True) for seed_id in dict.fromkeys(seed_ids)]
    seed_set = {seed.id for seed in seeds}
    by_id = {node.id: node for node in nodes if node.id not in seed_set}
    graph = sorted(by_id.values(), key=lambda graph_node: (graph_node.depth, graph_node.id))
    if mode is PrioritizationMode.SEED_FIRST:
        return (*seeds, *graph)
    if mode is PrioritizationMode.GRAPH_FIRST:
        return _group_by_seed(seeds, graph, by_id)
    pairs = zip_longest(seeds, graph)
    return tuple(graph_node for graph_node in chain.from_iterable(pairs) if graph_node is not None)


def _group_by_seed(
    seeds: Sequence[RequestedText], graph: Sequence[RequestedText], by_id: Mapping[str, RequestedText]
) -> tuple[RequestedText, ...]:
    roots = _roots({seed.id for seed in seeds}, by_id)
    groups: dict[str | None, list[RequestedText]] = {seed.id: [seed] for seed in seeds}
    groups[None] = []
    for node in graph:
        groups[roots[node.id]].append(node)
    return tuple(chain.from_iterable(groups.values()))


def _roots(seed_ids: set[str], by_id: Mapping[str, RequestedText]) -> dict[str, str | None]:
    """The seed that each node's parent chain ends at; None for a chain that ends elsewhere or in a circle."""
    roots: dict[str, str | None] = {}
    for start in by_id:
        trail: dict[str, None] = {}
        current = start
        while current in by_id and current not in roots and current not in trail:
            trail[current] = None
            current = by_id[current].parent_id
        root = roots.get(current, current if current in seed_ids else None)
        roots.update(dict.fromkeys(trail, root))
    return roots


@dataclass(frozen=True, slots=True)
class Budget:
    """How much may be packed. Exactly one of tokens and characters bounds the texts; bytes bound the response."""

    tokens: int | None
    chars: int | None
    response_bytes: int


@dataclass(frozen=True, slots=True)
class Packing:
    """The requested whose texts fit, in order, the others with their reason, and what the texts use."""

    chosen: tuple[RequestedText, ...]
    skipped: tuple[SkippedNode, ...]
    used_tokens: int
    used_chars: int


def pack(requested: Sequence[RequestedText], sizes: Mapping[str, TextSize], budget: Budget) -> Packing:
    """Takes requested in order as long as each fits what is left; one that does not fit is skipped, never cut.

    A text that fits the budget but not the response keeps its part of the budget for another call. So this call and one
    for the texts left out, with the rest of the budget, return the texts of a larger response. `sizes` holds the
    available requested. Every one's id counts towards `response_bytes`, chosen or skipped, so that the encoded answer
    stays within it.
    """
    chosen: list[RequestedText] = []
    skipped: list[SkippedNode] = []
    spent = TextSize(0, 0, sum(of_skipped(node.id) for node in requested))
    for node in requested:
        size = sizes.get(node.id)
        if size is None:
            skipped.append(SkippedNode(node.id, SkipReason.UNAVAILABLE))
            continue
        tokens, chars = spent.tokens + size.tokens, spent.chars + size.chars
        if _exceeds(tokens, budget.tokens) or _exceeds(chars, budget.chars):
            skipped.append(SkippedNode(node.id, SkipReason.OVER_BUDGET))
            continue
        response = spent.bytes + of_text(size.bytes, node.id, node.parent_id)
        if response > budget.response_bytes:
            skipped.append(SkippedNode(node.id, SkipReason.RESPONSE_LIMIT))
            response = spent.bytes
        else:
            chosen.append(node)
        spent = TextSize(tokens, chars, response)
    used = [sizes[node.id] for node in chosen]
    return Packing(tuple(chosen), tuple(skipped), sum(size.tokens for size in used), sum(size.chars for size in used))


def _exceeds(spent: int, limit: int | None) -> bool:
    return limit is not None and spent > limit
