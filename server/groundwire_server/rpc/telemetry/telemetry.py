"""Composes a server's telemetry from its settings.

Parts that are not configured are not imported.
"""

import asyncio
import time
from collections.abc import Callable
from importlib import metadata
from typing import TYPE_CHECKING

from groundwire_server.config import Settings, SettingsError
from groundwire_server.domain.limits import MAX_QUERY_CHARS
from groundwire_server.rpc.bodies import CallContext
from groundwire_server.rpc.telemetry.access_log import AccessLog
from groundwire_server.rpc.telemetry.call_record import CallRecord, Outcome, read_headers
from groundwire_server.rpc.telemetry.load import Load
from groundwire_server.rpc.telemetry.shared_metrics import MetricsShare

if TYPE_CHECKING:
    from groundwire_server.rpc.telemetry.channelz import ChannelzServer
    from groundwire_server.rpc.telemetry.metering import Metering
    from groundwire_server.rpc.telemetry.traces import Traces


class Telemetry:
    """Follows calls from their arrival to their end. Make, start and stop it in one event loop, once.

    `metrics_address` and `channelz_address` are known after the start; they stay empty where they are not configured.
    """

    def __init__(self, settings: Settings, share: MetricsShare | None = None) -> None:
        """`share` is where a worker keeps its metrics. Raises SettingsError when tracing as set cannot be had."""
        self._settings = settings
        version = metadata.version("groundwire")
        self._log = AccessLog(peers=settings.log_peers)
        self._metering = _make_metering(settings, share, version) if settings.metrics_listen else None
        self._traces = _make_traces(version) if settings.tracing else None
        self._channelz = _make_channelz(settings) if settings.channelz_listen else None

    @property
    def metrics_address(self) -> str:
        """Where metrics are scraped."""
        return self._metering.address if self._metering else ""

    @property
    def channelz_address(self) -> str:
        """Where channelz is answered."""
        return self._channelz.address if self._channelz else ""

    async def start(self, load: Callable[[], Load]) -> None:
        """Listens where settings say so. Raises SettingsError. `load` returns the server's load."""
        if self._metering:
            self._metering.start(load)
        if self._channelz:
            await self._channelz.start()

    async def stop(self) -> None:
        """Sends what is still to be sent and ends what `start` began."""
        if self._channelz:
            await self._channelz.stop()
        if self._metering:
            await self._metering.stop()
        if self._traces:
            await asyncio.to_thread(self._traces.stop)

    def began(self, method: str, context: CallContext) -> CallRecord:
        """A call of `package.Service/Method` has arrived."""
        times_stages = self._metering is not None or self._traces is not None
        call = CallRecord(method, read_headers(context.invocation_metadata()), times_stages)
        if self._settings.log_peers or self._settings.audit != "off":
            call.peer = context.peer()
        return call

    def received(self, call: CallRecord, request: object) -> None:
        """The call's request is known."""
        if self._settings.log_queries:
            query = getattr(request, "query", "")
            call.query = query[:MAX_QUERY_CHARS]

    def ended(self, call: CallRecord, outcome: Outcome) -> None:
        """The call has ended."""
        ended = time.perf_counter_ns()
        trace_id = self._traces.export(call, outcome, ended) if self._traces else ""
        self._log.write(call, outcome, ended - call.began, trace_id or call.headers.caller_trace_id)
        if self._metering:
            self._metering.count(call, outcome, ended - call.began)


def _make_metering(settings: Settings, share: MetricsShare | None, version: str) -> "Metering":
    from groundwire_server.rpc.telemetry.metering import Metering

    return Metering(settings, share, version)


def _make_channelz(settings: Settings) -> "ChannelzServer":
    from groundwire_server.rpc.telemetry.channelz import ChannelzServer

    return ChannelzServer(settings)


def _make_traces(version: str) -> "Traces":
    try:
        from groundwire_server.rpc.telemetry.otlp import otlp_exporter
        from groundwire_server.rpc.telemetry.traces import Traces
    except ModuleNotFoundError as error:
        raise SettingsError(
            f'tracing: true: {error.name} is not installed; pip install "groundwire[server,telemetry]"'
        ) from error
    return Traces(otlp_exporter(), version)
