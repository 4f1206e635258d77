"""The messages between the supervisor and a worker, over a pipe."""

from dataclasses import dataclass

from groundwire_server.config import Settings
from groundwire_server.rpc.telemetry.shared_metrics import MetricsShare


@dataclass(frozen=True, slots=True)
class Assignment:
    """Supervisor to worker, first and once: who it is and what to serve, at an address that is held for it.

    `metrics` is the folder for its share of the metrics; None without metrics.
    """

    number: int
    settings: Settings
    metrics: MetricsShare | None


@dataclass(frozen=True, slots=True)
class Listening:
    """Worker to supervisor: it answers calls."""


@dataclass(frozen=True, slots=True)
class CannotStart:
    """Worker to supervisor: these settings cannot be used, and why."""

    reason: str
