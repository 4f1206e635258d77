"""Where calls are answered, how connections are encrypted, by how many processes, and the limits of calls."""

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from groundwire_server.config.group import SettingsGroup
from groundwire_server.config.values import Address, DeadlineSeconds, OptionalAddress, Seconds
from groundwire_server.domain.limits import CALL_MEMORY_SHARES, request_memory


class CallSettings(SettingsGroup):
    """Sizes, connections, deadlines, the queue and the drain."""

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


class ListeningSettings(SettingsGroup):
    """Addresses, TLS and workers."""

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
