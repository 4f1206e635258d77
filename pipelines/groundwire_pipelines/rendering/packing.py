"""Which texts the evidence shows, and how much of each, so that all of it together fits a budget."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from groundwire_client import DependencyEdge, NodeText
from groundwire_pipelines.rendering import layout
from groundwire_pipelines.rendering.excerpt import excerpt, whole
from groundwire_pipelines.rendering.shown import Excerpt, ShownText
from groundwire_pipelines.runtime import Counter

_SHARES = 14
"""The best text may take the fourteenth part of the budget before others have had theirs, the next a fifteenth, ..."""
_LEAST_SHARE = 70
"""Tokens that every text may take if they are left."""
_LEAST_TOKENS = 40
"""What is worth showing of a long text besides its place."""


def show_all(texts: Sequence[NodeText], first_handle: int, counter: Counter) -> list[ShownText]:
    """All texts, whole."""
    return [ShownText(number, text, whole(text, counter)) for number, text in enumerate(texts, first_handle)]


def show_within(
    texts: Sequence[NodeText],
    edges: Sequence[DependencyEdge],
    budget: int,
    words: Collection[str],
    first_handle: int,
    counter: Counter,
) -> list[ShownText]:
    """Texts in their order, as many as fit the budget once they are laid out, with handles that count up.

    Each may take a share that is the smaller the more texts stand before it; of a longer text the parts are shown that
    answer. What is left in the end goes to texts that were shortened, the best first. A text is left out when another
    of its file shows all of it, or when neither it nor a part of it fits; those after it are still considered.

    Args:
        texts: The texts, the best first.
        edges: The edges between them, which take room as well.
        budget: The most tokens of `layout.blocks` with empty lines between them.
        words: The stems of the question's words.
        first_handle: The handle of the first text.
        counter: Counts tokens.
    """
    packing = _Packing(edges, budget, words, first_handle, counter)
    for text in texts:
        packing.add(text)
    packing.lengthen()
    shown = packing.shown
    while shown and counter.count("\n\n".join(layout.blocks(shown, edges))) > budget:
        # Counted in one piece, a text may take a little more than the sum of its parts.
        shown = shown[:-1]
    return shown


class _Packing:
    def __init__(
        self,
        edges: Sequence[DependencyEdge],
        budget: int,
        words: Collection[str],
        first_handle: int,
        counter: Counter,
    ) -> None:
        self.shown: list[ShownText] = []
        self._left = self._budget = budget
        self._words, self._first_handle, self._counter = words, first_handle, counter
        self._files: set[str] = set()
        self._by_id: dict[str, ShownText] = {}
        self._edges: dict[str, list[DependencyEdge]] = {}
        for edge in sorted(set(edges), key=lambda edge: (edge.from_id, edge.to_id, edge.edge_type, edge.line)):
            for end in dict.fromkeys((edge.from_id, edge.to_id)):
                self._edges.setdefault(end, []).append(edge)

    def add(self, text: NodeText) -> None:
        """Shows the text, or a part of it, if that fits what is left."""
        if text.id in self._by_id or self._is_within_another(text):
            return
        number = self._first_handle + len(self.shown)
        overhead = self._overhead(text, number)
        if overhead >= self._left:
            return
        share = max(self._budget // (_SHARES + len(self.shown)), _LEAST_SHARE)
        part = excerpt(text, self._words, min(share, self._left - overhead), self._counter)
        if part is None or (not part.is_whole and part.source_tokens < _LEAST_TOKENS):
            return
        taken = overhead + self._tokens(part)
        if taken > self._left:
            return
        self._left -= taken
        self._files.add(layout.file_line(text))
        self._by_id[text.id] = ShownText(number, text, part)
        self.shown.append(self._by_id[text.id])

    def lengthen(self) -> None:
        """Gives what is left to the texts that are shown in part."""
        for place, one in enumerate(self.shown):
            if one.excerpt.is_whole:
                continue
            most = one.excerpt.tokens + self._left
            longer = excerpt(one.node, self._words, most, self._counter)
            growth = self._tokens(longer) - self._tokens(one.excerpt) if longer is not None else 0
            if longer is not None and 0 < growth <= self._left:
                self._left -= growth
                self.shown[place] = replace(one, excerpt=longer)

    def _tokens(self, part: Excerpt) -> int:
        """What a part takes, with what its fences take more than the shortest ones do."""
        longer = self._counter.count(layout.fence(part.text)) - self._counter.count(layout.fence(""))
        return part.tokens + 2 * longer

    def _is_within_another(self, text: NodeText) -> bool:
        """Whether all of the text stands in one of the same file that is shown, as a member may in its type."""
        own = text.text.strip()
        return any(own in one.excerpt.text for one in self.shown if one.node.location.path == text.location.path != "")

    def _overhead(self, text: NodeText, number: int) -> int:
        """What the text takes besides itself: its line of the table, short fences, and the edges to what is shown."""
        file = layout.file_line(text)
        by_id = {**self._by_id, text.id: ShownText(number, text, Excerpt("", 0, 0, is_whole=True))}
        links = (
            f", {edge.edge_type} {layout.link(edge, by_id[edge.to_id])}"
            for edge in self._edges.get(text.id, ())
            if edge.from_id in by_id and edge.to_id in by_id
        )
        around = (
            "" if file in self._files else f"{file}\n",
            f"{layout.row(number, text)} →\n",
            f"```[{number}]\n```\n\n",
        )
        return sum(map(self._counter.count, (*around, *links)))
