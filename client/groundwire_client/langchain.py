"""A retriever for LangChain; needs `pip install "groundwire[langchain]"`."""

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from groundwire_client import AccessContext, AsyncGroundwireClient, Evidence, Filter, GroundwireClient, Scopes
from groundwire_client._cited_texts import EvidenceArguments, cited_texts
from groundwire_client._defaults import BUDGET_TOKENS


class GroundwireRetriever(BaseRetriever):
    """The passages that answer a question best and fit the budget, as documents with citations.

    One `GatherEvidence` for each question. Errors of the client pass through.

    Attributes:
        client: Asks the server. With a `GroundwireClient`, `ainvoke` waits in a thread; an `AsyncGroundwireClient`
            has `ainvoke` alone.
        scope: Where to look; a list of scopes is searched as one.
        budget_tokens: The most tokens of the evidence.
        graph_share: The share of the budget that is open to what edges join to the best matches; the server's default
            where it is None.
        filter: Narrows every question.
        access: What the caller may see; the client's own where it is None.
    """

    client: GroundwireClient | AsyncGroundwireClient
    scope: Scopes
    budget_tokens: int = BUDGET_TOKENS
    graph_share: float | None = None
    filter: Filter | None = None
    access: AccessContext | None = None

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        if isinstance(self.client, AsyncGroundwireClient):
            raise TypeError(
                "client: an AsyncGroundwireClient answers ainvoke alone; for invoke, give a GroundwireClient"
            )
        return self._documents(self.client.evidence(self.scope, query, **self._arguments()))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        if isinstance(self.client, GroundwireClient):
            return await super()._aget_relevant_documents(query, run_manager=run_manager)
        return self._documents(await self.client.evidence(self.scope, query, **self._arguments()))

    def _arguments(self) -> EvidenceArguments:
        return EvidenceArguments(
            budget_tokens=self.budget_tokens, graph_share=self.graph_share, filter=self.filter, access=self.access
        )

    def _documents(self, evidence: Evidence) -> list[Document]:
        passages = cited_texts(evidence)
        return [Document(id=cited.id, page_content=cited.text, metadata=cited.metadata) for cited in passages]
