"""Which nodes are worth showing, in which order: matches without repeats and containers, and nodes that edges add."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from groundwire.evidence.evidence_nodes import EdgeReason, EvidenceEdge, EvidenceNode, MatchReason, NameReason
from groundwire.evidence.question_words import QuestionWords, has_word

LINK_SOURCES = 3
"""The edges of this many matches add nodes."""
_INVERSE_TYPES = frozenset({"contains", "implementedby", "overriddenby", "specializedby", "runby"})
"""Edges that say again what the edge in the other direction says, and those from a whole to its part."""
_NEWER = "redefinedby"
"""The type of edges from an older definition of an object to the current one."""
_TYPE_WEIGHTS: Mapping[str, float] = {
    "calls": 1.0,
    "implements": 1.0,
    "overrides": 1.0,
    "executes": 1.0,
    "readsfrom": 1.0,
    "writesto": 1.0,
    "mapsto": 1.0,
    "handledby": 1.0,
    "sends": 0.9,
    "publishes": 0.9,
    "routes": 0.9,
    "requests": 0.9,
    "registers": 0.9,
    "injects": 0.9,
    "renders": 0.8,
    "inherits": 0.7,
    "fk": 0.6,
    "references": 0.6,
    "decoratedby": 0.5,
    "readssetting": 0.5,
    "tests": 0.3,
    "imports": 0.1,
}
"""How much an edge of a type promises that the node at its other end is a part of the answer."""
_OTHER_TYPES = 0.6
_INCOMING = 0.7
"""What depends on a match is asked for less often than what it depends on."""
_OUTLINES = 0.3
"""A type that is only named as a type says little; what is called of it has an edge of its own."""
_WITHOUT_WORDS = 0.4
"""What a node counts that has none of the question's words; one with all of them counts 1."""
_RELEVANT_CHARACTERS = 400
"""The words of a node are those of its name, its path and this many first characters of its text."""
_MOST_LINKED = 32
"""The most nodes at the ends of edges whose texts are read."""
_DEFINITION_VALUE, _USE_VALUE = 0.9, 0.3
"""What a node counts that defines a name of the question, and one that uses it."""
_MOST_DEFINITIONS, _MOST_USES = 4, 4
"""The most definitions of all names, and the most uses of each."""
_LEAST_LINK = 0.1
_SAME_AS = frozenset({"implements", "overrides"})
_SURE = 0.8
"""The least confidence of an edge that says which definition is current."""


@dataclass(frozen=True, slots=True)
class Match:
    """A node that matches, and its score, at least 0."""

    node: EvidenceNode
    score: float


@dataclass(frozen=True, slots=True)
class QuestionNames:
    """The words of a question, and the names of code in it."""

    words: QuestionWords
    names: Sequence[str] = ()

    def defined_by(self, node: EvidenceNode) -> str:
        """The name that is the node's own; "" for none."""
        defined_name = re.split(r"[(<\s]", node.symbol, maxsplit=1)[0].rpartition(".")[2]
        return defined_name if defined_name in self.names else ""

    def mentioned_in(self, node: EvidenceNode) -> str:
        """The first name that stands in the node's text as a whole word; "" for none."""
        return next((name for name in self.names if has_word(node.text, name)), "")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node that may be shown.

    Attributes:
        node: The node.
        reason: Why it may be shown.
        value: What it is worth, in [0, 1].
        copies: How many nodes say the same and are left out.
        older_definitions: How many of these are older definitions of its object.
        defines: The name in the question that is its own; empty for none.
        mentions: The name in the question that it is shown for, by the lines that have it; empty for a match.
    """

    node: EvidenceNode
    reason: MatchReason | EdgeReason | NameReason
    value: float
    copies: int = 0
    older_definitions: int = 0
    defines: str = ""
    mentions: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """The nodes that may be shown, best first.

    Attributes:
        matches: Those that match.
        linked: Those that edges join to the best matches.
        mentioning: Those that define or use a name of the question.
        edges: The edges that evidence may print, in their order.
    """

    matches: Sequence[Candidate]
    linked: Sequence[Candidate]
    mentioning: Sequence[Candidate] = ()
    edges: Sequence[EvidenceEdge] = ()


def choose(
    matches: Sequence[Match],
    linked: Iterable[EvidenceNode],
    mentioning: Iterable[EvidenceNode],
    edges: Sequence[EvidenceEdge],
    question: QuestionNames,
    *,
    with_history: bool = False,
) -> Choice:
    """Chooses among matches, best first, nodes that edges join to them, and nodes that mention names of the question.

    Nodes that say what a better one says are left out and counted with it: a node with the same text, an older
    definition of an object, and a member of an interface beside its only implementation. An outline is left out if
    exactly one node within it matches. With `with_history` older definitions stay.
    """
    best = max((match.score for match in matches), default=0.0)
    candidates = [
        Candidate(
            match.node,
            MatchReason(rank, match.score / best if best > 0.0 else 0.0),
            match.score / best if best > 0.0 else 0.0,
            defines=question.defined_by(match.node),
        )
        for rank, match in enumerate(matches, start=1)
    ]
    distinct, dropped = _without_repeats(candidates, edges, with_history)
    kept = _without_containers(distinct)
    kept_ids = {candidate.node.id for candidate in kept}
    dropped |= {candidate.node.id for candidate in distinct} - kept_ids
    sources = kept[:LINK_SOURCES]
    nodes = {node.id: node for node in linked} | {candidate.node.id: candidate.node for candidate in kept}
    printable = shown_edges(edges, with_history=with_history)
    return Choice(
        kept,
        _linked(sources, nodes, printable, dropped, question.words),
        _mentioning(mentioning, {candidate.node.id: candidate for candidate in kept}, question),
        printable,
    )


def best_linked(
    source_values: Mapping[str, float], edges: Iterable[EvidenceEdge], names: Mapping[str, str], words: QuestionWords
) -> list[str]:
    """The ids of the nodes whose texts are worth reading: those that edges join most surely to the best matches.

    Args:
        source_values: The scores of the best matches as shares of the highest, by id.
        edges: The edges around them that evidence may print.
        names: The name and path of each node at the other end of an edge, by id.
        words: The words of the question.
    """
    values: dict[str, float] = {}
    for link in _links(source_values, edges):
        if link.other_id in names:
            value = link.value * _weight_of_words(words, names[link.other_id])
            values[link.other_id] = max(values.get(link.other_id, 0.0), value)
    return sorted(values, key=lambda node_id: (-values[node_id], node_id))[:_MOST_LINKED]


def shown_edges(edges: Iterable[EvidenceEdge], *, with_history: bool = False) -> list[EvidenceEdge]:
    """The edges that evidence prints, each once, in a total order; those from older definitions `with_history` only."""
    left_out = _INVERSE_TYPES if with_history else _INVERSE_TYPES | {_NEWER}
    kept = {
        (edge.from_id, edge.to_id, edge.edge_type, edge.line): edge
        for edge in edges
        if edge.edge_type.casefold() not in left_out
    }
    return [kept[key] for key in sorted(kept)]


def _mentioning(
    nodes: Iterable[EvidenceNode], matches: Mapping[str, Candidate], question: QuestionNames
) -> list[Candidate]:
    """The nodes that define or mention names of the question: definitions first, a few for each name."""
    defining: list[Candidate] = []
    using: list[Candidate] = []
    counts: dict[str, int] = {}
    for node in nodes:
        match = matches.get(node.id)
        defined = question.defined_by(node)
        name = defined or question.mentioned_in(node)
        reason = match.reason if match is not None else NameReason(name)
        if defined:
            value = match.value if match is not None else 0.0
            defining.append(Candidate(node, reason, max(value, _DEFINITION_VALUE), defines=name))
        elif name and counts.get(name, 0) < _MOST_USES:
            counts[name] = counts.get(name, 0) + 1
            using.append(Candidate(node, reason, _USE_VALUE, mentions=name))
    return [*defining[:_MOST_DEFINITIONS], *using]


def _without_repeats(
    candidates: Sequence[Candidate], edges: Sequence[EvidenceEdge], with_history: bool
) -> tuple[list[Candidate], set[str]]:
    """The candidates without those that say what another one says; and the ids of the ones left out."""
    by_id = {candidate.node.id: candidate for candidate in candidates}
    newer = {} if with_history else _newer_definitions(by_id, edges)
    speaks_for = _only_implementations(by_id, edges) | newer
    older = Counter(_last_of_chain(node_id, newer) for node_id in newer)
    by_text: dict[str, str] = {}
    for candidate in candidates:
        node = candidate.node
        if node.id not in speaks_for and len(node.text) > 0:
            first = by_text.setdefault(node.text, node.id)
            if first != node.id:
                speaks_for[node.id] = first
    counts: dict[str, int] = {}
    places: dict[str, int] = {}
    for position, candidate in enumerate(candidates):
        speaker = _last_of_chain(candidate.node.id, speaks_for)
        places.setdefault(speaker, position)
        counts[speaker] = counts.get(speaker, -1) + 1
    order = sorted(places, key=places.__getitem__)
    kept = [
        replace(
            by_id[speaker],
            copies=counts[speaker],
            older_definitions=older[speaker],
            value=candidates[places[speaker]].value,
            reason=candidates[places[speaker]].reason,
        )
        for speaker in order
    ]
    return kept, set(speaks_for)


def _last_of_chain(node_id: str, speaks_for: Mapping[str, str]) -> str:
    passed = {node_id}
    while node_id in speaks_for and speaks_for[node_id] not in passed:
        node_id = speaks_for[node_id]
        passed.add(node_id)
    return node_id


def _only_implementations(by_id: Mapping[str, Candidate], edges: Iterable[EvidenceEdge]) -> dict[str, str]:
    """The members of interfaces, which have one line or few, with their implementation where there is only one."""
    implementations: dict[str, set[str]] = {}
    for edge in edges:
        if edge.edge_type.casefold() in _SAME_AS:
            implementations.setdefault(edge.to_id, set()).add(edge.from_id)
    return {
        declared: next(iter(implementing))
        for declared, implementing in implementations.items()
        if len(implementing) == 1
        and declared in by_id
        and implementing <= by_id.keys()
        and not by_id[declared].node.is_outline
        and len(by_id[declared].node.text) < len(by_id[next(iter(implementing))].node.text)
    }


def _newer_definitions(by_id: Mapping[str, Candidate], edges: Iterable[EvidenceEdge]) -> dict[str, str]:
    return {
        edge.from_id: edge.to_id
        for edge in edges
        if edge.edge_type.casefold() == _NEWER
        and edge.confidence >= _SURE
        and edge.from_id in by_id
        and edge.to_id in by_id
    }


def _without_containers(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates without outlines that have exactly one matching member; the best match stays in any case."""
    by_file: dict[tuple[str, str], list[Candidate]] = {}
    for candidate in candidates:
        by_file.setdefault(candidate.node.file, []).append(candidate)
    kept = []
    for candidate in candidates:
        if candidate.node.is_outline:
            members = sum(candidate.node.contains(other.node) for other in by_file[candidate.node.file])
            if members == 1 and candidate.reason != candidates[0].reason:
                continue
        kept.append(candidate)
    return kept


def _linked(
    sources: Sequence[Candidate],
    nodes: Mapping[str, EvidenceNode],
    edges: Iterable[EvidenceEdge],
    dropped: Collection[str],
    words: QuestionWords,
) -> list[Candidate]:
    """The nodes that edges join to sources, best first, each by its best edge."""
    by_id = {source.node.id: source for source in sources}
    best: dict[str, Candidate] = {}
    for link in _links({source.node.id: source.value for source in sources}, edges):
        other = nodes.get(link.other_id)
        if other is None or other.id in dropped:
            continue
        source = by_id[link.source_id].node
        if other.contains(source) or source.contains(other):
            continue
        value = link.value * (0.5 if other.is_aside else 1.0)
        if other.is_outline and link.edge.edge_type.casefold() == "references":
            value *= _OUTLINES
        value *= _weight_of_words(words, f"{other.symbol} {other.path} {other.text[:_RELEVANT_CHARACTERS]}")
        known = best.get(other.id)
        if value >= _LEAST_LINK and (known is None or value > known.value):
            best[other.id] = Candidate(other, EdgeReason(link.edge, link.source_id), value)
    return sorted(best.values(), key=lambda candidate: (-candidate.value, candidate.node.id))


@dataclass(frozen=True, slots=True)
class _Link:
    """An edge from or to one of the best matches, and what the node at its other end is worth by it."""

    source_id: str
    other_id: str
    edge: EvidenceEdge
    value: float


def _links(source_values: Mapping[str, float], edges: Iterable[EvidenceEdge]) -> Iterator[_Link]:
    for edge in edges:
        weight = _TYPE_WEIGHTS.get(edge.edge_type.casefold(), _OTHER_TYPES) * edge.confidence
        if edge.from_id == edge.to_id:
            continue
        if edge.from_id in source_values:
            yield _Link(edge.from_id, edge.to_id, edge, source_values[edge.from_id] * weight)
        if edge.to_id in source_values:
            yield _Link(edge.to_id, edge.from_id, edge, source_values[edge.to_id] * weight * _INCOMING)


def _weight_of_words(words: QuestionWords, text: str) -> float:
    return _WITHOUT_WORDS + (1.0 - _WITHOUT_WORDS) * words.share_in(text)
