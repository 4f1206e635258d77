"""Short ways to make the answers of a query."""

from collections.abc import Iterable

from groundwire_client import (
    FusionMode,
    Lifecycle,
    MatchMeta,
    ParentContext,
    QueryClass,
    QueryMatch,
    QueryResponse,
    RetrieveMeta,
    SourceLocation,
)


def parent(node_id: str, content: str = "whole source", omitted: bool = False) -> ParentContext:
    """A node that contains a match, at `src/<id>.py:1-9`."""
    return ParentContext(
        id=node_id,
        text=content,
        text_omitted=omitted,
        symbol=f"Symbol.{node_id}",
        location=_place(node_id, 9),
        token_count=2,
    )


def match(
    node_id: str,
    rank: int,
    content: str = "source",
    *,
    tokens: int = 1,
    symbol: str | None = None,
    section: str = "",
    parents: Iterable[ParentContext] = (),
    beside: str = "",
    omitted: bool = False,
) -> QueryMatch:
    """A match at `src/<id>.py:1-3`, or with rank 0 a neighbour of the match `beside`."""
    inside = tuple(parents)
    return QueryMatch(
        id=node_id,
        rank=rank,
        score=1 / rank if rank else 0.0,
        text="" if omitted else content,
        text_omitted=omitted,
        token_count=tokens,
        location=_place(node_id, 3),
        kind="py",
        corpus_type="CODE_LOGIC",
        language="python",
        symbol=f"Symbol.{node_id}" if symbol is None else symbol,
        section_path=section,
        meta=MatchMeta(
            chunk_id=node_id,
            is_latest=True,
            parent_ids=[container.id for container in inside],
            parents=inside,
            neighbor=bool(beside),
            neighbor_of=beside,
        ),
    )


def queried(*matches: QueryMatch, index: str) -> QueryResponse:
    """A query's answer."""
    meta = RetrieveMeta(
        took_ms=1.0,
        query_class=QueryClass.QUERY_CLASS_MIXED,
        fusion=FusionMode.FUSION_MODE_ADAPTIVE,
        matches_returned=sum(match.rank > 0 for match in matches),
        lifecycle_effective=Lifecycle.LIFECYCLE_ACTIVE,
        exact=True,
    )
    return QueryResponse(matches=matches, meta=meta, index=index)


def _place(node_id: str, last_line: int) -> SourceLocation:
    return SourceLocation(path=f"src/{node_id}.py", start_line=1, end_line=last_line, content_hash="00")
