"""Chooses the texts that the evidence shows, how much of each, and the nodes that it names, within a budget."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from groundwire_client import GraphEdge, NodeText
from groundwire_pipelines.messages import distinct
from groundwire_pipelines.rendering import layout
from groundwire_pipelines.rendering.excerpt import excerpt, whole
from groundwire_pipelines.rendering.shown import EvidenceNode, Excerpt, Selection, ShownText
from groundwire_pipelines.runtime import Counter

_SHARES = 14
"""The best text may at first take 1/14 of the budget, the next one 1/15, and so on."""
_LEAST_SHARE = 70
"""The least share of a text, in tokens, as long as they are left."""
_LEAST_TOKENS = 40
"""The fewest tokens of a long text that are worth showing."""
_NAMES_SHARE = 40
"""Names of nodes without texts may take 1/40 of the budget: about four of them at 4,000 tokens."""
_LEAST_NAME = 4
"""The fewest tokens of a row of the table."""


@dataclass(frozen=True, slots=True)
class Found:
    """All texts and nodes that may be shown.

    Attributes:
        texts: The texts, the best first.
        nodes: All nodes, those of the texts among them, the best first.
        edges: The edges between them to show.
        names_nodes: Whether nodes without a text are named, with their edges.
        handles: The handles of texts in earlier evidence, by id.
        words: The stems of the question's words.
    """

    texts: Sequence[NodeText]
    nodes: Sequence[EvidenceNode]
    edges: Sequence[GraphEdge]
    names_nodes: bool
    handles: Mapping[str, int]
    words: Collection[str]


def select_all(found: Found, counter: Counter) -> Selection:
    """All texts, whole, and all other nodes by name if nodes are named at all."""
    numbers = _Numbers(found.handles)
    shown = [ShownText(numbers.take(text.id), text, whole(text, counter)) for text in found.texts]
    ids = {text.id for text in found.texts}
    rest = tuple(node for node in found.nodes if node.id not in ids)
    return Selection(tuple(shown), rest) if found.names_nodes else Selection(tuple(shown), more=len(rest))


def select_within(found: Found, budget: int, counter: Counter) -> Selection:
    """As much as fits the budget, in tokens of `layout.blocks` with empty lines between them.

    Texts are taken in their order. The share of each is smaller the more texts precede it; of a longer text the parts
    that fit the question are shown. Tokens that are left at the end go to shortened texts, best first. A text is
    omitted if another one of its file shows all of it, or if neither it nor a part of it fits; those after it are still
    considered. Nodes without a text in the evidence are named, those joined to a text by an edge first, within a small
    share of the budget.
    """
    packing = _Packing(found, budget, counter)
    packing.show()
    if found.names_nodes:
        packing.name()
    packing.lengthen()
    selection = packing.selection()
    while selection.texts and counter.count("\n\n".join(layout.blocks(selection, found.edges))) > budget:
        # A text counted as a whole may take a few tokens more than the sum of its parts.
        selection = _without_last(selection)
    return selection


def _without_last(selection: Selection) -> Selection:
    more = selection.more + 1
    if selection.named:
        return Selection(selection.texts, selection.named[:-1], more)
    return Selection(selection.texts[:-1], (), more)


class _Numbers:
    """Handles: a text keeps its handle, and a new text gets the next unused one."""

    def __init__(self, handles: Mapping[str, int]) -> None:
        self._handles = dict(handles)
        self._last = max(handles.values(), default=0)

    def of(self, node_id: str) -> int:
        """The handle that a text has, or would get."""
        return self._handles.get(node_id, self._last + 1)

    def take(self, node_id: str) -> int:
        """Gives a text its handle."""
        number = self._handles[node_id] = self.of(node_id)
        self._last = max(self._last, number)
        return number


class _Packing:
    def __init__(self, found: Found, budget: int, counter: Counter) -> None:
        self._found, self._budget, self._counter = found, budget, counter
        self._numbers = _Numbers(found.handles)
        self._shown: list[ShownText] = []
        self._named: list[EvidenceNode] = []
        self._within: set[str] = set()
        self._files: set[str] = set()
        self._places: dict[str, EvidenceNode] = {}
        self._edges: dict[str, list[GraphEdge]] = {}
        for edge in sorted(
            distinct(found.edges), key=lambda edge: (edge.from_id, edge.to_id, edge.edge_type, edge.line)
        ):
            for end in dict.fromkeys((edge.from_id, edge.to_id)):
                self._edges.setdefault(end, []).append(edge)
        self._for_names = budget // _NAMES_SHARE if found.names_nodes else 0
        # The number of further nodes takes a line of its own, unless everything fits.
        self._left = budget - self._for_names - counter.count(f"{layout.more_line(len(found.nodes))}\n")

    def selection(self) -> Selection:
        """The result."""
        told = {*self._places, *(node.id for node in self._named), *self._within}
        more = sum(node.id not in told for node in self._found.nodes)
        return Selection(tuple(self._shown), tuple(self._named), more)

    def show(self) -> None:
        """Takes texts, or parts of them."""
        for text in self._found.texts:
            if text.id in self._places:
                continue
            if self._is_within_another(text):
                self._within.add(text.id)
            else:
                self._show(text)

    def name(self) -> None:
        """Takes names of nodes without a text: those inside a shown text, then those joined to one, then others."""
        rest = [node for node in self._found.nodes if node.id not in self._places]
        left = self._for_names
        for node in sorted(rest, key=lambda node: (node.id not in self._within, not self._is_joined(node))):
            if left < _LEAST_NAME:
                break
            tokens = self._row_tokens(node, layout.links_of(node, self._places, self._edges.get(node.id, ())))
            if tokens <= left:
                left -= tokens
                self._named.append(node)
                self._files.add(layout.file_line(node))
        self._left += left

    def lengthen(self) -> None:
        """Gives the remaining tokens to the texts that are shown in part."""
        for place, one in enumerate(self._shown):
            if one.excerpt.is_whole:
                continue
            most = one.excerpt.tokens + self._left
            longer = excerpt(one.node, self._found.words, most, self._counter)
            growth = self._tokens(longer) - self._tokens(one.excerpt) if longer is not None else 0
            if longer is not None and 0 < growth <= self._left:
                self._left -= growth
                self._shown[place] = replace(one, excerpt=longer)

    def _show(self, text: NodeText) -> None:
        node = EvidenceNode.of(text, self._numbers.of(text.id))
        overhead = self._overhead(node)
        if overhead >= self._left:
            return
        share = max(self._budget // (_SHARES + len(self._shown)), _LEAST_SHARE)
        part = excerpt(text, self._found.words, min(share, self._left - overhead), self._counter)
        if part is None or (not part.is_whole and part.source_tokens < _LEAST_TOKENS):
            return
        taken = overhead + self._tokens(part)
        if taken > self._left:
            return
        self._left -= taken
        self._files.add(layout.file_line(node))
        self._places[text.id] = node
        self._shown.append(ShownText(self._numbers.take(text.id), text, part))

    def _tokens(self, part: Excerpt) -> int:
        """The tokens of a part, and what its fences take more than the shortest ones."""
        longer = self._counter.count(layout.fence(part.text)) - self._counter.count(layout.fence(""))
        return part.tokens + 2 * longer

    def _is_within_another(self, text: NodeText) -> bool:
        """Whether a shown text of the same file contains all of the text, as a type may contain a member."""
        own = text.text.strip()
        return any(own in one.excerpt.text for one in self._shown if one.node.location.path == text.location.path != "")

    def _is_joined(self, node: EvidenceNode) -> bool:
        """Whether an edge joins the node to a text that is shown."""
        return any(end in self._places for edge in self._edges.get(node.id, ()) for end in (edge.from_id, edge.to_id))

    def _overhead(self, node: EvidenceNode) -> int:
        """The tokens of a text besides its own: its row of the table, short fences, and edges to shown texts."""
        places = {**self._places, node.id: node}
        links = (
            f", {edge.edge_type} {layout.link(edge, places[edge.to_id], places[edge.to_id])}"
            for edge in self._edges.get(node.id, ())
            if edge.from_id in places and edge.to_id in places
        )
        fences = self._counter.count(f"```[{node.handle}]\n```\n\n")
        return self._row_tokens(node, " →") + fences + sum(map(self._counter.count, links))

    def _row_tokens(self, node: EvidenceNode, links: str) -> int:
        """The tokens of a node in the table: its row, and the line of its file if that is new."""
        file = layout.file_line(node)
        row = self._counter.count(f"{layout.row(node)}{links}\n")
        return row + (0 if file in self._files else self._counter.count(f"{file}\n"))
