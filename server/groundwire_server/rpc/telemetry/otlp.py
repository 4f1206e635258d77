"""The exporter of spans, as the standard OTEL_* variables describe it."""

import os

from opentelemetry.sdk.trace.export import SpanExporter

from groundwire_server.config import SettingsError

PROTOCOL_VARIABLES = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_GRPC, _HTTP = "grpc", "http/protobuf"


def otlp_exporter() -> SpanExporter:
    """Makes it; OTLP over gRPC unless the variables say otherwise. Raises SettingsError when they cannot be used."""
    named = [(variable, value) for variable in PROTOCOL_VARIABLES if (value := os.environ.get(variable))]
    variable, protocol = named[0] if named else ("", _GRPC)
    if protocol not in (_GRPC, _HTTP):
        raise SettingsError(f"tracing: {variable}={protocol}: must be {_GRPC} or {_HTTP}")
    try:
        return _grpc_exporter() if protocol == _GRPC else _http_exporter()
    except Exception as error:  # the exporters raise whatever their parsing of a variable raises
        raise SettingsError(f"tracing: an OTEL_EXPORTER_OTLP_* variable cannot be used: {error}") from error


def _grpc_exporter() -> SpanExporter:
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter()


def _http_exporter() -> SpanExporter:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter()
