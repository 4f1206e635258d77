"""The metrics of several workers as those of one server, through files that all of them map.

A worker's numbers live in files of its number, not of its process: the next worker of that number counts on from
there. So sums never fall, and the number of files stays the same after any number of restarts.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from groundwire_server.config import Settings, SettingsError


@dataclass(frozen=True, slots=True)
class MetricsShare:
    """Where a worker keeps its numbers: the folder of all, and its own number."""

    folder: Path
    worker: int


@contextmanager
def metrics_folder(settings: Settings) -> Iterator[Path | None]:
    """A new folder for the metrics of workers, removed at the end; None without metrics.

    Raises SettingsError when there is no place for temporary files.
    """
    if not settings.metrics_listen:
        yield None
        return
    try:
        folder = tempfile.TemporaryDirectory(prefix="groundwire-metrics-", ignore_cleanup_errors=True)
    except OSError as error:
        raise SettingsError(
            f"metrics_listen: {settings.metrics_listen}: several workers need a folder for temporary files: "
            f"{error.strerror}; name one in the variable TMPDIR"
        ) from error
    with folder as name:
        yield Path(name)


def keep_metrics_in(share: MetricsShare) -> None:
    """From now on this process keeps the values of its metrics in the shared folder. Call it before any is made."""
    from prometheus_client import values

    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(share.folder)
    values.ValueClass = values.MultiProcessValue(process_identifier=lambda: share.worker)  # type: ignore[no-untyped-call]


def forget_gauges(share: MetricsShare) -> None:
    """Takes what a dead worker last said of its load out of the sums; what it has counted stays."""
    # Not at the top: a supervisor without metrics does without the library.
    from prometheus_client.multiprocess import mark_process_dead

    mark_process_dead(share.worker, str(share.folder))  # type: ignore[no-untyped-call]
