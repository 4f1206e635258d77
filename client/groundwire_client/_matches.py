"""Shared by the retrievers for frameworks: the arguments of their query, and its matches as texts with places."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias, TypedDict

from groundwire_client import AccessContext, Filter, IndexScope, QueryResponse, Scopes, pinned

Metadata: TypeAlias = dict[str, str | int | float]


class QueryArguments(TypedDict):
    """The arguments of `query` that a retriever gives."""

    top_k: int
    cap_top_k: bool
    filter: Filter | None
    include_parents: bool
    budget_tokens: int
    access: AccessContext | None


@dataclass(frozen=True, slots=True)
class CitedText:
    """A match whose text fits, and its metadata for frameworks, which docs/frameworks.md lists."""

    id: str
    text: str
    score: float
    metadata: Metadata


def cited_texts(scope: Scopes, answer: QueryResponse) -> Iterator[CitedText]:
    """The texts of an answer, best first."""
    for match in answer.matches:
        if not match.text_omitted:
            at = pinned(scope, answer.index) if isinstance(scope, IndexScope) else match.scope
            metadata: Metadata = {
                "id": match.id,
                "citation": match.citation,
                "path": match.location.path,
                "start_line": match.location.start_line,
                "end_line": match.location.end_line,
                "symbol": match.symbol or match.section_path,
                "language": match.language,
                "score": match.score,
                "rank": match.rank,
                "token_count": match.token_count,
                "repository": at.repository,
                "branch": at.branch,
                "index": at.active_index,
            }
            yield CitedText(match.id, match.text, match.score, metadata)
