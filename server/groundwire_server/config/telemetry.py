"""Telemetry of the server and of its calls: metrics, traces, the audit and the log."""

from pathlib import Path
from typing import Literal, Self

from pydantic import model_validator

from groundwire_server.config.group import SettingsGroup
from groundwire_server.config.values import OptionalAddress


class TelemetrySettings(SettingsGroup):
    """Metrics, traces, channelz, audit and log."""

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
