"""The exporter of spans, as the standard OTEL_* variables describe it."""

import os
from pkgutil import resolve_name

from opentelemetry.sdk.trace.export import SpanExporter

from groundwire_server.config import SettingsError

PROTOCOL_VARIABLES = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_PACKAGES = {
    "grpc": "opentelemetry.exporter.otlp.proto.grpc",
    "http/protobuf": "opentelemetry.exporter.otlp.proto.http",
}


def otlp_exporter() -> SpanExporter:
    """Makes it; OTLP over gRPC unless the variables say otherwise. Raises SettingsError when they cannot be used."""
    named = [(variable, value) for variable in PROTOCOL_VARIABLES if (value := os.environ.get(variable))]
    variable, protocol = named[0] if named else ("", "grpc")
    if protocol not in _PACKAGES:
        raise SettingsError(f"tracing: {variable}={protocol}: must be {' or '.join(_PACKAGES)}")
    try:
        exporter: SpanExporter = resolve_name(f"{_PACKAGES[protocol]}.trace_exporter:OTLPSpanExporter")()
    except Exception as error:  # the exporters raise whatever their parsing of a variable raises
        raise SettingsError(f"tracing: an OTEL_EXPORTER_OTLP_* variable cannot be used: {error}") from error
    return exporter
