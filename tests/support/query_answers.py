"""Short ways to make the answers of a query."""

from collections.abc import Iterable
from datetime import UTC, datetime

from groundwire_client import (
    FusionMode,
    Location,
    MatchMeta,
    ParentContext,
    QueryClass,
    QueryMatch,
    QueryResult,
    RankingParameters,
    RetrieveMeta,
    Routing,
    Visibility,
)


def parent(node_id: str, content: str = "whole source", omitted: bool = False) -> ParentContext:
    """A node that contains a match, at `src/<id>.py:1-9`."""
    place = Location(f"src/{node_id}.py", 1, 9, "00")
    return ParentContext(node_id, content, omitted, f"Symbol.{node_id}", place, token_count=2)


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
        scores=None,
        text="" if omitted else content,
        text_omitted=omitted,
        token_count=tokens,
        context_prefix="",
        source_uri="",
        citation=Location(f"src/{node_id}.py", 1, 3, "00"),
        kind="py",
        corpus_type="CODE_LOGIC",
        language="python",
        symbol_name=f"Symbol.{node_id}" if symbol is None else symbol,
        signature="",
        service_name="",
        repo_name="",
        section_path=section,
        author="",
        timestamp=None,
        channel="",
        meta=MatchMeta(
            document_id="",
            document_version_id="",
            chunk_id=node_id,
            collection_id="",
            case_id="",
            is_latest=True,
            deleted=False,
            parent_ids=tuple(one.id for one in inside),
            parents=inside,
            neighbor=bool(beside),
            neighbor_of=beside,
            metadata={},
        ),
    )


def queried(*matches: QueryMatch, index: str) -> QueryResult:
    """A query's answer."""
    meta = RetrieveMeta(
        routing=Routing("", "", "", "", "", (), ""),
        took_ms=1.0,
        query_class=QueryClass.MIXED,
        fusion=FusionMode.ADAPTIVE,
        sources=(),
        alpha=None,
        min_sim=0.15,
        top_k_effective=5,
        matches_returned=sum(one.rank > 0 for one in matches),
        max_candidates_effective=None,
        vec_limit=100,
        lex_limit=100,
        trgm_limit=0.3,
        diversify_strength=None,
        rrf_k=None,
        vector_candidates=0,
        lexical_candidates=0,
        fused_candidates=0,
        deleted_matches_blocked=0,
        visibility_effective=Visibility.ACTIVE,
        lexical_index_used=(),
        boosts=(),
        freshness_half_life_days=None,
        freshness_weight=None,
        now=datetime(2026, 1, 1, tzinfo=UTC),
        exact=True,
        truncated=False,
        ranking=RankingParameters(),
    )
    return QueryResult(tuple(matches), (), meta, index)
