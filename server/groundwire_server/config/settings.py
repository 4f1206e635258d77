"""All settings: a class for each group of them, in the order of docs/settings.md, and one of all together."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, SecretStr, create_model, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from groundwire_index.backends import DEFAULT_BACKEND, SETTINGS, checked
from groundwire_index.embedding.model_names import DEFAULT_MODEL, PLAIN_MODEL, is_url
from groundwire_index.storage import Values
from groundwire_server.config.setting_rules import (
    Address,
    DeadlineSeconds,
    Names,
    OptionalAddress,
    PathOrUrl,
    Seconds,
    Share,
    Token,
)
from groundwire_server.domain.limits import CALL_MEMORY_SHARES, MAX_TOP_K, request_memory
from groundwire_server.domain.query.query_parameters import QueryDefaults

# No setting may be called `host`, `port` or `service_*`: Kubernetes sets GROUNDWIRE_PORT, GROUNDWIRE_SERVICE_HOST
# and the like to values of its own in every pod near a service of the name `groundwire`.
_ENVIRONMENT_PREFIX = "GROUNDWIRE_"
_OF_SERVERS = [setting for setting in SETTINGS.values() if not setting.builds]
_DEFAULTS = QueryDefaults()


class SettingsError(Exception):
    """Settings that cannot be used: one line for each, `setting: value: rule`."""


class _Storage(BaseSettings):
    """The data folder, and the backend."""

    model_config = SettingsConfigDict(
        frozen=True,
        extra="forbid",
        env_prefix=_ENVIRONMENT_PREFIX,
        env_ignore_empty=True,
        use_attribute_docstrings=True,
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

    data: Path = Path("groundwire-data")
    """The folder that holds the indexes."""

    backend: str = DEFAULT_BACKEND
    """The storage of the indexes, by the name of its backend."""

    def backend_values(self) -> Values:
        """The values of the backend's settings. Raises OptionError."""
        plain = {setting.name: getattr(self, setting.name) for setting in _OF_SERVERS}
        plain |= {name: value.get_secret_value() for name, value in plain.items() if isinstance(value, SecretStr)}
        return checked(self.backend, plain)

    @model_validator(mode="after")
    def _check_backend(self) -> Self:
        self.backend_values()
        return self


if TYPE_CHECKING:
    StorageSettings = _Storage
else:
    _FIELDS = {
        declared_setting.name: (SecretStr, SecretStr(declared_setting.default))
        if declared_setting.secret
        else (declared_setting.type | type(declared_setting.default), declared_setting.default)
        for declared_setting in _OF_SERVERS
    }
    StorageSettings = create_model("StorageSettings", __base__=_Storage, **_FIELDS)


def _default_top_k(earlier: dict[str, Any]) -> int:
    max_top_k: int = earlier["max_top_k"]
    return min(_DEFAULTS.top_k, max_top_k)


class Settings(StorageSettings):
    """Everything that an operator may change. Making one reads no environment and no file; `load_settings` does.

    A setting is an attribute: its name, type with bounds, default, and below it what it means. Rules over several
    settings are validators.
    """

    # Addresses, TLS and workers.
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

    @model_validator(mode="after")
    def _check_tls(self) -> Self:
        for setting, path, partner, partner_path in (
            ("tls_certificate", self.tls_certificate, "tls_key", self.tls_key),
            ("tls_key", self.tls_key, "tls_certificate", self.tls_certificate),
            ("tls_client_ca", self.tls_client_ca, "tls_certificate", self.tls_certificate),
            ("tls_client_crl", self.tls_client_crl, "tls_client_ca", self.tls_client_ca),
        ):
            if path is not None and partner_path is None:
                raise ValueError(f"{setting}: {path}: must be given together with {partner}")
        return self

    # How callers are identified, and which services they get.
    access_mode: Literal["trusted", "jwt", "mtls"] = "trusted"
    """Where a caller's access comes from: the request itself, a verified token, or a client certificate."""
    access_mapping: Path | None = None
    """YAML file that says what claims (`jwt`) or certificates (`mtls`) grant."""
    jwt_keys: PathOrUrl = ""
    """JSON Web Key Set with the keys that tokens are signed with: a file, or an https URL."""
    jwt_issuer: str = ""
    """The `iss` that tokens must have."""
    jwt_audiences: Names = ()
    """The accepted audiences; a token's `aud` must have one of them."""
    jwt_max_lifetime_seconds: Annotated[float, Field(ge=60, le=31_536_000, allow_inf_nan=False)] = 86_400
    """How far from now a token may expire at most."""
    allow_admin: bool = False
    """True if callers may activate and delete indexes."""
    reflection: bool = True
    """True if gRPC reflection is answered."""

    # Embedders, the reranker, corpus boosts, routing rules, and who may ask for deleted nodes.
    embedders: Names = (DEFAULT_MODEL, PLAIN_MODEL)
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
    phrasing: PathOrUrl = ""
    """The https URL of a language model that writes phrasings of questions, with its options; empty for none.

    The server sends it the questions of requests for evidence that ask for it, and no code.
    """
    phrasing_token_file: Path | None = None
    """File of the bearer token that this service asks for; read anew for each request."""
    phrasing_token: Token = SecretStr("")
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
    def _check_model_services(self) -> Self:
        """The token of a service needs the URL of one, and a phrasing service has nothing else."""
        for service in ("reranker", "phrasing"):
            for setting in (f"{service}_token_file", f"{service}_token"):
                is_given = getattr(self, setting) != type(self).model_fields[setting].default
                if is_given and not is_url(getattr(self, service)):
                    raise ValueError(f"{setting}: has no use unless {service} is a URL")
        if self.phrasing and not is_url(self.phrasing):
            raise ValueError(f"phrasing: {self.phrasing!r}: must be the https URL of a service")
        for token in ("reranker_token", "embedder_token", "phrasing_token"):
            if getattr(self, f"{token}_file") is not None and getattr(self, token).get_secret_value():
                raise ValueError(f"{token}: must not be given together with {token}_file")
        return self

    # The largest `top_k`, and defaults of queries.
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

    # Sizes, connections, deadlines, the queue and the drain.
    max_receive_bytes: Annotated[int, Field(ge=65_536, le=268_435_456)] = 4_194_304
    """The largest request message."""
    call_memory_bytes: Annotated[int, Field(ge=1_048_576, le=68_719_476_736)] = 268_435_456
    """Memory for the requests and responses of all calls in each worker, those of one identity a quarter of it."""
    max_connections: Annotated[int, Field(ge=1, le=1_000_000)] = 512
    """How many connections each worker has open to callers; one more is closed at once."""

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

    @model_validator(mode="after")
    def _check_deadlines(self) -> Self:
        if self.default_deadline_seconds > self.max_deadline_seconds:
            raise ValueError(
                f"default_deadline_seconds: {self.default_deadline_seconds:g}: "
                f"must be at most max_deadline_seconds, which is {self.max_deadline_seconds:g}"
            )
        return self

    @model_validator(mode="after")
    def _check_call_memory(self) -> Self:
        least = CALL_MEMORY_SHARES * request_memory(self.max_receive_bytes)
        if self.call_memory_bytes < least:
            raise ValueError(
                f"call_memory_bytes: {self.call_memory_bytes}: must be at least {least}, so that an identity's share "
                f"of it holds a request of max_receive_bytes, which is {self.max_receive_bytes}"
            )
        return self

    # Metrics, traces, channelz, audit and log.
    metrics_listen: OptionalAddress = ""
    """Where Prometheus scrapes metrics, over plain HTTP; empty for nowhere."""
    tracing: bool = False
    """True if calls are traced with OpenTelemetry, as the standard `OTEL_*` variables say."""
    channelz_listen: OptionalAddress = ""
    """Where `grpc.channelz` is answered, without TLS; empty for nowhere."""

    audit: Literal["off", "on", "required"] = "off"
    """Records who read what in each call. With `required`, no response is sent without its record."""
    audit_file: Path | None = None
    """The file that records are appended to; standard output without it."""
    audit_ids: bool = False
    """True if a record has the ids of what the response had, besides their number."""

    log_format: Literal["json", "console"] = "json"
    """How logs are written to stderr."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """The least level that is logged."""
    log_peers: bool = False
    """True if the log has the address that each call came from."""
    log_queries: bool = False
    """True if the log has the text of each query."""

    @model_validator(mode="after")
    def _check_audit(self) -> Self:
        if self.audit == "off" and (self.audit_file is not None or self.audit_ids):
            raise ValueError("audit: off: must be on or required where audit_file or audit_ids is given")
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
    def _check_audit_of_workers(self) -> Self:
        if self.audit != "off" and self.workers > 1 and self.audit_file is None:
            raise ValueError(
                "audit_file: must be given with several workers; their records could mix on standard output"
            )
        return self
