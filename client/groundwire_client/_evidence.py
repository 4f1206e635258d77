"""The result of `evidence`: the passages that answer a question, their places, and the nodes that are only named."""

from dataclasses import dataclass
from html import escape

from groundwire.v1.evidence_pb2 import GatherEvidenceResponse, Passage, PassageForm
from groundwire.v1.evidence_pb2 import NamedNode as NamedNodeMessage
from groundwire.v1.retrieval_pb2 import LeftOut
from groundwire.v1.scope_pb2 import IndexScope
from groundwire_client._helpers import choice

_OMITTED = "…"


@dataclass(frozen=True, slots=True)
class EvidenceNode:
    """A node of the evidence, and its place in the source.

    Attributes:
        id: Its canonical id.
        number: Its number in `rendered`; 0 for a node that is only named.
        path: The path within the source; empty when unknown.
        start_line: The first line, 1-based; 0 when unknown.
        end_line: The last line, inclusive; 0 when unknown.
        symbol: The qualified name, such as `InvoiceService.Create`; empty when it has none.
        kind: The language or corpus, such as `cs`.
        node_token_count: The tokens of its whole text.
        citation: Path and lines, such as `src/Tax.cs:3-9`; the id in place of a path that is unknown.
        scope: The repository, branch and index version that it is in.
        url: The address of these lines where people read them; empty when the index makes no links.
    """

    id: str
    number: int
    path: str
    start_line: int
    end_line: int
    symbol: str
    kind: str
    node_token_count: int
    citation: str
    scope: IndexScope
    url: str


@dataclass(frozen=True, slots=True)
class EvidencePart:
    """Consecutive lines of a node; `start_line` is 1-based, 0 when the lines have no numbers."""

    start_line: int
    text: str


@dataclass(frozen=True, slots=True)
class EvidenceText(EvidenceNode):
    """A passage: what is shown of a node.

    Attributes:
        parts: The shown lines.
        form: Whether they are all lines of the node, some of them, or lines of an outline.
        token_count: The tokens of the passage in `rendered`.
        is_match: True for a match, False for a node that an edge joins to one.
        explanation: Why the passage stands where it stands; empty unless it was asked for.
    """

    parts: tuple[EvidencePart, ...]
    form: PassageForm.ValueType
    token_count: int
    is_match: bool
    explanation: str

    @property
    def text(self) -> str:
        """The shown lines, with a line of `…` where lines between them are left out."""
        return f"\n{_OMITTED}\n".join(part.text for part in self.parts)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The passages that answer a question best, within a budget.

    As a string it is `rendered`. In a notebook it shows as HTML that never treats a text as markup.

    Attributes:
        question: The question.
        texts: The passages, the best first, those of one file together.
        named: The nodes that match or are joined to a passage, and are not shown.
        weak: Why the evidence does probably not answer the question; empty if it does.
        near_words: For weak evidence, words of the index near the question, to ask again with.
        rendered: All of it as text for a prompt.
        used_tokens: The tokens of `rendered`.
        scope: Where the texts are from; it pins the index version, so the next call reads the same snapshot. Empty for
            several.
        scopes: The same of a question to several scopes; empty for one.
        phrasings: The phrasings that were used, those of the server's phrasing service included.
        left_out: What an index has no data for, such as embeddings, and could therefore not be searched by.
        response: What the server answered, with scores and edges.
    """

    question: str
    texts: tuple[EvidenceText, ...]
    named: tuple[EvidenceNode, ...]
    weak: str
    near_words: tuple[str, ...]
    rendered: str
    used_tokens: int
    scope: IndexScope
    scopes: tuple[IndexScope, ...]
    phrasings: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    response: GatherEvidenceResponse

    def __str__(self) -> str:
        return self.rendered

    @property
    def citations(self) -> tuple[str, ...]:
        """The place of each passage, in their order."""
        return tuple(text.citation for text in self.texts)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the passages, in their order: the `shown_ids` of the next question of a conversation."""
        return tuple(text.id for text in self.texts)

    def _repr_html_(self) -> str:
        """The HTML for notebooks: each passage under its place, and the nodes that are only named."""
        indexes = ", ".join(scope.active_index for scope in self.scopes or (self.scope,))
        head = f"{len(self.texts)} passages, {self.used_tokens:,} tokens, index {indexes}"
        parts = [f"<p><b><bdi>{escape(self.question)}</bdi></b><br>{escape(head)}</p>"]
        if self.weak:
            parts.append(f"<p>This is probably no answer: {escape(self.weak)}.</p>")
        parts += (
            f"<details><summary>{_line(text)}, {choice(PassageForm, text.form)}</summary>"
            f"<pre>{escape(text.text)}</pre></details>"
            for text in self.texts
        )
        if self.named:
            lines = "".join(f"<li>{_line(node)}</li>" for node in self.named)
            parts.append(f"<details><summary>{len(self.named)} only named</summary><ul>{lines}</ul></details>")
        return f"<div>{''.join(parts)}</div>"


def evidence_of(scope: IndexScope, question: str, response: GatherEvidenceResponse) -> Evidence:
    """The evidence of a response; `scope` is empty for several."""
    return Evidence(
        question=question,
        texts=tuple(map(_text, response.passages)),
        named=tuple(map(_node, response.named)),
        weak=response.weak.reason if response.HasField("weak") else "",
        near_words=tuple(response.weak.near_words),
        rendered=response.rendered,
        used_tokens=response.used_tokens,
        scope=scope,
        scopes=tuple(response.scopes),
        phrasings=tuple(response.phrasings),
        left_out=tuple(response.left_out),
        response=response,
    )


def _text(passage: Passage) -> EvidenceText:
    return EvidenceText(
        *_place(passage),
        parts=tuple(EvidencePart(part.start_line, part.text) for part in passage.parts),
        form=passage.form,
        token_count=passage.token_count,
        is_match=passage.HasField("match"),
        explanation=passage.explanation,
    )


def _node(named: NamedNodeMessage) -> EvidenceNode:
    return EvidenceNode(*_place(named))


def _place(node: Passage | NamedNodeMessage) -> tuple[str, int, str, int, int, str, str, int, str, IndexScope, str]:
    at = node.location
    return (
        node.id,
        node.number,
        at.path,
        at.start_line,
        at.end_line,
        node.symbol,
        node.kind,
        node.node_token_count,
        node.citation,
        node.scope,
        at.url,
    )


def _line(node: EvidenceNode) -> str:
    """A node on one line; `bdi` keeps characters that turn the direction of writing within it."""
    name = f" <bdi>{escape(node.symbol)}</bdi>" if node.symbol else ""
    return f"<code><bdi>{escape(node.citation)}</bdi></code>{name}"
