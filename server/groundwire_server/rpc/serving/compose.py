"""Puts the server's parts together from its settings: embedders, backend, rerankers, engine."""

from collections.abc import Callable
from pathlib import Path
from pkgutil import resolve_name

from pydantic import SecretStr

from groundwire_configuration.model_service import model_service
from groundwire_configuration.service_error import ServiceError
from groundwire_index.backends import BACKENDS
from groundwire_index.embedding.embedder import Embedder, EmbedderError, needs_local_models
from groundwire_index.embedding.int8.store import EncoderStore
from groundwire_index.embedding.model_names import PACKAGED_MODELS, checked_url, is_url, without_user
from groundwire_index.storage import OptionError, Values
from groundwire_server.backends.index_directory import IndexDirectory
from groundwire_server.backends.interface import ServedBackend
from groundwire_server.config import Settings, SettingsError
from groundwire_server.domain.query.routing import RoutingRule
from groundwire_server.engine.corpus_boost import DEFAULT_BOOSTS_FILE, CorpusBoosts
from groundwire_server.engine.engine import RetrievalEngine
from groundwire_server.engine.indexes import Indexes
from groundwire_server.engine.phrasing.phrasing_service import PhrasingService
from groundwire_server.engine.query import QuerySettings
from groundwire_server.engine.rerankers.rerank import KeywordReranker, Reranker, Rerankers
from groundwire_server.engine.routing_file import load_routing
from groundwire_server.query_embedding.deferred import DeferredEmbedder
from groundwire_server.query_embedding.query_encoders import QueryEncoders
from groundwire_server.query_embedding.query_vectors import QueryVectors

_SECONDS = 10.0
"""How long a model service may take for a request, unless its name has other `seconds`."""


def compose(settings: Settings) -> tuple[RetrievalEngine, IndexDirectory]:
    """The engine, and the backend as its index directory.

    Loads the configured models, which may take seconds. Milvus is not asked for anything: a server starts without it,
    and is not ready until it answers.

    Raises SettingsError when the backend cannot be had or a model cannot be loaded.
    """
    backend = _open_backend(settings)
    query_vectors = QueryVectors(
        QueryEncoders(_load_embedders(settings), EncoderStore(settings.data), settings.embedders)
    )
    reranker = _load_reranker(settings)
    rerankers = Rerankers(keyword=KeywordReranker(settings.widen_factor), codebert=reranker)
    query_settings = QuerySettings(
        boosts=_load_boosts(settings), routing=_load_routing(settings), defaults=settings.query_defaults
    )
    indexes = Indexes(backend, frozenset(settings.lifecycle_override_acl_tags))
    engine = RetrievalEngine(
        indexes, query_vectors, rerankers, query_settings, settings.max_top_k, _load_phrasing(settings)
    )
    return engine, backend


def _open_backend(settings: Settings) -> ServedBackend:
    """The backend; nothing is asked of it yet."""
    open_backend: Callable[[Path, Values], ServedBackend] = resolve_name(BACKENDS[settings.backend].serving)
    try:
        return open_backend(settings.data, settings.backend_values())
    except OptionError as error:
        raise SettingsError(str(error)) from error


def _load_boosts(settings: Settings) -> CorpusBoosts:
    try:
        return CorpusBoosts.load(settings.corpus_boosts or DEFAULT_BOOSTS_FILE)
    except (OSError, ValueError) as error:
        raise _unusable("corpus_boosts", str(settings.corpus_boosts), error) from error


def _load_routing(settings: Settings) -> tuple[RoutingRule, ...]:
    if settings.routing is None:
        return ()
    try:
        return load_routing(settings.routing, settings.max_top_k)
    except (OSError, ValueError) as error:
        raise _unusable("routing", str(settings.routing), error) from error


# A server that needs no model must not pay seconds and hundreds of megabytes for torch: hence the imports below.


def _load_embedders(settings: Settings) -> list[Embedder]:
    """The configured models that can embed queries themselves: those of the operator's own.

    One with an int8 encoder in the data folder is loaded only when an index has none. Of a packaged model there is
    always an encoder where there is an index of it.
    """
    records = EncoderStore(settings.data).records()
    embedders: list[Embedder] = []
    for name in settings.embedders:
        if name in PACKAGED_MODELS:
            continue
        if is_url(name):
            embedders.append(_embedding_service(name, settings))
            continue
        converted = {record.model: record.dimension for record in records if record.embedder == name}
        embedders.extend(DeferredEmbedder(name, *known, _load_embedder) for known in converted.items())
        if converted:
            continue
        try:
            embedders.append(_load_embedder(name))
        except EmbedderError as error:
            raise _unusable("embedders", name, error) from error
    return embedders


def _load_embedder(name: str) -> Embedder:
    with needs_local_models(name):
        from groundwire_index.embedding.sentence_transformer import SentenceTransformerEmbedder
    return SentenceTransformerEmbedder(name)


def _load_reranker(settings: Settings) -> Reranker | None:
    if not settings.reranker:
        return None
    try:
        return _http_reranker(settings) if is_url(settings.reranker) else _cross_encoder(settings)
    except (OSError, ValueError, EmbedderError) as error:
        raise _unusable("reranker", settings.reranker, error) from error


def _cross_encoder(settings: Settings) -> Reranker:
    with needs_local_models(settings.reranker):
        from groundwire_server.engine.rerankers.cross_encoder import CrossEncoderReranker
    return CrossEncoderReranker(settings.reranker, settings.widen_factor)


def _http_reranker(settings: Settings) -> Reranker:
    from groundwire_configuration.http_service import HttpService
    from groundwire_server.engine.rerankers.http_reranker import HttpReranker, rerank_api

    named = model_service(settings.reranker, _SECONDS, ("api",))
    token = _token("reranker_token", settings.reranker_token, settings.reranker_token_file)
    service = HttpService(named.url, token, named.seconds)
    return HttpReranker(service, rerank_api(named.options.get("api", "rerank")), named.model, settings.widen_factor)


def _load_phrasing(settings: Settings) -> PhrasingService | None:
    if not settings.phrasing:
        return None
    from groundwire_configuration.http_service import HttpService

    try:
        named = model_service(settings.phrasing, _SECONDS)
        token = _token("phrasing_token", settings.phrasing_token, settings.phrasing_token_file)
        return PhrasingService(HttpService(named.url, token, named.seconds), named.model)
    except ValueError as error:
        raise _unusable("phrasing", settings.phrasing, error) from error


def _embedding_service(url: str, settings: Settings) -> Embedder:
    from groundwire_index.embedding.service import ServiceEmbedder

    token = _token("embedder_token", settings.embedder_token, settings.embedder_token_file)
    try:
        return ServiceEmbedder(checked_url(url), token, _SECONDS)
    except ValueError as error:
        raise _unusable("embedders", url, error) from error


def _token(setting: str, given: SecretStr, file: Path | None) -> Callable[[], str]:
    from groundwire_configuration.http_service import token_in

    token = token_in(file) if file else given.get_secret_value
    try:
        token()
    except ServiceError as error:
        raise SettingsError(f"{setting}_file: {file}: {error}") from None
    return token


def _unusable(setting: str, model: str, error: Exception) -> SettingsError:
    on_one_line = " ".join(str(error).split())
    return SettingsError(f"{setting}: {without_user(model)}: {on_one_line}")
