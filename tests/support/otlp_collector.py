"""A real OpenTelemetry collector as far as tests need one: it takes spans over OTLP and keeps them."""

import threading
from collections.abc import Iterator
from concurrent import futures
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Span

PATIENCE_SECONDS = 300


class Collector(trace_service_pb2_grpc.TraceServiceServicer):
    """Keeps what comes; any thread may look."""

    def __init__(self) -> None:
        self._batches: list[ResourceSpans] = []
        self._arrived = threading.Condition()
        self.address = ""

    def Export(
        self, request: trace_service_pb2.ExportTraceServiceRequest, context: grpc.ServicerContext
    ) -> trace_service_pb2.ExportTraceServiceResponse:
        self.keep(request)
        return trace_service_pb2.ExportTraceServiceResponse()

    def keep(self, request: trace_service_pb2.ExportTraceServiceRequest) -> None:
        """Keeps the spans of a request."""
        with self._arrived:
            self._batches.extend(request.resource_spans)
            self._arrived.notify_all()

    @property
    def resources(self) -> list[dict[str, str]]:
        """What the spans of each batch were told to come from."""
        return [
            {attribute.key: attribute.value.string_value for attribute in batch.resource.attributes}
            for batch in self._batches
        ]

    def spans(self) -> list[Span]:
        """Every span so far."""
        return [span for batch in self._batches for scope in batch.scope_spans for span in scope.spans]

    def await_spans(self, name: str, count: int) -> list[Span]:
        """The spans of that name, once there are `count` of them."""
        with self._arrived:
            came = self._arrived.wait_for(
                lambda: sum(span.name == name for span in self.spans()) >= count, PATIENCE_SECONDS
            )
        assert came, f"{count} spans {name!r} never came; there are {[span.name for span in self.spans()]}"
        return [span for span in self.spans() if span.name == name]


@contextmanager
def collecting() -> Iterator[Collector]:
    """A collector that listens for OTLP/gRPC at a free port of the loopback while the context lasts."""
    collector = Collector()
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=2))
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(collector, server)  # type: ignore[no-untyped-call]
    collector.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    try:
        yield collector
    finally:
        server.stop(grace=None).wait()


@contextmanager
def collecting_over_http() -> Iterator[Collector]:
    """A collector that listens for OTLP/HTTP at a free port of the loopback while the context lasts."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            assert (self.path, self.headers["Content-Type"]) == ("/v1/traces", "application/x-protobuf")
            collector.keep(trace_service_pb2.ExportTraceServiceRequest.FromString(body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Logs nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        collector.address = f"127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield collector
        finally:
            server.shutdown()
            thread.join()
