"""The result of `evidence`: the texts that answer a question, their places, and the texts left out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

from groundwire.v1.query_pb2 import QueryMatch, QueryResponse
from groundwire.v1.retrieval_pb2 import LeftOut, NodeText, SkipReason
from groundwire.v1.scope_pb2 import IndexScope
from groundwire_client._helpers import choice


@dataclass(frozen=True, slots=True)
class EvidenceNode:
    """A match, and its place in the source.

    Attributes:
        id: Its canonical id.
        rank: 1 for the best match.
        path: The path within the source; empty when unknown.
        start_line: The first line, 1-based; 0 when unknown.
        end_line: The last line, inclusive; 0 when unknown.
        symbol: The qualified name, such as `InvoiceService.Create`, or the headings above it; empty when it has none.
        token_count: The text's length in tokens.
        citation: Path and lines, such as `src/Tax.cs:3-9`; the id in place of a path that is unknown.
        scope: Of several scopes the one that it is in, with its index version; None where one was asked.
    """

    id: str
    rank: int
    path: str
    start_line: int
    end_line: int
    symbol: str
    token_count: int
    citation: str
    scope: IndexScope | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class EvidenceText(EvidenceNode):
    """A match with its whole text."""

    text: str


@dataclass(frozen=True, slots=True)
class SkippedText(EvidenceNode):
    """A match without its text; `reason` says why, which is that it does not fit into what is left of the budget."""

    reason: SkipReason.ValueType


@dataclass(frozen=True, slots=True)
class Evidence:
    """The texts that answer a question best, within a budget.

    In a notebook it shows as HTML that never treats a text as markup.

    Attributes:
        scope: Where the texts are from; it pins the index version, so the next call reads the same snapshot. Empty for
            several.
        question: The question.
        texts: The texts that fit, best first.
        skipped: The matches whose text does not, best first.
        used_tokens: The tokens of all texts together.
        scopes: Those of a question to several scopes, with the versions that answered; empty for one.
        left_out: What an index has no data for, such as embeddings, and could therefore not be searched by.
    """

    scope: IndexScope
    question: str
    texts: tuple[EvidenceText, ...]
    skipped: tuple[SkippedText, ...]
    used_tokens: int
    scopes: tuple[IndexScope, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    @property
    def citations(self) -> tuple[str, ...]:
        """The place of each text, in their order."""
        return tuple(text.citation for text in self.texts)

    @property
    def _indexes(self) -> str:
        return ", ".join(scope.active_index for scope in self.scopes or (self.scope,))

    def _repr_html_(self) -> str:
        """The HTML for notebooks: each text under its place, and the texts left out."""
        head = f"{len(self.texts)} texts, {self.used_tokens:,} tokens, index {self._indexes}"
        parts = [f"<p><b><bdi>{escape(self.question)}</bdi></b><br>{escape(head)}</p>"]
        parts += (
            f"<details><summary>{_line(text)}</summary><pre>{escape(text.text)}</pre></details>" for text in self.texts
        )
        if self.skipped:
            lines = "".join(f"<li>{_line(text)}: {choice(SkipReason, text.reason)}</li>" for text in self.skipped)
            parts.append(f"<details><summary>{len(self.skipped)} left out</summary><ul>{lines}</ul></details>")
        return f"<div>{''.join(parts)}</div>"


def texts_left(answer: QueryResponse, fetched: Sequence[NodeText]) -> list[QueryMatch]:
    """The matches whose texts fit the budget but not the response, without those that were fetched since."""
    known = {text.id for text in fetched}
    limit = SkipReason.SKIP_REASON_RESPONSE_LIMIT
    return [match for match in answer.matches if match.omit_reason == limit and match.id not in known]


def evidence_of(scope: IndexScope, question: str, answer: QueryResponse, fetched: Iterable[NodeText]) -> Evidence:
    """The evidence of an answer and of the texts that did not fit into it; `scope` is empty for several."""
    texts = {match.id: match.text for match in answer.matches if not match.text_omitted}
    texts |= {text.id: text.text for text in fetched}
    shown, skipped = list[EvidenceText](), list[SkippedText]()
    for match in answer.matches:
        at = match.scope if match.HasField("scope") else None
        if match.id in texts:
            shown.append(EvidenceText(*_node(match), texts[match.id], scope=at))
        else:
            skipped.append(SkippedText(*_node(match), match.omit_reason, scope=at))
    used = sum(text.token_count for text in shown)
    return Evidence(scope, question, tuple(shown), tuple(skipped), used, tuple(answer.scopes), tuple(answer.left_out))


def _node(match: QueryMatch) -> tuple[str, int, str, int, int, str, int, str]:
    path, first, last = match.location.path, match.location.start_line, match.location.end_line
    name = match.symbol or match.section_path
    return match.id, match.rank, path, first, last, name, match.token_count, match.citation


def _line(node: EvidenceNode) -> str:
    """A node on one line; `bdi` keeps characters that turn the direction of writing within it."""
    name = f" <bdi>{escape(node.symbol)}</bdi>" if node.symbol else ""
    return f"<code><bdi>{escape(node.citation)}</bdi></code>{name}, {node.token_count:,} tokens"
