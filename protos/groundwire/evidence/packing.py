"""Packs chosen nodes into a budget: how much of each is shown, and what is only named."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from sys import maxsize

from groundwire.evidence import layout
from groundwire.evidence.choosing import Candidate, Choice
from groundwire.evidence.counter import Counter
from groundwire.evidence.evidence_nodes import (
    Evidence,
    EvidenceEdge,
    EvidenceNode,
    Excerpt,
    MatchReason,
    NamedNode,
    Passage,
    PassageForm,
)
from groundwire.evidence.excerpts import answering_part, best_line, lines_with, whole
from groundwire.evidence.question_words import QuestionWords
from groundwire.evidence.shown_passage import ShownPassage

WHOLE_MATCHES = 3
"""This many of the best matches are shown whole if they are not long."""
WHOLE_LINES = 50
_WHOLE_SHARES = (0.4, 0.3, 0.25)
"""The most that each of them may take of the budget for matches."""
_ASIDE_SHARE = 0.1
"""What texts that questions seldom mean may take together."""
_PART_SHARE = 8
"""A further match may take one eighth of what is left."""
_LEAST_PART = 60
"""The fewest tokens that a part is given."""
_PART_VALUE = 0.45
"""A match of at least this value is shown with the lines that answer, one of less by its declaration."""
_LEAST_VALUE = 0.25
"""A match of less value is only named."""
_OUTLINE_TOKENS = 90
"""The most tokens of an outline whose members are shown."""
_NAMED_SHARE, _EARLIER_SHARE = 50, 10
"""Nodes that are only named may take 1/50 of the budget; 1/10 where earlier evidence has shown some of them."""
_MOST_NAMED = 8
_MOST_WEAK = 8
"""The most matches that are shown where they are probably no answer, each by one line."""
_ROW_TOKENS = 12
"""An estimate of the tokens of a row, with its container and edges."""
_FILE_TOKENS = 4
"""An estimate of the tokens of a line of a file, without the path."""


@dataclass(frozen=True, slots=True)
class Material:
    """All that evidence can be made of.

    Attributes:
        choice: The nodes that may be shown.
        words: The words of the question.
        earlier: The numbers of nodes that earlier evidence has shown, by id.
        earlier_nodes: Those of them that are known, by id.
        graph_share: The share of the budget that is open to nodes which edges join to matches.
        weakness: Why the evidence does probably not answer the question; empty if it does.
        notes: Lines to print before everything else.
        with_explanations: True to explain each passage.
    """

    choice: Choice
    words: QuestionWords
    earlier: Mapping[str, int] = field(default_factory=dict)
    earlier_nodes: Mapping[str, EvidenceNode] = field(default_factory=dict)
    graph_share: float = 0.25
    weakness: str = ""
    notes: Sequence[str] = ()
    with_explanations: bool = False


def pack(material: Material, budget: int | None, counter: Counter) -> Evidence:
    """The evidence that fits a budget in tokens of its text; None is no limit, and shows every text as a whole.

    Sizes are estimated first. If the exact text is longer than the budget, the last passages are left out.
    """
    packing = _Packing(material, maxsize if budget is None else budget, counter)
    if budget is None:
        packing.take_all()
    else:
        packing.fill()
    return packing.evidence()


class _Packing:
    """The passages chosen so far, and what is left of each budget."""

    def __init__(self, material: Material, budget: int, counter: Counter) -> None:
        self._material = material
        self._counter = counter
        self._budget = budget
        self._shown: dict[str, ShownPassage] = {}
        self._by_file: dict[tuple[str, str], dict[str, ShownPassage]] = {}
        weak = [f"This is probably no answer: {material.weakness}."] if material.weakness else []
        self._notes = "".join(f"{line}\n" for line in (*material.notes, *weak))
        self._for_names = budget // (_EARLIER_SHARE if material.earlier else _NAMED_SHARE)
        self._left = budget - self._for_names - counter.count(self._notes) - _FILE_TOKENS
        self._aside_left = round(budget * _ASIDE_SHARE)

    def fill(self) -> None:
        """Takes matches and linked nodes, each within its share; then both, within what is left."""
        matches = [match for match in self._material.choice.matches if match.node.id not in self._material.earlier]
        if self._material.weakness:
            for candidate in matches[:_MOST_WEAK]:
                self._take(candidate, best_line(candidate.node, self._material.words))
            return
        linked = [match for match in self._material.choice.linked if match.node.id not in self._material.earlier]
        best, others = matches[:WHOLE_MATCHES], matches[WHOLE_MATCHES:]
        reserve = round(self._left * self._material.graph_share) if linked else 0
        self._left -= reserve
        for rank, candidate in enumerate(best):
            self._show_best(candidate, round(self._left_for_matches() * _WHOLE_SHARES[rank]))
        self._show_mentioning()
        before = self._left
        self._left = before + reserve
        self._show_linked(linked, before)
        for candidate in others:
            self._show_match(candidate)
        self._show_linked(linked, 0)
        self._lengthen()

    def take_all(self) -> None:
        """Takes all matches and linked nodes as a whole."""
        for candidate in (*self._material.choice.matches, *self._material.choice.linked):
            if candidate.node.id not in self._material.earlier:
                self._take(candidate, whole(candidate.node))

    def evidence(self) -> Evidence:
        """The evidence, with exact tokens; the last passages are left out as long as it does not fit."""
        order = list(self._shown.values())
        while True:
            made = self._laid_out(order)
            overflow = made.tokens - self._budget
            if overflow <= 0 or not order:
                return made
            tokens = {passage.node.id: passage.tokens for passage in made.passages}
            while order and overflow > 0:
                node = order.pop(self._least(order)).candidate.node
                del self._by_file[node.file][node.id]
                overflow -= tokens.get(node.id, 0)

    def _left_for_matches(self) -> int:
        return self._budget - self._for_names

    def _show_best(self, candidate: Candidate, share: int) -> None:
        complete = whole(candidate.node)
        is_short = len(candidate.node.lines) <= WHOLE_LINES
        most = min(share, self._left - self._overhead(candidate))
        if candidate.node.is_outline:
            self._show_part(candidate, _OUTLINE_TOKENS)
        elif is_short and complete.tokens <= most:
            self._take(candidate, complete)
        else:
            self._show_part(candidate, share)

    def _show_match(self, candidate: Candidate) -> None:
        if candidate.value < _LEAST_VALUE:
            return
        if candidate.node.is_outline:
            self._show_part(candidate, _OUTLINE_TOKENS)
        elif candidate.value >= _PART_VALUE:
            self._show_part(candidate, max(self._left // _PART_SHARE, _LEAST_PART))
        else:
            self._take(candidate, best_line(candidate.node, self._material.words))

    def _show_mentioning(self) -> None:
        """Shows what defines or uses a name of the question: definitions by what answers, uses by their lines."""
        for candidate in self._material.choice.mentioning:
            if candidate.node.id in self._material.earlier or candidate.node.id in self._shown:
                continue
            if candidate.defines:
                self._show_part(candidate, max(self._left // _PART_SHARE, _LEAST_PART))
            elif (excerpt := lines_with(candidate.node, candidate.mentions)) is not None:
                self._take(candidate, excerpt)

    def _show_linked(self, linked: Sequence[Candidate], keep: int) -> None:
        """Shows linked nodes that are not shown yet, as long as more than `keep` tokens are left."""
        for candidate in linked:
            room = self._left - keep
            if room < _LEAST_PART:
                return
            if candidate.node.id not in self._shown:
                self._show_part(candidate, max(min(room // 4, room - self._overhead(candidate)), _LEAST_PART))

    def _show_part(self, candidate: Candidate, share: int) -> None:
        most = min(share, self._left - self._overhead(candidate))
        excerpt = answering_part(candidate.node, self._material.words, most) if most > 0 else None
        if excerpt is not None:
            self._take(candidate, excerpt)

    def _take(self, candidate: Candidate, excerpt: Excerpt) -> None:
        if not candidate.node.text or candidate.node.id in self._shown or self._is_within(candidate.node):
            return
        cost = excerpt.tokens + self._overhead(candidate)
        if cost > self._left or (self._is_limited(candidate) and cost > self._aside_left):
            return
        self._left -= cost
        if candidate.node.is_aside:
            self._aside_left -= cost
        self._set(ShownPassage(candidate, excerpt, cost))

    def _set(self, shown: ShownPassage) -> None:
        node = shown.candidate.node
        self._shown[node.id] = shown
        self._by_file.setdefault(node.file, {})[node.id] = shown

    def _is_limited(self, candidate: Candidate) -> bool:
        """True for a text that questions seldom mean, unless it is one of the best matches in spite of that."""
        reason = candidate.reason
        is_best = isinstance(reason, MatchReason) and reason.rank <= WHOLE_MATCHES
        return candidate.node.is_aside and not is_best

    def _lengthen(self) -> None:
        """Gives what is left to the best passages that are shown in part."""
        for shown in list(self._shown.values()):
            candidate = shown.candidate
            if shown.excerpt.form is not PassageForm.PART or candidate.value < _PART_VALUE:
                continue
            if candidate.node.is_aside:
                continue
            longer = answering_part(candidate.node, self._material.words, shown.excerpt.tokens + self._left)
            growth = 0 if longer is None else longer.tokens - shown.excerpt.tokens
            if longer is not None and 0 < growth <= self._left:
                self._left -= growth
                self._set(replace(shown, excerpt=longer, cost=shown.cost + growth))

    def _overhead(self, candidate: Candidate) -> int:
        """An estimate of the tokens of a passage's row and of its file's line."""
        node = candidate.node
        heading = 0 if node.file in self._by_file else _FILE_TOKENS + (len(node.scope) + len(node.path)) // 4
        return heading + _ROW_TOKENS

    def _is_within(self, node: EvidenceNode) -> bool:
        """True if a passage of a surrounding node shows all lines of the node."""
        return any(
            other.candidate.node.first_line > 0
            and other.candidate.node.contains(node)
            and other.excerpt.shows(
                node.start_line - other.candidate.node.first_line, node.end_line - other.candidate.node.first_line
            )
            for other in self._by_file.get(node.file, {}).values()
        )

    def _least(self, order: Sequence[ShownPassage]) -> int:
        """The place of the passage that is worth least; the last one of several."""
        return max(range(len(order)), key=lambda place: (-order[place].candidate.value, place))

    def _laid_out(self, order: Sequence[ShownPassage]) -> Evidence:
        """The evidence of some passages in their order, by file, with numbers in the order of the text."""
        within = {placed.candidate.node.id for placed in order if self._is_within(placed.candidate.node)}
        kept = [placed for placed in order if placed.candidate.node.id not in within]
        places = layout.by_file([placed.candidate.node for placed in kept])
        ordered = [kept[place] for place in places]
        first = len(self._material.earlier) + 1
        numbers = {
            node_id: layout.Numbered(number, self._material.earlier_nodes[node_id])
            for node_id, number in self._material.earlier.items()
            if node_id in self._material.earlier_nodes
        }
        for number, placed in enumerate(ordered, start=first):
            numbers[placed.candidate.node.id] = layout.Numbered(number, placed.candidate.node)
        edges = self._material.choice.edges
        outgoing: dict[str, list[EvidenceEdge]] = {}
        for edge in edges:
            if edge.from_id in numbers or edge.to_id in numbers:
                outgoing.setdefault(edge.from_id, []).append(edge)
        nodes = [placed.candidate.node for placed in ordered]
        blocks = [
            layout.passage_block(
                numbers[placed.candidate.node.id].number,
                placed.candidate.node,
                placed.excerpt,
                placed.row_notes(ordered[place - 1] if place else None, outgoing, numbers),
            )
            for place, placed in enumerate(ordered)
        ]
        named, further = self._named(numbers)
        texts = layout.joined(nodes, blocks)
        tokens = [self._counter.count(text) for text in texts]
        passages = tuple(
            Passage(
                numbers[placed.candidate.node.id].number,
                placed.candidate.node,
                placed.excerpt,
                placed.candidate.reason,
                placed.candidate.copies,
                placed.explanation() if self._material.with_explanations else "",
                count,
            )
            for placed, count in zip(ordered, tokens, strict=True)
        )
        left = self._budget - sum(tokens) - self._counter.count(self._notes)
        names_text, shown_names, more = self._names_text(named, numbers, edges, left, further)
        rendered = self._notes + "".join(texts) + names_text if texts or named or self._notes else ""
        total = self._counter.count(self._notes) + sum(tokens) + self._counter.count(names_text)
        joined = [edge for edge in edges if edge.from_id in numbers and edge.to_id in numbers]
        joined.sort(
            key=lambda edge: (numbers[edge.from_id].number, numbers[edge.to_id].number, edge.edge_type, edge.line)
        )
        return Evidence(passages, tuple(joined), tuple(shown_names), more, rendered, total if rendered else 0)

    def _named(self, numbers: Mapping[str, layout.Numbered]) -> tuple[list[EvidenceNode], int]:
        """Nodes to name, best first, and how many matches there are that no passage shows."""
        choice = self._material.choice
        shown = {node_id for node_id in numbers if node_id not in self._material.earlier}
        hidden = [
            match.node for match in choice.matches if match.node.id not in shown and not self._is_within(match.node)
        ]
        earlier = [node for node in hidden if node.id in self._material.earlier]
        others = [node for node in hidden if node.id not in self._material.earlier]
        linked = [
            match.node
            for match in choice.linked
            if match.node.id not in shown and match.node not in hidden and not self._is_within(match.node)
        ]
        return [*earlier, *others[:_MOST_NAMED], *linked[:_MOST_NAMED], *others[_MOST_NAMED:]], len(hidden)

    def _names_text(
        self,
        nodes: Sequence[EvidenceNode],
        numbers: Mapping[str, layout.Numbered],
        edges: Sequence[EvidenceEdge],
        left: int,
        further: int,
    ) -> tuple[str, list[NamedNode], int]:
        """The rows of nodes that are only named, as many as fit, and how many matches are not named."""
        if not nodes:
            return "", [], 0
        left = min(left, self._for_names)
        heading = f"{layout.NAMED_HEADING}\n"
        left -= self._counter.count(heading) + self._counter.count(layout.more_line(further))
        rows: list[str] = []
        named: list[NamedNode] = []
        match_ids = {match.node.id for match in self._material.choice.matches}
        candidates = nodes[: 2 * _MOST_NAMED]
        edges_of = {node.id: [edge for edge in edges if edge.from_id == node.id] for node in candidates}
        for node in candidates:
            links = layout.links_of(edges_of[node.id], numbers) or layout.links_from(node.id, edges, numbers)
            number = self._material.earlier.get(node.id, 0)
            row = layout.named_row(node, number, links)
            tokens = self._counter.count(row)
            if tokens > left:
                break
            left -= tokens
            rows.append(row)
            named.append(NamedNode(node, number))
        more = further - sum(named_node.node.id in match_ids for named_node in named)
        text = "".join(rows) + (layout.more_line(more) if more else "")
        if not rows:
            return (text if self._counter.count(text) <= left else ""), [], more
        return heading + text, named, more


def earlier_numbers(ids: Iterable[str]) -> dict[str, int]:
    """The numbers of nodes that earlier evidence has shown, by id."""
    return {node_id: number for number, node_id in enumerate(ids, start=1)}
