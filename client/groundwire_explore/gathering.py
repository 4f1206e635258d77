"""Evidence as a page shows it: the passages of one call, in the order of a prompt."""

from collections.abc import Sequence
from dataclasses import dataclass

from groundwire_client import (
    AsyncGroundwireClient,
    EvidenceNode,
    EvidenceText,
    IndexScope,
    PassageForm,
    SourceLocation,
    choice,
    left_out_note,
    scope_name,
)
from groundwire_explore import describing
from groundwire_explore.parameters import Gathering, one_or_several
from groundwire_explore.source_text import SourceText, source_text


@dataclass(frozen=True, slots=True)
class NodeLine:
    """A node of the evidence.

    Attributes:
        id: The canonical id.
        version: The index version that it is in, as in an address.
        name: The symbol, or another name of the node.
        location: Where it is.
        badges: Words that set it apart, such as `part`.
    """

    id: str
    version: str
    name: str
    location: SourceLocation
    badges: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """A passage.

    Attributes:
        number: Its number in the text for a prompt.
        node: Its node.
        parts: The shown lines.
        tokens: Its tokens in the text for a prompt.
        explanation: Why it stands where it stands.
    """

    number: int
    node: NodeLine
    parts: tuple[SourceText, ...]
    tokens: int
    explanation: str


@dataclass(frozen=True, slots=True)
class GatheredEvidence:
    """The evidence for a question.

    Attributes:
        passages: In the order of the prompt.
        named: Nodes that are named and not shown.
        weak: Why it does probably not answer the question; empty if it does.
        near_words: Words to ask again with.
        phrasings: The phrasings that were used.
        rendered: The text for a prompt.
        used: The tokens of the text.
        total: The budget.
        index: The index version that answered; empty for several.
        notices: What every reader needs to know.
    """

    passages: tuple[ShownPassage, ...]
    named: tuple[NodeLine, ...]
    weak: str
    near_words: tuple[str, ...]
    phrasings: tuple[str, ...]
    rendered: str
    used: int
    total: int
    index: str
    notices: tuple[str, ...]


async def gather(
    client: AsyncGroundwireClient, scopes: Sequence[IndexScope], question: str, gathering: Gathering
) -> GatheredEvidence:
    """Gathers evidence of one index, or of several as one. Raises one of `problems.FAILURES`."""
    scope = one_or_several(scopes)
    evidence = await client.evidence(
        scope,
        question,
        gathering.budget,
        phrasings=gathering.phrasing_lines,
        phrase=gathering.phrase,
        filter=gathering.filter,
        explain=True,
    )
    note = left_out_note(evidence.response)
    return GatheredEvidence(
        passages=tuple(map(_passage, evidence.texts)),
        named=tuple(_line(node, ()) for node in evidence.named),
        weak=evidence.weak,
        near_words=evidence.near_words,
        phrasings=evidence.phrasings,
        rendered=evidence.rendered,
        used=evidence.used_tokens,
        total=gathering.budget,
        index=evidence.scope.active_index,
        notices=(note,) if note else (),
    )


def _passage(text: EvidenceText) -> ShownPassage:
    parts = []
    for part in text.parts:
        last_line = part.start_line + part.text.count("\n")
        parts.append(
            source_text(part.text, SourceLocation(path=text.path, start_line=part.start_line, end_line=last_line))
        )
    form = choice(PassageForm, text.form)
    return ShownPassage(text.number, _line(text, (form,)), tuple(parts), text.token_count, text.explanation)


def _line(node: EvidenceNode, badges: tuple[str, ...]) -> NodeLine:
    location = SourceLocation(path=node.path, start_line=node.start_line, end_line=node.end_line, url=node.url)
    version = scope_name(node.scope.repository, node.scope.branch, node.scope.active_index)
    return NodeLine(node.id, version, describing.name_of(node.symbol, location, node.id), location, badges)
