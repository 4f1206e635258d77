"""`groundwire serve` in one process: from its settings to its exit code."""

import asyncio
import gc
import signal
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import structlog

from groundwire_index.backends import DEFAULT_BACKEND
from groundwire_server.backends.index_directory import IndexDirectory
from groundwire_server.config import Settings, SettingsError
from groundwire_server.rpc.serving.exit_codes import cannot_start, exit_code
from groundwire_server.rpc.serving.exposure import warn_if_exposed
from groundwire_server.rpc.serving.server import GroundwireServer
from groundwire_server.rpc.serving.threads import bound_native_threads, keep_event_loop_prompt
from groundwire_server.rpc.serving.transport import reserve_files
from groundwire_server.rpc.telemetry.logs import configure_logging
from groundwire_server.rpc.telemetry.shared_metrics import MetricsShare
from groundwire_server.rpc.telemetry.telemetry import Telemetry

if TYPE_CHECKING:
    from groundwire_server.engine.engine import RetrievalEngine

Announce: TypeAlias = Callable[[GroundwireServer], None]


def serve(settings: Settings) -> int:
    """Serves the indexes of `settings.data` and returns the exit code, as `serve_engine` does.

    A server that cannot start says why in the last line on stderr and gives 2.
    """
    started = time.monotonic()

    def announce(server: GroundwireServer) -> None:
        structlog.get_logger().info(
            "listening",
            address=server.address,
            health_address=server.health_address,
            metrics_address=server.telemetry.metrics_address,
            channelz_address=server.telemetry.channelz_address,
            data=str(settings.data),
            seconds=round(time.monotonic() - started, 2),
        )
        warn_if_exposed(settings)

    try:
        return serve_indexes(settings, announce)
    except SettingsError as error:
        return cannot_start(error)


def serve_indexes(
    settings: Settings, announce: Announce, worker: int | None = None, metrics: MetricsShare | None = None
) -> int:
    """As `serve_engine`, over an engine for the indexes of `settings.data`.

    Logs have the number of the `worker`; `metrics` is the folder for its share of the metrics.
    """
    configure_logging(settings.log_format, settings.log_level, worker)
    log = structlog.get_logger()
    log.info("loading libraries")
    bound_native_threads()
    keep_event_loop_prompt()
    # Not at the top: this loads the numeric libraries, which read their thread counts when they are loaded.
    from groundwire_index.store.store import IndexStore
    from groundwire_server.rpc.serving.compose import compose

    log.info("loading models", embedders=settings.embedders)
    engine, indexes = compose(settings)
    if worker in (None, 1) and settings.backend == DEFAULT_BACKEND and not any(IndexStore(settings.data).scopes()):
        log.warning(
            "there is no index yet",
            data=str(settings.data),
            cure="groundwire index SOURCE --repository NAME --branch NAME --data FOLDER; it is then answered at once",
        )
    return serve_engine(settings, engine, indexes, announce, metrics)


def serve_engine(
    settings: Settings,
    engine: "RetrievalEngine",
    indexes: IndexDirectory,
    announce: Announce,
    metrics: MetricsShare | None = None,
) -> int:
    """Serves until SIGTERM or SIGINT and returns the exit code. Call from the main thread.

    `announce` is called when calls are answered and the addresses are known. The first signal drains, SIGINT without
    the pause for load balancers, and the code is 0. A second one stops at once, and the code is 128 plus its number.
    The code is 1 when gRPC ends unexpectedly. Raises SettingsError when it cannot start.
    """
    reserve_files(settings)
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        return runner.run(_serve(settings, engine, indexes, announce, metrics))


async def _serve(
    settings: Settings,
    engine: "RetrievalEngine",
    indexes: IndexDirectory,
    announce: Announce,
    metrics: MetricsShare | None,
) -> int:
    signals: asyncio.Queue[signal.Signals] = asyncio.Queue()
    _notice_signals(signals)
    server = GroundwireServer(settings, engine, indexes, Telemetry(settings, metrics))
    await server.start()
    # Objects that exist now are excluded from collection. Without it the collector's full runs are short and come
    # often: gRPC leaves the headers of every call to them.
    gc.collect()
    gc.freeze()
    announce(server)
    log = structlog.get_logger()
    first, ended = asyncio.create_task(signals.get()), asyncio.create_task(server.ended())
    await asyncio.wait({first, ended}, return_when=asyncio.FIRST_COMPLETED)
    if not first.done():
        # Health on its own port would go on saying that all is well.
        log.error("gRPC has ended by itself", exc_info=ended.exception())
        await server.stop()
        return 1
    log.info("draining", signal=first.result().name)
    second = await _drain(server, signals, pauses=first.result() != signal.SIGINT)
    log.info("stopped", cut_short=second is not None)
    return exit_code(second)


def _notice_signals(signals: asyncio.Queue[signal.Signals]) -> None:
    """Puts SIGTERM and SIGINT into the queue when they come."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        if sys.platform == "win32":  # its event loops handle no signals

            def put(received: int, _: object) -> None:
                loop.call_soon_threadsafe(signals.put_nowait, signal.Signals(received))

            signal.signal(number, put)
        else:
            loop.add_signal_handler(number, signals.put_nowait, number)


async def _drain(
    server: GroundwireServer, signals: asyncio.Queue[signal.Signals], *, pauses: bool
) -> signal.Signals | None:
    """Drains the server, or stops it at once when another signal comes first; returns that signal."""
    drain = asyncio.create_task(server.drain(pauses=pauses))
    another = asyncio.create_task(signals.get())
    await asyncio.wait({drain, another}, return_when=asyncio.FIRST_COMPLETED)
    if drain.done():
        another.cancel()
        drain.result()
        return None
    drain.cancel()
    await server.stop()
    return another.result()


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop's loop where it exists; None for asyncio's own."""
    if sys.platform == "win32":
        return None
    import uvloop

    return uvloop.new_event_loop
