"""Shared by the retrievers for frameworks: the arguments of their question, and its passages as texts with places."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias, TypedDict

from groundwire.v1.evidence_pb2 import Passage
from groundwire_client import AccessContext, Evidence, Filter
from groundwire_client._evidence import EvidenceText

Metadata: TypeAlias = dict[str, str | int | float | bool]


class EvidenceArguments(TypedDict):
    """The arguments of `evidence` that a retriever gives."""

    budget_tokens: int
    graph_share: float | None
    filter: Filter | None
    access: AccessContext | None


@dataclass(frozen=True, slots=True)
class CitedText:
    """A passage, and its metadata for frameworks, which docs/frameworks.md lists."""

    id: str
    text: str
    score: float
    metadata: Metadata


def cited_texts(evidence: Evidence) -> Iterator[CitedText]:
    """The passages of evidence, the best first."""
    for passage, text in zip(evidence.response.passages, evidence.texts, strict=True):
        score = passage.match.score
        yield CitedText(text.id, text.text, score, _metadata(passage, text, score))


def _metadata(passage: Passage, text: EvidenceText, score: float) -> Metadata:
    return {
        "id": text.id,
        "citation": text.citation,
        "path": text.path,
        "start_line": text.start_line,
        "end_line": text.end_line,
        "symbol": text.symbol,
        "kind": text.kind,
        "score": score,
        "is_match": text.is_match,
        "number": text.number,
        "token_count": passage.token_count,
        "repository": text.scope.repository,
        "branch": text.scope.branch,
        "index": text.scope.active_index,
        "url": text.url,
    }
