"""The server's settings: flags over environment over file over defaults, all checked before anything starts."""

import difflib
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeAlias, cast, get_args

from pydantic import BeforeValidator, Field, SecretStr, ValidationError, model_validator
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, EnvSettingsSource, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

from groundwire_index.embedding.model_names import DEFAULT_MODEL
from groundwire_index.milvus.address import SECONDS as MILVUS_SECONDS
from groundwire_index.milvus.address import MilvusAddress, check_ca, token_in
from groundwire_index.yaml_file import YamlFileError, read_yaml
from groundwire_server.domain.limits import (
    CALL_MEMORY_SHARES,
    MAX_HALF_LIFE_DAYS,
    MAX_LIST_LIMIT,
    Limits,
    request_memory,
)
from groundwire_server.domain.query.query import Freshness
from groundwire_server.domain.query.query_parameters import QueryDefaults
from groundwire_server.setting_values import (
    Address,
    DeadlineSeconds,
    Names,
    OptionalAddress,
    OptionalMilvusUri,
    PathOrUrl,
    Seconds,
    Share,
    SigningAlgorithm,
    Token,
    is_url,
    split_names,
)

# No setting may be called `host`, `port` or `service_*`: Kubernetes sets GROUNDWIRE_PORT, GROUNDWIRE_SERVICE_HOST
# and the like to values of its own in every pod beside a service of the name `groundwire`.
ENVIRONMENT_PREFIX = "GROUNDWIRE_"
CONFIG_FILE_VARIABLE = "GROUNDWIRE_CONFIG"

_MILVUS_SETTINGS = (
    "milvus_uri",
    "milvus_database",
    "milvus_token_file",
    "milvus_token",
    "milvus_ca",
    "milvus_seconds",
)
_USER = re.compile(r"//[^/]*@")
"""What a URL says of its user, a password perhaps."""
_LIMITS = Limits()
_DEFAULTS = QueryDefaults()
_ListLimit: TypeAlias = Annotated[int, Field(ge=1, le=MAX_LIST_LIMIT)]


class SettingsError(Exception):
    """Settings that cannot be used: one line for each, `setting: value: rule`."""


def _default_top_k(earlier: dict[str, Any]) -> int:
    max_top_k: int = earlier["max_top_k"]
    return min(_DEFAULTS.top_k, max_top_k)


class Settings(BaseSettings):
    """Everything that an operator may change. Making one reads no environment and no file; `load_settings` does."""

    model_config = SettingsConfigDict(
        frozen=True,
        extra="forbid",
        env_prefix=ENVIRONMENT_PREFIX,
        env_ignore_empty=True,
        use_attribute_docstrings=True,
    )

    data: Path = Path("groundwire-data")
    """The folder that holds the indexes."""

    backend: Literal["embedded", "milvus"] = "embedded"
    """What holds the indexes: the data folder itself, or Milvus."""
    milvus_uri: OptionalMilvusUri = ""
    """Where Milvus is, `http://HOST:PORT` or `https://HOST:PORT`."""
    milvus_database: Annotated[str, Field(min_length=1)] = "default"
    """The database of Milvus that holds the indexes."""
    milvus_token_file: Path | None = None
    """File of the token that Milvus asks for: `user:password`, or an API key."""
    milvus_token: Token = SecretStr("")
    """The token itself, for deployments that pass secrets in the environment; never logged."""
    milvus_ca: Path | None = None
    """PEM file of the CAs that https to Milvus trusts; the usual ones without it."""
    milvus_seconds: DeadlineSeconds = MILVUS_SECONDS
    """How long Milvus may take to answer one request."""

    listen: Address = "127.0.0.1:50051"
    """Where calls are answered, HOST:PORT; port 0 takes a free one."""
    health_listen: OptionalAddress = ""
    """Another address, for health only, without TLS; empty for none."""
    tls_certificate: Path | None = None
    """PEM file of the server's certificate chain; without it calls are not encrypted."""
    tls_key: Path | None = None
    """PEM file of the certificate's key, without a passphrase."""
    tls_client_ca: Path | None = None
    """PEM file of the CAs whose client certificates are demanded; without it no client certificate is."""
    tls_client_crl: Path | None = None
    """PEM or DER file of revocation lists that those CAs have signed; without it no revocation is noticed."""

    workers: Annotated[int, Field(ge=1, le=256)] = 1
    """How many processes answer calls at the same address; more than one needs Linux."""

    access_mode: Literal["trusted", "jwt", "mtls"] = "trusted"
    """Where a caller's access comes from: the request itself, a verified token, or a client certificate."""
    access_mapping: Path | None = None
    """YAML file that says what claims (`jwt`) or certificates (`mtls`) grant."""
    jwt_keys: PathOrUrl = ""
    """JSON Web Key Set with the keys that tokens are signed with: a file, or an https URL."""
    jwt_issuer: str = ""
    """The `iss` that tokens must have."""
    jwt_audiences: Names = ()
    """The audiences of which a token's `aud` must hold one."""
    jwt_algorithms: Annotated[
        tuple[SigningAlgorithm, ...], NoDecode, BeforeValidator(split_names), Field(min_length=1)
    ] = get_args(SigningAlgorithm)
    """How tokens may be signed. Symmetric keys and unsigned tokens are never accepted."""
    jwt_leeway_seconds: Annotated[float, Field(ge=0, le=300, allow_inf_nan=False)] = 30
    """How far the issuer's clock may differ from this server's."""
    jwt_max_lifetime_seconds: Annotated[float, Field(ge=60, le=31_536_000, allow_inf_nan=False)] = 86_400
    """How far from now a token may expire at most."""
    jwt_refresh_seconds: Annotated[float, Field(ge=10, le=86_400, allow_inf_nan=False)] = 300
    """How often the keys at a URL are read: the longest that a withdrawn key is still accepted."""
    allow_admin: bool = False
    """Whether callers may activate and delete indexes."""
    reflection: bool = True
    """Whether gRPC reflection is answered."""

    embedders: Names = (DEFAULT_MODEL,)
    """Names or paths of the models that queries are embedded with, one for each kind of index served."""
    reranker: PathOrUrl = ""
    """The reranker of `RERANK_CODEBERT` and a query's `rerank`: the name or path of a cross-encoder, or the https URL
    of a service, to which queries and the texts of candidates are sent; empty for none."""
    reranker_api: Literal["rerank", "tei"] = "rerank"
    """The service's protocol: `rerank` of Cohere, Jina and vLLM, or `tei` of Text Embeddings Inference."""
    reranker_model: str = ""
    """The name of the service's model; empty for its only one."""
    reranker_token_file: Path | None = None
    """File of the bearer token that the service asks for; read anew for each request."""
    reranker_token: Token = SecretStr("")
    """The token itself, for deployments that pass secrets in the environment; never logged."""
    reranker_seconds: DeadlineSeconds = 10
    """How long the service may take to answer one request."""
    widen_factor: Annotated[int, Field(ge=1, le=100)] = 6
    """How many times `top_k` candidates a reranker reads."""

    corpus_boosts: Path | None = None
    """YAML file of rules by which words of a query raise corpus types; the packaged ones without it."""
    routing: Path | None = None
    """YAML file of routing rules, selected by `process`, `doc_class` and `workflow_id` of a query; none without it."""
    lifecycle_override_acl_tags: Names = ()
    """ACL tags whose holders may ask for deleted nodes; `*` lets everyone."""

    max_top_k: Annotated[int, Field(ge=1, le=1_000)] = _LIMITS.max_top_k
    """The largest `top_k`."""
    max_query_chars: Annotated[int, Field(ge=1, le=1_000_000)] = _LIMITS.max_query_chars
    """The longest query, in characters."""
    max_expand_nodes: Annotated[int, Field(ge=1, le=10_000)] = _LIMITS.max_expand_nodes
    """The largest `max_nodes` of a walk or a search for paths."""

    default_top_k: Annotated[int, Field(ge=1)] = Field(default_factory=_default_top_k)
    """How many matches a query without `top_k` returns: 5, or `max_top_k` if that is less, unless given."""
    default_alpha: Share = _DEFAULTS.alpha
    """The weight of the dense retriever in a weighted fusion, for queries without `alpha`."""
    default_min_sim: Share = _DEFAULTS.min_sim
    """The least similarity of dense candidates, for queries without `min_sim` that no filter narrows."""
    default_vec_limit: _ListLimit | None = None
    """The most dense candidates, for queries without `vec_limit`: 3 times `top_k` and at least 150 unless given."""
    default_lex_limit: _ListLimit | None = None
    """The same for each other retriever."""
    default_trgm_limit: Share = _DEFAULTS.trgm_limit
    """The least similarity of trigram candidates, for queries without `trgm_limit`."""
    default_diversify_strength: Share = _DEFAULTS.diversify_strength
    """How much matches that are similar to better ones are lowered, for queries without `diversify_strength`."""
    default_freshness_half_life_days: Annotated[float, Field(ge=0, le=MAX_HALF_LIFE_DAYS, allow_inf_nan=False)] = (
        _DEFAULTS.freshness.half_life_days
    )
    """The age in days at which a conversation's freshness is one half, for queries without their own; 0 for off."""
    default_freshness_weight: Share = _DEFAULTS.freshness.weight
    """The share of freshness in a conversation's score, for queries without their own; 0 for off."""

    max_receive_bytes: Annotated[int, Field(ge=65_536, le=268_435_456)] = 4_194_304
    """The largest request message."""

    receive_seconds: DeadlineSeconds = 10
    """How long a request may take to arrive, once its call is admitted."""
    call_memory_bytes: Annotated[int, Field(ge=1_048_576, le=68_719_476_736)] = 268_435_456
    """Memory for the requests and responses of all calls in each worker, those of one identity a quarter of it."""
    max_connections: Annotated[int, Field(ge=1, le=1_000_000)] = 512
    """How many connections each worker has open to callers; one more is closed at once."""
    max_connection_streams: Annotated[int, Field(ge=1, le=100_000)] = 1_024
    """How many calls a connection may carry at a time; clients keep further ones waiting."""

    default_deadline_seconds: DeadlineSeconds = 30
    """The deadline of calls without one."""
    max_deadline_seconds: DeadlineSeconds = 120
    """The longest that a call may take, whatever its deadline."""
    max_waiting_calls: Annotated[int, Field(ge=0, le=100_000)] = 128
    """How many calls of one method may wait in each worker for the one that is served; the next is OVERLOADED."""
    max_connection_age_seconds: Seconds = 1_800
    """When a client is asked to reconnect; 0 for never."""
    drain_pause_seconds: Seconds = 5
    """How long calls are still accepted after NOT_SERVING was reported."""
    drain_grace_seconds: Seconds = 30
    """How long calls in progress may then take."""

    metrics_listen: OptionalAddress = ""
    """Where Prometheus scrapes metrics, over plain HTTP; empty for nowhere."""
    tracing: bool = False
    """Whether calls are traced with OpenTelemetry, as the standard `OTEL_*` variables say."""
    trace_ratio: Share = 0.01
    """The share that is sampled of calls without a trace context."""
    channelz_listen: OptionalAddress = ""
    """Where `grpc.channelz` is answered, without TLS; empty for nowhere."""

    audit: Literal["off", "on", "required"] = "off"
    """Whether each call is recorded: who read what. With `required`, no response is sent without its record."""
    audit_file: Path | None = None
    """The file that records are appended to; standard output without it."""
    audit_ids: bool = False
    """Whether a record has the ids of what the response had, besides their number."""

    log_format: Literal["json", "console"] = "json"
    """How logs are written to stderr."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """The least level that is logged."""
    log_peers: bool = False
    """Whether the log has the address that each call came from."""
    log_queries: bool = False
    """Whether the log has the text of each query."""

    @property
    def limits(self) -> Limits:
        """The limits that requests are checked against."""
        return Limits(self.max_top_k, self.max_query_chars, self.max_expand_nodes)

    @property
    def query_defaults(self) -> QueryDefaults:
        """What the absent parameters of a query take."""
        return QueryDefaults(
            top_k=self.default_top_k,
            alpha=self.default_alpha,
            min_sim=self.default_min_sim,
            vec_limit=self.default_vec_limit,
            lex_limit=self.default_lex_limit,
            trgm_limit=self.default_trgm_limit,
            diversify_strength=self.default_diversify_strength,
            freshness=Freshness(self.default_freshness_half_life_days, self.default_freshness_weight),
        )

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        if self.default_deadline_seconds > self.max_deadline_seconds:
            raise ValueError(
                f"default_deadline_seconds: {self.default_deadline_seconds:g}: "
                f"must be at most max_deadline_seconds, which is {self.max_deadline_seconds:g}"
            )
        if self.default_top_k > self.max_top_k:
            raise ValueError(
                f"default_top_k: {self.default_top_k}: must be at most max_top_k, which is {self.max_top_k}"
            )
        least = CALL_MEMORY_SHARES * request_memory(self.max_receive_bytes)
        if self.call_memory_bytes < least:
            raise ValueError(
                f"call_memory_bytes: {self.call_memory_bytes}: must be at least {least}, so that an identity's share "
                f"of it holds a request of max_receive_bytes, which is {self.max_receive_bytes}"
            )
        if self.audit != "off" and self.workers > 1 and self.audit_file is None:
            raise ValueError(
                "audit_file: must be given with several workers; their records could mix on standard output"
            )
        if self.audit == "off" and (self.audit_file is not None or self.audit_ids):
            raise ValueError("audit: off: must be on or required where audit_file or audit_ids is given")
        for setting, path, partner, partner_path in (
            ("tls_certificate", self.tls_certificate, "tls_key", self.tls_key),
            ("tls_key", self.tls_key, "tls_certificate", self.tls_certificate),
            ("tls_client_ca", self.tls_client_ca, "tls_certificate", self.tls_certificate),
            ("tls_client_crl", self.tls_client_crl, "tls_client_ca", self.tls_client_ca),
        ):
            if path is not None and partner_path is None:
                raise ValueError(f"{setting}: {path}: must be given together with {partner}")
        return self

    @model_validator(mode="after")
    def _check_identity(self) -> Self:
        """Each access mode has all that it needs, and no setting is given that only another mode uses."""
        needs: Mapping[str, tuple[str, ...]] = {
            "trusted": (),
            "jwt": ("access_mapping", "jwt_keys", "jwt_issuer", "jwt_audiences"),
            "mtls": ("access_mapping", "tls_client_ca"),
        }
        for setting in needs[self.access_mode]:
            if not getattr(self, setting):
                raise ValueError(f"{setting}: must be given in the access mode {self.access_mode}")
        for setting in ("access_mapping", "jwt_keys", "jwt_issuer", "jwt_audiences"):
            value = getattr(self, setting)
            if value and setting not in needs[self.access_mode]:
                raise ValueError(
                    f"{setting}: {value}: has no use in the access mode {self.access_mode}; set access_mode"
                )
        return self

    @model_validator(mode="after")
    def _check_reranker(self) -> Self:
        """The settings of a reranking service need `reranker` to be the URL of one."""
        for setting in ("reranker_api", "reranker_model", "reranker_token_file", "reranker_token", "reranker_seconds"):
            if getattr(self, setting) != type(self).model_fields[setting].default and not is_url(self.reranker):
                raise ValueError(f"{setting}: has no use unless reranker is a URL")
        if self.reranker_token_file is not None and self.reranker_token.get_secret_value():
            raise ValueError("reranker_token: must not be given together with reranker_token_file")
        return self

    @model_validator(mode="after")
    def _check_milvus(self) -> Self:
        """The settings of Milvus are for the backend of that name, which needs an address."""
        if self.backend == "milvus" and not self.milvus_uri:
            raise ValueError("milvus_uri: must be given with the backend milvus")
        for setting in _MILVUS_SETTINGS:
            if self.backend != "milvus" and getattr(self, setting) != type(self).model_fields[setting].default:
                raise ValueError(f"{setting}: has no use with the backend {self.backend}; set backend")
        if self.milvus_token_file is not None and self.milvus_token.get_secret_value():
            raise ValueError("milvus_token: must not be given together with milvus_token_file")
        return self

    def milvus_address(self) -> MilvusAddress:
        """How to speak to Milvus, for the backend of that name. Raises SettingsError for a file that is no use."""
        file, ca = self.milvus_token_file, self.milvus_ca
        token = self.milvus_token.get_secret_value()
        return MilvusAddress(
            uri=self.milvus_uri,
            database=self.milvus_database,
            token=token if file is None else _usable("milvus_token_file", token_in, file),
            ca=None if ca is None else _usable("milvus_ca", check_ca, ca),
            seconds=self.milvus_seconds,
        )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what the constructor is given; `load_settings` puts the sources together."""
        return (init_settings,)


def load_settings(config_file: Path | None, **flags: object) -> Settings:
    """The settings in effect: flags over `GROUNDWIRE_*` over the YAML file over defaults.

    A flag that is None was not given. Without `config_file`, the file that the variable GROUNDWIRE_CONFIG names is
    read, if any. An empty variable counts as unset. Raises SettingsError for a file that cannot be read, an unknown
    setting or a value that breaks its rule.
    """
    variable = os.environ.get(CONFIG_FILE_VARIABLE)
    if config_file is None and variable:
        config_file = Path(variable)
    from_file = _read_file(config_file) if config_file else {}
    from_environment = EnvSettingsSource(Settings)()
    given_flags = {name: value for name, value in flags.items() if value is not None}
    try:
        return Settings.model_validate({**from_file, **from_environment, **given_flags})
    except ValidationError as error:
        # A default that follows from other settings is no problem of its own when one of these is broken.
        problems = [details for details in error.errors() if details["type"] != "default_factory_not_called"]
        raise SettingsError("\n".join(map(_line, problems))) from None


def _read_file(path: Path) -> Mapping[str, object]:
    try:
        content = read_yaml(path)
    except OSError as error:
        raise SettingsError(f"config: {path}: {error.strerror}") from None
    except YamlFileError as error:
        raise SettingsError(f"config: {path}: {error}") from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise SettingsError(f"config: {path}: must hold `setting: value` lines")
    values = {str(name): value for name, value in cast("dict[object, object]", content).items()}
    unknown = [name for name in values if name not in Settings.model_fields]
    if unknown:
        raise SettingsError("\n".join(f"{name}: {path}: {_unknown_rule(name)}" for name in unknown))
    return values


def _usable(setting: str, rule: Callable[[Path], str], file: Path) -> str:
    try:
        return rule(file)
    except ValueError as error:
        raise SettingsError(f"{setting}: {file}: {error}") from None


def _unknown_rule(name: str) -> str:
    (nearest,) = difflib.get_close_matches(name, Settings.model_fields, n=1, cutoff=0)
    return f"is no setting; the nearest is {nearest}"


def _line(details: ErrorDetails) -> str:
    """One problem as `setting: value: rule`; rules over several settings bring their own line."""
    rule = details["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
    if not details["loc"]:
        return rule
    setting = ".".join(str(part) for part in details["loc"])
    if setting in _SECRETS:
        return f"{setting}: {rule}"
    shown = _USER.sub("//...@", details["input"]) if isinstance(details["input"], str) else details["input"]
    return f"{setting}: {shown!r}: {rule}"


_SECRETS = frozenset(name for name, field in Settings.model_fields.items() if field.annotation is SecretStr)
