"""A retriever for LangChain; needs `pip install "groundwire[langchain]"`."""

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from groundwire_client import AccessContext, AsyncGroundwireClient, Filter, GroundwireClient, QueryResponse, Scopes
from groundwire_client._defaults import BUDGET_TOKENS, EVIDENCE_TOP_K
from groundwire_client._matches import QueryArguments, cited_texts


class GroundwireRetriever(BaseRetriever):
    """The whole texts that match a question best and fit the budget, as documents with citations.

    One `Query` for each question. Errors of the client pass through.

    Attributes:
        client: Asks the server. With a `GroundwireClient`, `ainvoke` waits in a thread; an `AsyncGroundwireClient`
            has `ainvoke` alone.
        scope: Where to look; a list of scopes is searched as one.
        budget_tokens: The most tokens of all texts together.
        top_k: The most matches that compete for the budget; at most the server's maximum.
        filter: Narrows every question.
        access: What the caller may see; the client's own where it is None.
    """

    client: GroundwireClient | AsyncGroundwireClient
    scope: Scopes
    budget_tokens: int = BUDGET_TOKENS
    top_k: int = EVIDENCE_TOP_K
    filter: Filter | None = None
    access: AccessContext | None = None

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        if isinstance(self.client, AsyncGroundwireClient):
            raise TypeError(
                "client: an AsyncGroundwireClient answers ainvoke alone; for invoke, give a GroundwireClient"
            )
        return self._documents(self.client.query(self.scope, query, **self._arguments()))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        if isinstance(self.client, GroundwireClient):
            return await super()._aget_relevant_documents(query, run_manager=run_manager)
        return self._documents(await self.client.query(self.scope, query, **self._arguments()))

    def _arguments(self) -> QueryArguments:
        return QueryArguments(
            top_k=self.top_k,
            cap_top_k=True,
            filter=self.filter,
            include_parents=False,
            budget_tokens=self.budget_tokens,
            access=self.access,
        )

    def _documents(self, answer: QueryResponse) -> list[Document]:
        found = cited_texts(self.scope, answer)
        return [Document(id=cited.id, page_content=cited.text, metadata=cited.metadata) for cited in found]
