"""`groundwire serve` with several workers: starts them at one address, restarts those that die, ends them together.

Nothing here loads gRPC or a numeric library: the supervisor must be small, and must live when a worker does not.
"""

import asyncio
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import structlog

from groundwire_server.config import Settings, SettingsError
from groundwire_server.rpc.serving.addresses import held
from groundwire_server.rpc.serving.exit_codes import (
    EXIT_CANNOT_START,
    EXIT_DRAINED,
    EXIT_SIGNAL_BASE,
    cannot_start,
    exit_code,
)
from groundwire_server.rpc.serving.exposure import warn_if_exposed
from groundwire_server.rpc.supervision.worker_process import (
    WORKER_MODULE,
    Assignment,
    CannotStart,
    Listening,
    WorkerProcess,
)
from groundwire_server.rpc.telemetry.logs import configure_logging
from groundwire_server.rpc.telemetry.shared_metrics import MetricsShare, forget_gauges, metrics_folder

STOP_SECONDS = 5.0
YOUNG_SECONDS = 10.0
FIRST_DELAY_SECONDS = 0.25
MAX_DELAY_SECONDS = 30.0
_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
# How a worker ends that was told to: by SIGTERM itself when it was still loading, and the last when told twice.
_AS_TOLD = frozenset({EXIT_DRAINED, -signal.SIGTERM, exit_code(signal.SIGTERM)})


class RestartDelay:
    """How soon a worker that died is started again: at once after a long enough life, else twice as late as before."""

    def __init__(self) -> None:
        self._seconds = 0.0

    def after(self, lived_seconds: float) -> float:
        """How many seconds to wait after a life of `lived_seconds`, counted from its start."""
        if lived_seconds >= YOUNG_SECONDS:
            self._seconds = 0.0
        else:
            self._seconds = min(2 * self._seconds or FIRST_DELAY_SECONDS, MAX_DELAY_SECONDS)
        return self._seconds


@dataclass(frozen=True, slots=True)
class WorkerEnd:
    """How a worker ended: its exit code (negative for a signal) and, if it said so, why it could not start."""

    code: int
    reason: str

    @property
    def fields(self) -> dict[str, int | str]:
        """The end as fields of a log line."""
        return {"signal": signal.Signals(-self.code).name} if self.code < 0 else {"exit_code": self.code}

    @property
    def exit_code(self) -> int:
        """The exit code of a server that ends for it, which is never that of a drain."""
        return EXIT_SIGNAL_BASE - self.code if self.code < 0 else self.code or 1


def supervise(settings: Settings, worker_module: str = WORKER_MODULE, stop_seconds: float = STOP_SECONDS) -> int:
    """Serves the indexes of `settings.data` from `settings.workers` processes until SIGTERM or SIGINT.

    Each process runs `worker_module`. After a second signal workers have `stop_seconds` until they are killed.
    Returns the exit code: 0 after a drain, 128 plus the number of a second signal, 2 when the settings cannot be used;
    one line on stderr then names the reason. Call from the main thread.
    """
    configure_logging(settings.log_format, settings.log_level)
    try:
        with _shared(settings) as shared, metrics_folder(settings) as metrics:
            return asyncio.run(Supervisor(shared, metrics, worker_module, stop_seconds).run())
    except SettingsError as error:
        return cannot_start(error)


@contextmanager
def _shared(settings: Settings) -> Iterator[Settings]:
    """The settings with the addresses that are held for the workers, ports included."""
    if sys.platform != "linux":
        raise SettingsError(
            f"workers: {settings.workers}: needs Linux, where SO_REUSEPORT spreads connections over processes; give 1"
        )
    with ExitStack() as stack:
        addresses = {
            setting: stack.enter_context(held(setting, address))
            for setting in ("listen", "health_listen", "metrics_listen", "channelz_listen")
            if (address := getattr(settings, setting))
        }
        yield settings.model_copy(update=addresses)


class Supervisor:
    """Keeps workers alive until it is signalled to end. Create and run it in one event loop, once."""

    def __init__(self, settings: Settings, metrics: Path | None, worker_module: str, stop_seconds: float) -> None:
        self._worker_module = worker_module
        self._stop_seconds = stop_seconds
        """`metrics` is the folder of the workers' metrics; None without metrics."""
        self._settings = settings
        self._metrics = metrics
        self._log = structlog.get_logger()
        self._started = time.monotonic()
        self._running: dict[int, WorkerProcess] = {}
        self._awaited = set(range(1, settings.workers + 1))  # those that have never listened
        self._ending = asyncio.Event()
        self._first_signal = signal.SIGTERM
        self._listening: set[int] = set()
        self._failure: WorkerEnd | None = None
        self._cut_short = asyncio.Event()
        self._second_signal: signal.Signals | None = None

    async def run(self) -> int:
        """Runs the workers and returns the exit code. Raises SettingsError when a worker cannot use the settings."""
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, self._on_signal, number)
        async with asyncio.TaskGroup() as group:
            keepers = [group.create_task(self._keep(number)) for number in sorted(self._awaited)]
            await self._ending.wait()
            await self._drain(keepers)
        if self._failure is None or self._second_signal is not None:
            self._log.info("stopped", cut_short=self._second_signal is not None)
            return exit_code(self._second_signal)
        if self._failure.reason:
            raise SettingsError(self._failure.reason)
        return self._failure.exit_code

    def _on_signal(self, number: signal.Signals) -> None:
        if not self._ending.is_set():
            self._log.info("draining", signal=number.name)
            self._first_signal = number
            self._ending.set()
        elif not self._cut_short.is_set():
            self._second_signal = number
            self._cut_short.set()

    async def _keep(self, number: int) -> None:
        """Runs one worker after another under the same number until the server ends."""
        delay = RestartDelay()
        while not self._ending.is_set():
            began = time.monotonic()
            end = await self._run_worker(number)
            if self._ending.is_set():
                if end.code not in _AS_TOLD and not end.reason:
                    self._log_end(number, end)
            elif self._awaited or end.code == EXIT_CANNOT_START:
                self._fail(number, end)
            else:
                seconds = delay.after(time.monotonic() - began)
                self._log_end(number, end, restart_in_seconds=seconds)
                with suppress(TimeoutError):  # the server's end cuts the pause short
                    await asyncio.wait_for(self._ending.wait(), seconds)

    async def _run_worker(self, number: int) -> WorkerEnd:
        metrics = None if self._metrics is None else MetricsShare(self._metrics, number)
        worker = await WorkerProcess.start(Assignment(number, self._settings, metrics), self._worker_module)
        self._running[number] = worker
        if self._ending.is_set():
            worker.send(signal.SIGTERM)  # it was not there when the others were told
        report = await worker.report()
        if isinstance(report, Listening):
            self._note_listening(number, worker)
        code = await worker.ended()
        del self._running[number]
        self._listening.discard(number)
        if metrics is not None:
            forget_gauges(metrics)
        return WorkerEnd(code, report.reason if isinstance(report, CannotStart) else "")

    def _note_listening(self, number: int, worker: WorkerProcess) -> None:
        self._log.info("worker listening", worker=number, pid=worker.pid)
        self._listening.add(number)
        if number in self._awaited:
            self._awaited.remove(number)
            if not self._awaited:
                self._log.info(
                    "listening",
                    address=self._settings.listen,
                    health_address=self._settings.health_listen,
                    metrics_address=self._settings.metrics_listen,
                    channelz_address=self._settings.channelz_listen,
                    data=str(self._settings.data),
                    workers=self._settings.workers,
                    seconds=round(time.monotonic() - self._started, 2),
                )
                warn_if_exposed(self._settings)

    def _fail(self, number: int, end: WorkerEnd) -> None:
        """Ends the server for a worker.

        Before all workers have listened once, any exit ends the start: the operator must see at once that the server
        does not become ready.
        """
        if not end.reason:
            self._log_end(number, end)
        self._failure = end
        self._ending.set()

    def _log_end(self, number: int, end: WorkerEnd, **fields: float) -> None:
        self._log.error("worker ended", worker=number, **end.fields, **fields)

    async def _drain(self, keepers: list[asyncio.Task[None]]) -> None:
        """Lets all workers drain together, with the signal that the server got; a second signal stops them at once.

        A worker that still loads its modules does not handle SIGINT yet.
        """
        for number, worker in self._running.items():
            worker.send(self._first_signal if number in self._listening else signal.SIGTERM)
        ended = asyncio.create_task(asyncio.wait(keepers))
        cut_short = asyncio.create_task(self._cut_short.wait())
        await asyncio.wait({ended, cut_short}, return_when=asyncio.FIRST_COMPLETED)
        cut_short.cancel()
        if not ended.done():
            self._send(signal.SIGTERM)
            await asyncio.wait({ended}, timeout=self._stop_seconds)
            self._send(_KILL)
            await ended

    def _send(self, number: signal.Signals) -> None:
        for worker in self._running.values():
            worker.send(number)
