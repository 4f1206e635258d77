"""`groundwire serve`: one server in this process, from its settings to its exit code."""

import asyncio
import signal
import sys
from collections.abc import Callable

import structlog

from groundwire_server.backends.interface import IndexDirectory
from groundwire_server.config import Settings, SettingsError
from groundwire_server.rpc.logs import configure_logging
from groundwire_server.rpc.server import Engine, GroundwireServer
from groundwire_server.rpc.threads import bound_native_threads

EXIT_DRAINED = 0
EXIT_CANNOT_START = 2
EXIT_SIGNAL_BASE = 128


def serve(settings: Settings, ready: Callable[[str], None] | None = None) -> int:
    """Serves the indexes of `settings.data` and returns the exit code, as `serve_engine` does."""
    bound_native_threads()
    # Not at the top: this loads the numeric libraries, which read their thread counts when they are loaded.
    from groundwire_server.rpc.compose import compose

    configure_logging(settings.log_format, settings.log_level)
    try:
        engine, indexes = compose(settings)
    except SettingsError as error:
        return _cannot_start(error)
    return serve_engine(settings, engine, indexes, ready)


def serve_engine(
    settings: Settings,
    engine: Engine,
    indexes: IndexDirectory,
    ready: Callable[[str], None] | None = None,
) -> int:
    """Serves until SIGTERM or SIGINT and returns the exit code. Call from the main thread.

    `ready` is told the address, with the port that was bound, once calls are answered. The first signal drains and
    gives 0; a second one stops at once and gives 128 plus its number. A server that cannot start says why in one
    line on stderr and gives 2.
    """
    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            return runner.run(_serve(settings, engine, indexes, ready))
    except SettingsError as error:
        return _cannot_start(error)


async def _serve(
    settings: Settings,
    engine: Engine,
    indexes: IndexDirectory,
    ready: Callable[[str], None] | None,
) -> int:
    signals: asyncio.Queue[signal.Signals] = asyncio.Queue()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, signals.put_nowait, number)
    server = GroundwireServer(settings, engine, indexes)
    await server.start()
    log = structlog.get_logger()
    log.info("listening", address=server.address, health_address=server.health_address, data=str(settings.data))
    if ready is not None:
        ready(server.address)
    first = await signals.get()
    log.info("draining", signal=first.name)
    second = await _drain(server, signals)
    log.info("stopped", cut_short=second is not None)
    return EXIT_DRAINED if second is None else EXIT_SIGNAL_BASE + second


async def _drain(server: GroundwireServer, signals: asyncio.Queue[signal.Signals]) -> signal.Signals | None:
    """Drains the server, or stops it at once when another signal comes first; returns that signal."""
    drain = asyncio.create_task(server.drain())
    another = asyncio.create_task(signals.get())
    await asyncio.wait({drain, another}, return_when=asyncio.FIRST_COMPLETED)
    if drain.done():
        another.cancel()
        drain.result()
        return None
    drain.cancel()
    await server.stop()
    return another.result()


def _cannot_start(error: SettingsError) -> int:
    sys.stderr.write(f"groundwire serve: {error}\n")
    return EXIT_CANNOT_START


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop's loop where it exists; None for asyncio's own."""
    if sys.platform == "win32":
        return None
    import uvloop

    return uvloop.new_event_loop
