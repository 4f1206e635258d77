"""Chooses the texts that the evidence shows, how much of each, and the nodes that it names, within a budget."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from groundwire_client import GraphEdge, NodeText, scope_of_id
from groundwire_pipelines.rendering import layout
from groundwire_pipelines.rendering.excerpt import excerpt, whole
from groundwire_pipelines.rendering.shown import EvidenceNode, Excerpt, Selection, ShownText, distinct
from groundwire_pipelines.runtime import Counter

_SHARES = 14
"""The best text may at first take 1/14 of the budget, the next one 1/15, and so on."""
_LEAST_SHARE = 80
"""The least share of a text, in tokens, as long as they are left."""
_LEAST_TOKENS = 40
"""The fewest tokens of a long text that are worth showing."""
_NAMES_SHARE = 40
"""Names of nodes without texts may take 1/40 of the budget: about four of them at 4,000 tokens."""
_EARLIER_SHARE = 4
"""Names of nodes whose texts earlier evidence showed may take 1/4 of the budget."""
_LEAST_NAME = 4
"""The fewest tokens of a row of the table."""


@dataclass(frozen=True, slots=True)
class Found:
    """All texts and nodes that may be shown.

    Attributes:
        texts: The texts, the best first.
        nodes: All nodes, those of the texts among them, the best first.
        edges: The edges between them to show.
        names_nodes: True to name nodes without a text, with their edges.
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
    """All texts, whole, but for parts of others, and all other nodes by name if nodes are named at all."""
    nodes = {node.id: node for node in found.nodes}
    parts = [ShownText(0, text, whole(text, counter), nodes[text.id].scope) for text in found.texts]
    shown = _with_handles((one for one in parts if not _is_within(one.node, parts)), found.handles)
    ids = {one.node.id for one in shown}
    rest = tuple(node for node in found.nodes if node.id not in ids)
    return Selection(shown, rest) if found.names_nodes else Selection(shown, more=len(rest))


def select_within(found: Found, budget: int, counter: Counter) -> Selection:
    """As much as fits the budget, in tokens of `layout.blocks` with empty lines between them.

    Texts are taken in their order. The share of each is smaller the more texts precede it; of a longer text the parts
    that fit the question are shown. Tokens that are left at the end go to shortened texts, best first. A text is
    omitted if another one of its file shows all of it, or if neither it nor a part of it fits; those after it are still
    considered. Nodes without a text in the evidence are named. First come those that earlier evidence showed, within a
    quarter of the budget. Then come those joined to a text by an edge, within a small share.
    """
    packing = _Packing(found, budget, counter)
    packing.show()
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


def _with_handles(shown: Iterable[ShownText], handles: Mapping[str, int]) -> tuple[ShownText, ...]:
    numbers = _Numbers(handles)
    return tuple(replace(one, handle=numbers.take(one.node.id)) for one in shown)


def _is_within(text: NodeText, shown: Iterable[ShownText]) -> bool:
    """True if another text of the same file shows all of a text, as a type may show a member.

    Of two equal texts, the first shows all of the second.
    """
    own = text.text.strip()
    is_first = False
    for one in shown:
        is_first = is_first or one.node.id == text.id
        is_other_file = one.node.location.path != text.location.path or scope_of_id(one.node.id) != scope_of_id(text.id)
        if one.node.id == text.id or is_other_file or not text.location.path:
            continue
        if own in one.excerpt.text and not (is_first and own == one.node.text.strip()):
            return True
    return False


class _Packing:
    def __init__(self, found: Found, budget: int, counter: Counter) -> None:
        self._found, self._budget, self._counter = found, budget, counter
        self._numbers = _Numbers(found.handles)
        self._shown: list[ShownText] = []
        self._named: list[EvidenceNode] = []
        self._within: set[str] = set()
        self._places: dict[str, EvidenceNode] = {}
        self._nodes = {node.id: node for node in found.nodes}
        self._edges: dict[str, list[GraphEdge]] = {}
        for edge in sorted(
            distinct(found.edges), key=lambda edge: (edge.from_id, edge.to_id, edge.edge_type, edge.line)
        ):
            for end in dict.fromkeys((edge.from_id, edge.to_id)):
                self._edges.setdefault(end, []).append(edge)
        self._for_names = budget // _NAMES_SHARE if found.names_nodes else 0
        self._for_earlier = self._earlier(budget // _EARLIER_SHARE)
        # The number of further nodes takes a line of its own, unless everything fits.
        self._left = budget - self._for_names - counter.count(f"{layout.more_line(len(found.nodes))}\n")
        self._left -= sum(self._for_earlier.values())

    def selection(self) -> Selection:
        """The result."""
        told = {*self._places, *(node.id for node in self._named), *self._within}
        more = sum(node.id not in told for node in self._found.nodes)
        return Selection(_with_handles(self._shown, self._found.handles), tuple(self._named), more)

    def show(self) -> None:
        """Takes texts, or parts of them, until none of them is part of another one."""
        is_done = False
        while not is_done:
            for text in self._found.texts:
                if text.id in self._places or text.id in self._within:
                    continue
                if _is_within(text, self._shown):
                    self._within.add(text.id)
                else:
                    self._show(text)
            self.lengthen()
            is_done = not self._drop_parts()

    def name(self) -> None:
        """Takes names of nodes without a text.

        First come those that earlier evidence showed, for which tokens are kept, then those inside a shown text, then
        those joined to one, then others.
        """
        handles = self._found.handles
        rest = [
            replace(node, handle=handles.get(node.id))
            for node in self._found.nodes
            if node.id not in self._places and (self._found.names_nodes or node.id in self._for_earlier)
        ]
        left = self._for_names + sum(self._for_earlier.values())
        for node in sorted(
            rest,
            key=lambda node: (node.id not in self._for_earlier, node.id not in self._within, not self._is_joined(node)),
        ):
            tokens = self._row_tokens(
                node, layout.links_of([node], self._places, self._edges.get(node.id, ()))[node.id]
            )
            # The edges of an earlier text's row are not reserved.
            if tokens <= left + (self._left if node.id in self._for_earlier else 0):
                left -= tokens
                self._named.append(node)
            elif left < _LEAST_NAME:
                break
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
        node = replace(self._nodes[text.id], handle=self._numbers.of(text.id))
        overhead, left = self._overhead(node), self._left + self._for_earlier.get(text.id, 0)
        if overhead >= left:
            return
        share = max(self._budget // (_SHARES + len(self._shown)), _LEAST_SHARE)
        part = excerpt(text, self._found.words, min(share, left - overhead), self._counter)
        if part is None or (not part.is_whole and part.source_tokens < _LEAST_TOKENS):
            return
        taken = overhead + self._tokens(part)
        if taken > left:
            return
        self._left = left - taken
        self._for_earlier.pop(text.id, None)
        self._places[text.id] = node
        self._shown.append(ShownText(self._numbers.take(text.id), text, part, node.scope))

    def _tokens(self, part: Excerpt) -> int:
        """The tokens of a part, and what its fences take more than the shortest ones."""
        longer = self._counter.count(layout.fence(part.numbered)) - self._counter.count(layout.fence(""))
        return part.tokens + 2 * longer

    def _drop_parts(self) -> bool:
        """Drops texts that another one shows all of, now that it is longer; whether there were any."""
        parts = [one for one in self._shown if _is_within(one.node, self._shown)]
        for one in parts:
            self._within.add(one.node.id)
            self._left += self._tokens(one.excerpt)  # the tokens of its row are for its name
            self._for_names += self._row_tokens(self._places.pop(one.node.id), "")
        self._shown = [one for one in self._shown if one.node.id in self._places]
        return bool(parts)

    def _earlier(self, most_tokens: int) -> dict[str, int]:
        """The nodes that earlier evidence showed, as many as fit, with the tokens of their rows."""
        rows: dict[str, int] = {}
        for node in self._found.nodes:
            if number := self._found.handles.get(node.id):
                tokens = self._row_tokens(replace(node, handle=number), "")
                if tokens > most_tokens:
                    break
                most_tokens -= tokens
                rows[node.id] = tokens
        return rows

    def _is_joined(self, node: EvidenceNode) -> bool:
        """True if an edge joins the node to a text that is shown."""
        return any(end in self._places for edge in self._edges.get(node.id, ()) for end in (edge.from_id, edge.to_id))

    def _overhead(self, node: EvidenceNode) -> int:
        """The tokens of a text besides its own: its row, short fences, and edges to shown texts."""
        places = {**self._places, node.id: node}
        links = (
            f", {edge.edge_type} {layout.link(edge, places[edge.from_id], target, to=target)}"
            for edge in self._edges.get(node.id, ())
            if edge.from_id in places and (target := places.get(edge.to_id))
        )
        fences = self._counter.count("```\n```\n\n")
        return self._row_tokens(node, " →") + fences + sum(map(self._counter.count, links))

    def _row_tokens(self, node: EvidenceNode, links: str) -> int:
        return self._counter.count(f"- {layout.row(node, is_shown=True)}{links}\n")
