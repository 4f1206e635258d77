"""The models and the files of rules that searches use, and what a query without a parameter takes."""

from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, SecretStr, model_validator

from groundwire_index.embedding.model_names import DEFAULT_MODEL, is_url
from groundwire_server.config.group import SettingsGroup
from groundwire_server.config.values import Names, PathOrUrl, Share, Token
from groundwire_server.domain.limits import MAX_TOP_K
from groundwire_server.domain.query.query_parameters import QueryDefaults

_DEFAULTS = QueryDefaults()


def _default_top_k(earlier: dict[str, Any]) -> int:
    max_top_k: int = earlier["max_top_k"]
    return min(_DEFAULTS.top_k, max_top_k)


class QuerySettings(SettingsGroup):
    """The largest `top_k`, and defaults of queries."""

    max_top_k: Annotated[int, Field(ge=1, le=MAX_TOP_K)] = MAX_TOP_K
    """The largest `top_k`."""

    default_top_k: Annotated[int, Field(ge=1)] = Field(default_factory=_default_top_k)
    """How many matches a query without `top_k` returns: 5, or `max_top_k` if that is less, unless given."""
    default_alpha: Share = _DEFAULTS.alpha
    """The weight of the dense retriever in a weighted fusion, for queries without `alpha`."""
    default_min_sim: Share = _DEFAULTS.min_sim
    """The least similarity of dense candidates, for queries without `min_sim` that no filter narrows."""
    default_diversify_strength: Share = _DEFAULTS.diversify_strength
    """How much matches that are similar to better ones are lowered, for queries without `diversify_strength`."""

    @property
    def query_defaults(self) -> QueryDefaults:
        """The defaults of absent parameters of a query."""
        return QueryDefaults(
            top_k=self.default_top_k,
            alpha=self.default_alpha,
            min_sim=self.default_min_sim,
            diversify_strength=self.default_diversify_strength,
        )

    @model_validator(mode="after")
    def _check_top_k(self) -> Self:
        if self.default_top_k > self.max_top_k:
            raise ValueError(
                f"default_top_k: {self.default_top_k}: must be at most max_top_k, which is {self.max_top_k}"
            )
        return self


class RetrievalSettings(SettingsGroup):
    """Embedders, the reranker, corpus boosts, routing rules, and who may ask for deleted nodes."""

    embedders: Names = (DEFAULT_MODEL,)
    """Names, paths or service URLs of the models that queries are embedded with, one for each kind of index served.

    The server sends queries to these services.
    """
    embedder_token_file: Path | None = None
    """File of the bearer token that the embedding services ask for; read anew for each request."""
    embedder_token: Token = SecretStr("")
    """That token itself, for deployments that pass secrets in the environment; never logged."""
    reranker: PathOrUrl = ""
    """The reranker of `RERANK_CODEBERT` and a query's `rerank`; empty for none.

    The name or path of a cross-encoder, or the https URL of a service with its options. The server sends queries and
    the texts of candidates to that service.
    """
    reranker_token_file: Path | None = None
    """File of the bearer token that the service asks for; read anew for each request."""
    reranker_token: Token = SecretStr("")
    """The token itself, for deployments that pass secrets in the environment; never logged."""
    widen_factor: Annotated[int, Field(ge=1, le=100)] = 6
    """How many times `top_k` candidates a reranker reads."""

    corpus_boosts: Path | None = None
    """YAML file of rules that raise corpus types by words of a query; without it, the packaged rules apply."""
    routing: Path | None = None
    """YAML file of routing rules, selected by `process`, `doc_class` and `workflow_id` of a query; none without it."""
    lifecycle_override_acl_tags: Names = ()
    """ACL tags whose holders may ask for deleted nodes; `*` lets everyone."""

    @model_validator(mode="after")
    def _check_reranker(self) -> Self:
        """The token of a reranking service needs `reranker` to be the URL of one."""
        for setting in ("reranker_token_file", "reranker_token"):
            if getattr(self, setting) != type(self).model_fields[setting].default and not is_url(self.reranker):
                raise ValueError(f"{setting}: has no use unless reranker is a URL")
        for token in ("reranker_token", "embedder_token"):
            if getattr(self, f"{token}_file") is not None and getattr(self, token).get_secret_value():
                raise ValueError(f"{token}: must not be given together with {token}_file")
        return self
