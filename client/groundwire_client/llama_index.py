"""A retriever for LlamaIndex; needs `pip install "groundwire[llama-index]"`."""

import asyncio

from llama_index.core.callbacks import CallbackManager
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from groundwire_client import AccessContext, AsyncGroundwireClient, Evidence, Filter, GroundwireClient, Scopes
from groundwire_client._cited_texts import CitedText, EvidenceArguments, cited_texts
from groundwire_client._defaults import BUDGET_TOKENS

_SHOWN = "citation"
"""The only metadata that a language model reads with a text."""


class GroundwireRetriever(BaseRetriever):
    """The passages that answer a question best and fit the budget, as nodes with citations.

    One `GatherEvidence` for each question. Errors of the client pass through.

    Args:
        client: Asks the server. With a `GroundwireClient`, `aretrieve` waits in a thread; an `AsyncGroundwireClient`
            has `aretrieve` alone.
        scope: Where to look; a list of scopes is searched as one.
        budget_tokens: The most tokens of the evidence.
        graph_share: The share of the budget that is open to what edges join to the best matches; the server's default
            where it is None.
        filter: Narrows every question.
        access: What the caller may see; the client's own where it is None.
        callback_manager: LlamaIndex's own.
    """

    def __init__(
        self,
        client: GroundwireClient | AsyncGroundwireClient,
        scope: Scopes,
        *,
        budget_tokens: int = BUDGET_TOKENS,
        graph_share: float | None = None,
        filter: Filter | None = None,
        access: AccessContext | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        super().__init__(callback_manager=callback_manager)
        self._client = client
        self._scope = scope
        self._arguments = EvidenceArguments(
            budget_tokens=budget_tokens, graph_share=graph_share, filter=filter, access=access
        )

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if isinstance(self._client, AsyncGroundwireClient):
            raise TypeError(
                "client: an AsyncGroundwireClient answers aretrieve alone; for retrieve, give a GroundwireClient"
            )
        return self._nodes(self._client.evidence(self._scope, query_bundle.query_str, **self._arguments))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if isinstance(self._client, GroundwireClient):
            return await asyncio.to_thread(self._retrieve, query_bundle)
        return self._nodes(await self._client.evidence(self._scope, query_bundle.query_str, **self._arguments))

    def _nodes(self, evidence: Evidence) -> list[NodeWithScore]:
        return [NodeWithScore(node=_node(cited), score=cited.score) for cited in cited_texts(evidence)]


def _node(cited: CitedText) -> TextNode:
    return TextNode(
        id_=cited.id,
        text=cited.text,
        metadata=cited.metadata,
        excluded_embed_metadata_keys=list(cited.metadata),
        excluded_llm_metadata_keys=[key for key in cited.metadata if key != _SHOWN],
    )
