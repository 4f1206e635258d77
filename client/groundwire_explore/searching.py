"""A search as a page shows it: the call, and the calls that explain each match."""

import asyncio
from collections.abc import Mapping, Sequence

from groundwire.printable_text import printable
from groundwire_client import (
    AsyncGroundwireClient,
    EdgeDirection,
    ExpandDependencyTreeResponse,
    FetchNodeTextsResponse,
    FusionMode,
    HybridParameters,
    IndexScope,
    NodeFilter,
    NodeText,
    OfferedText,
    QueryMatch,
    QueryResponse,
    Retriever,
    Scopes,
    SearchHit,
    SearchNodesResponse,
    SearchType,
    choices,
    ids,
    offered_texts,
    pinned,
)
from groundwire_client.cli import indexes, why_first, why_first_hit
from groundwire_explore import describing
from groundwire_explore.parameters import QUERY_MODE, Search, one_or_several
from groundwire_explore.problems import Problem, attempted
from groundwire_explore.results import Budget, Container, Link, Match, Packed, Results
from groundwire_explore.scores import hit_bars, query_bars
from groundwire_explore.source_text import source_text


def packed_matches(answer: QueryResponse, total: int) -> Budget:
    """The texts of a query: of the matches first, then of what contains them. A repeated text counts once."""
    texts: dict[str, Packed] = {}
    for offered in offered_texts(answer.matches):
        texts.setdefault(offered.node.id, _packed(offered))
    return _budget(total, answer.meta.used_tokens, texts)


def packed_hits(fetched: FetchNodeTextsResponse, names: Mapping[str, tuple[int, str]], total: int) -> Budget:
    """The texts of a search's hits, in their order."""
    texts = {text.id: _hit(names[text.id], text.token_count, "") for text in fetched.texts}
    texts |= {node: _hit(names[node], 0, reason) for node, reason in describing.skip_reasons(fetched.skipped).items()}
    return _budget(total, fetched.used_tokens, texts)


def _hit(named: tuple[int, str], tokens: int, reason: str) -> Packed:
    rank, name = named
    return Packed(name, f"match {rank}", tokens, reason)


def _budget(total: int, used: int, texts: Mapping[str, Packed]) -> Budget:
    packed = tuple(text for text in texts.values() if not text.reason)
    return Budget(total, used, packed, tuple(text for text in texts.values() if text.reason))


def _packed(offered: OfferedText) -> Packed:
    node, match = offered.node, offered.match
    if offered.is_of_match:
        name, role = describing.name_of_match(match), f"match {match.rank}"
    else:
        name, role = describing.name_of(node.symbol, node.location, node.id), f"contains match {match.rank}"
    return Packed(name, role, node.token_count, describing.omission(node))


_MOST_EXPLAINED = 100
"""Hits of the search that finds which tokens the matches of a query contain."""


async def search(client: AsyncGroundwireClient, scopes: Sequence[IndexScope], query: str, wanted: Search) -> Results:
    """Searches one index, or several as one, and asks why. Raises one of `problems.FAILURES` if the search fails."""
    scope = one_or_several(scopes)
    if wanted.mode == QUERY_MODE:
        return await _query(client, scope, query, wanted)
    return await _search_nodes(client, scope, query, wanted)


def _versions(scope: Scopes, response: QueryResponse | SearchNodesResponse) -> list[IndexScope]:
    return [pinned(scope, response.index)] if isinstance(scope, IndexScope) else list(response.scopes)


async def _query(client: AsyncGroundwireClient, scope: Scopes, query: str, wanted: Search) -> Results:
    answer = await client.query(
        scope,
        query,
        hybrid=HybridParameters(top_k=wanted.k),
        filter=wanted.filter,
        retrievers=[choices(Retriever)[name] for name in wanted.retriever],
        fusion=choices(FusionMode)[wanted.fusion] if wanted.fusion else FusionMode.FUSION_MODE_UNSPECIFIED,
        rerank=wanted.rerank,
        budget_tokens=wanted.budget,
    )
    snapshot = _versions(scope, answer)
    tokens, edges = await asyncio.gather(
        attempted(_matched_tokens(client, snapshot, query, wanted, answer)),
        attempted(_edges_between(client, snapshot, ids(answer))),
    )
    names = {match.id: (match.rank, describing.name_of_match(match)) for match in answer.matches}
    return Results(
        indexes(answer),
        tuple(
            _match_of_query(
                match,
                answer,
                () if isinstance(tokens, Problem) else tokens.get(match.id, ()),
                _links(match.id, edges, names),
                query,
            )
            for match in answer.matches
        ),
        packed_matches(answer, wanted.budget),
        describing.query_facts(answer.meta),
        describing.query_notices(answer),
        tuple(part for part in (tokens, edges) if isinstance(part, Problem)),
        tuple(snapshot),
    )


async def _search_nodes(client: AsyncGroundwireClient, scope: Scopes, query: str, wanted: Search) -> Results:
    response = await client.search(
        scope, query, search_type=choices(SearchType)[wanted.mode], top_k=wanted.k, filter=wanted.filter, explain=True
    )
    snapshot = _versions(scope, response)
    edges, texts = await asyncio.gather(
        attempted(_edges_between(client, snapshot, ids(response))),
        attempted(_texts_of(client, snapshot, ids(response), wanted.budget)),
    )
    fetched = FetchNodeTextsResponse() if isinstance(texts, Problem) else texts
    names = {hit.id: (hit.rank, describing.name_of(hit.symbol, hit.location, hit.id)) for hit in response.hits}
    known = {text.id: text for text in fetched.texts}
    skipped = describing.skip_reasons(fetched.skipped)
    return Results(
        indexes(response),
        tuple(
            _match_of_search(
                hit, response.hits, known.get(hit.id), skipped.get(hit.id, ""), _links(hit.id, edges, names), query
            )
            for hit in response.hits
        ),
        None if isinstance(texts, Problem) else packed_hits(texts, names, wanted.budget),
        describing.search_facts(response),
        describing.search_notices(response),
        tuple(part for part in (edges, texts) if isinstance(part, Problem)),
        tuple(snapshot),
    )


async def _texts_of(
    client: AsyncGroundwireClient, scopes: Sequence[IndexScope], nodes: Sequence[str], budget: int
) -> FetchNodeTextsResponse:
    """The texts of hits, within one budget."""
    return await client.fetch(scopes, nodes, budget_tokens=budget) if nodes else FetchNodeTextsResponse()


async def _matched_tokens(
    client: AsyncGroundwireClient, scope: Scopes, query: str, wanted: Search, answer: QueryResponse
) -> Mapping[str, tuple[str, ...]]:
    """The tokens of the query that each match contains, which only `SearchNodes` states; by id.

    It is narrowed to the files of the matches: the statistics of a search count every node in any case.
    """
    uses_words = any(use.retriever == Retriever.RETRIEVER_BM25_CODE for use in answer.meta.retrievers)
    paths = sorted({match.location.path for match in answer.matches if match.location.path})
    if not uses_words or not paths:
        return {}
    narrowed = NodeFilter()
    narrowed.CopyFrom(wanted.filter)
    del narrowed.path_prefixes[:]
    narrowed.path_prefixes.extend(paths)
    response = await client.search(
        scope, query, search_type=SearchType.SEARCH_TYPE_BM25, top_k=_MOST_EXPLAINED, filter=narrowed, explain=True
    )
    return {hit.id: tuple(map(printable, hit.matched_tokens)) for hit in response.hits}


async def _edges_between(
    client: AsyncGroundwireClient, scopes: Sequence[IndexScope], seeds: Sequence[str]
) -> ExpandDependencyTreeResponse:
    """The edges between these nodes: a walk that has no room for others."""
    if not seeds:
        return ExpandDependencyTreeResponse()
    return await client.expand(
        scopes,
        seeds,
        max_depth=1,
        max_nodes=len(seeds),
        edge_allowlist=["*"],
        direction=EdgeDirection.EDGE_DIRECTION_BOTH,
    )


def _links(
    node: str, walk: ExpandDependencyTreeResponse | Problem, names: Mapping[str, tuple[int, str]]
) -> tuple[Link, ...]:
    if isinstance(walk, Problem):
        return ()
    return tuple(
        Link(printable(edge.edge_type), edge.from_id == node, *names[other], edge.line, f"{edge.confidence:.2g}")
        for edge in walk.edges
        if node in (edge.from_id, edge.to_id) and edge.from_id != edge.to_id
        for other in (edge.to_id if edge.from_id == node else edge.from_id,)
        if other in names
    )


def _match_of_query(
    match: QueryMatch, answer: QueryResponse, matched: tuple[str, ...], links: tuple[Link, ...], query: str
) -> Match:
    text = None if match.text_omitted else source_text(match.text, match.location)
    return Match(
        id=match.id,
        rank=match.rank,
        score=f"{match.score:.4g}",
        name=describing.name_of_match(match),
        location=match.location,
        badges=describing.match_badges(match),
        tokens=match.token_count,
        bars=query_bars(match, answer.matches, answer.meta.ranking),
        matched=matched,
        links=links,
        containers=tuple(
            Container(parent.id, describing.name_of(parent.symbol, parent.location, parent.id))
            for parent in match.meta.parents
        ),
        text=text,
        best=text.best_line(query) if text else 0,
        omission=describing.omission(match),
        query=query,
        why=why_first(answer.matches) if match.rank == 1 else "",
    )


def _match_of_search(
    hit: SearchHit, hits: Sequence[SearchHit], text: NodeText | None, omission: str, links: tuple[Link, ...], query: str
) -> Match:
    source = source_text(text.text, hit.location) if text else None
    return Match(
        id=hit.id,
        rank=hit.rank,
        score=f"{hit.score:.4g}",
        name=describing.name_of(hit.symbol, hit.location, hit.id),
        location=hit.location,
        badges=describing.badges(is_test=hit.is_test, is_generated=hit.is_generated),
        tokens=text.token_count if text else 0,
        bars=hit_bars(hit, hits),
        matched=tuple(map(printable, hit.matched_tokens)),
        links=links,
        text=source,
        best=source.best_line(query) if source else 0,
        omission=omission,
        query=query,
        why=why_first_hit(hits) if hit.rank == 1 else "",
    )
