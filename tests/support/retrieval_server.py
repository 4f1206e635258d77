"""A real gRPC server in this process whose answers follow from the request alone."""

from collections.abc import Iterator
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise

import grpc
from google.protobuf.message import Message

from groundwire.v1 import evidence_pb2, query_pb2, query_pb2_grpc, retrieval_pb2, retrieval_pb2_grpc, scope_pb2


@dataclass(slots=True)
class WorldServer(retrieval_pb2_grpc.RetrievalServiceServicer, query_pb2_grpc.QueryServiceServicer):
    """Every word of a query is a node, and each node depends on one more.

    Ids tell the scope and tenant they were found with. Each unpinned call is answered from another index version, so
    that a run which does not pin is caught; `requests` are all that came.
    """

    requests: list[Message] = field(default_factory=list[Message])
    versions: int = 0

    def SearchNodes(
        self, request: retrieval_pb2.SearchNodesRequest, context: grpc.ServicerContext
    ) -> retrieval_pb2.SearchNodesResponse:
        index = self._seen(request, request.scope)
        if request.scope.repository == "absent":
            context.abort(grpc.StatusCode.NOT_FOUND, "no index of absent, main")
        words = request.query.split()[: request.top_k]
        prefix = f"{request.scope.repository}::{request.scope.branch}::{request.access.tenant_id or 'public'}"
        hits = (
            retrieval_pb2.SearchHit(id=f"{prefix}::{word}", score=1 / rank, rank=rank)
            for rank, word in enumerate(words, start=1)
        )
        return retrieval_pb2.SearchNodesResponse(hits=hits, index=index, exact=True)

    def ResolveNodes(
        self, request: retrieval_pb2.ResolveNodesRequest, context: grpc.ServicerContext
    ) -> retrieval_pb2.ResolveNodesResponse:
        """A name of one word is that of the node which a search for it finds."""
        index = self._seen(request, request.scope)
        prefix = f"{request.scope.repository}::{request.scope.branch}::{request.access.tenant_id or 'public'}"
        return retrieval_pb2.ResolveNodesResponse(
            names=[
                retrieval_pb2.ResolvedName(
                    name=name,
                    nodes=[retrieval_pb2.ResolvedNode(id=f"{prefix}::{name}")] if len(name.split()) == 1 else (),
                )
                for name in request.names
            ],
            index=index,
        )

    def SearchText(
        self, request: retrieval_pb2.SearchTextRequest, context: grpc.ServicerContext
    ) -> retrieval_pb2.SearchTextResponse:
        return retrieval_pb2.SearchTextResponse(index=self._seen(request, request.scope))

    def ExpandDependencyTree(
        self, request: retrieval_pb2.ExpandDependencyTreeRequest, context: grpc.ServicerContext
    ) -> retrieval_pb2.ExpandDependencyTreeResponse:
        index = self._seen(request, request.scope)
        seeds = [retrieval_pb2.ReachedNode(id=seed) for seed in request.seed_ids]
        ids = [f"{seed}.part" for seed in request.seed_ids]
        below = [
            retrieval_pb2.ReachedNode(id=node_id, depth=1, parent_id=node_id.removesuffix(".part"))
            for node_id in ids
            if node_id not in request.seed_ids
        ][: request.max_nodes - len(seeds)]
        known = {node.id for node in (*seeds, *below)}
        edges = [
            retrieval_pb2.GraphEdge(
                from_id=node_id.removesuffix(".part"), to_id=node_id, edge_type="Calls", confidence=1
            )
            for node_id in ids
            if node_id in known
        ]
        debug = retrieval_pb2.ExpandDebug(
            seed_count=len(seeds), expanded_count=len(known), edges_count=len(edges), reason="ok"
        )
        return retrieval_pb2.ExpandDependencyTreeResponse(
            seed_ids=request.seed_ids, nodes=[*seeds, *below], edges=edges, debug=debug, index=index
        )

    def FindPaths(
        self, request: retrieval_pb2.FindPathsRequest, context: grpc.ServicerContext
    ) -> retrieval_pb2.FindPathsResponse:
        """One path from the first node to the last, over the part of the first."""
        index = self._seen(request, request.scope)
        ids = [request.from_ids[0], f"{request.from_ids[0]}.part", request.to_ids[-1]]
        hops = [
            retrieval_pb2.GraphEdge(from_id=near, to_id=far, edge_type="Calls", confidence=0.5, line=7)
            for near, far in pairwise(ids)
        ]
        debug = retrieval_pb2.FindPathsDebug(
            from_count=len(request.from_ids), to_count=len(request.to_ids), searched_hops=2, reason="ok"
        )
        return retrieval_pb2.FindPathsResponse(
            paths=[retrieval_pb2.DependencyPath(node_ids=ids, hops=hops, confidence=0.25)],
            nodes=[retrieval_pb2.PathNode(id=id_) for id_ in ids],
            debug=debug,
            index=index,
        )

    def FetchNodeTexts(
        self, request: retrieval_pb2.FetchNodeTextsRequest, context: grpc.ServicerContext
    ) -> retrieval_pb2.FetchNodeTextsResponse:
        index = self._seen(request, request.scope)
        wanted = [*((seed, 0, "") for seed in request.seed_ids), *((n.id, n.depth, n.parent_id) for n in request.nodes)]
        texts = [
            retrieval_pb2.NodeText(
                id=node_id,
                text=f"def source_of({node_id!r}): ...",
                is_seed=depth == 0,
                depth=depth,
                parent_id=parent_id,
                token_count=5,
                location=retrieval_pb2.SourceLocation(path="src/all.py", start_line=number, end_line=number),
            )
            for number, (node_id, depth, parent_id) in enumerate(wanted, start=1)
        ][: request.budget_tokens // 5]
        return retrieval_pb2.FetchNodeTextsResponse(
            texts=texts, used_tokens=5 * len(texts), used_chars=sum(len(text.text) for text in texts), index=index
        )

    def Query(self, request: query_pb2.QueryRequest, context: grpc.ServicerContext) -> query_pb2.QueryResponse:
        index = self._seen(request, request.scope)
        if request.scope.repository == "absent":
            context.abort(grpc.StatusCode.NOT_FOUND, "no index of absent, main")
        prefix = f"{request.scope.repository}::{request.scope.branch}::{request.access.tenant_id or 'public'}"
        words = request.query.split()[: request.hybrid.top_k]
        matches = [
            query_pb2.QueryMatch(
                id=f"{prefix}::{word}",
                rank=rank,
                score=1 / rank,
                text=f"def source_of({word!r}): ..." if rank <= request.budget_tokens // 5 else "",
                text_omitted=rank > request.budget_tokens // 5,
                token_count=5,
                location=retrieval_pb2.SourceLocation(path="src/all.py", start_line=rank, end_line=rank),
            )
            for rank, word in enumerate(words, start=1)
        ]
        return query_pb2.QueryResponse(matches=matches, index=index)

    def GatherEvidence(
        self, request: evidence_pb2.GatherEvidenceRequest, context: grpc.ServicerContext
    ) -> evidence_pb2.GatherEvidenceResponse:
        """A passage of one line for each word of the question, and of its phrasings."""
        index = self._seen(request, request.scope)
        if request.scope.repository == "absent":
            context.abort(grpc.StatusCode.NOT_FOUND, "no index of absent, main")
        prefix = f"{request.scope.repository}::{request.scope.branch}::{request.access.tenant_id or 'public'}"
        words = dict.fromkeys(" ".join((request.question, *request.phrasings)).split())
        ids = [f"{prefix}::{word}" for word in words if f"{prefix}::{word}" not in request.shown_ids]
        passages = [
            evidence_pb2.Passage(
                number=number,
                id=node_id,
                scope=scope_pb2.IndexScope(
                    repository=request.scope.repository, branch=request.scope.branch, active_index=index
                ),
                citation=f"src/all.py:{number}",
                location=retrieval_pb2.SourceLocation(path="src/all.py", start_line=number, end_line=number),
                form=evidence_pb2.PASSAGE_FORM_WHOLE,
                parts=[evidence_pb2.PassagePart(start_line=number, text=f"def source_of({node_id!r}): ...")],
                match=evidence_pb2.PassageMatch(rank=place, score=1 / place),
                token_count=5,
                node_token_count=5,
            )
            for place, (number, node_id) in enumerate(
                enumerate(ids[: request.budget_tokens // 5], start=len(request.shown_ids) + 1), start=1
            )
        ]
        lines = [f"[{passage.number}] {passage.parts[0].text}" for passage in passages]
        rendered = "\n".join(["src/all.py", *lines, ""]) if lines else ""
        return evidence_pb2.GatherEvidenceResponse(
            passages=passages, rendered=rendered, used_tokens=5 * len(passages), index=index, exact=True
        )

    def _seen(self, request: Message, scope: scope_pb2.IndexScope) -> str:
        self.requests.append(request)
        if scope.active_index:
            return scope.active_index
        self.versions += 1
        return f"version-{self.versions}"


@contextmanager
def serving(world: WorldServer) -> Iterator[str]:
    """The address that the server listens at while the context lasts."""
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=4))
    retrieval_pb2_grpc.add_RetrievalServiceServicer_to_server(world, server)
    query_pb2_grpc.add_QueryServiceServicer_to_server(world, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(grace=None).wait()
