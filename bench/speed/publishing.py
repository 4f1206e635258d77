"""The cost of versions in object storage: publishing one and taking it, compared with a copy of its folder."""

import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bench.shared.programs import BRANCH, build_index, folder_bytes, running
from bench.shared.results import MEBIBYTE, Grid
from bench.speed.object_server import BUCKET, KEY, REGION, SECRET
from groundwire_index.embedding.int8.store import EncoderStore
from groundwire_index.scope import Scope
from groundwire_index.store.store import IndexStore
from groundwire_object_storage.index_cache import CacheBounds, IndexCache
from groundwire_object_storage.object_folder import ObjectFolder
from groundwire_object_storage.published_versions import PublishedVersions
from groundwire_object_storage.publishing import publish

COPY = "copy, flushed to the disk"
PLACES = ("a folder", "S3")
_REPOSITORY = "bench"
_BOUNDS = CacheBounds(most_bytes=1 << 40, kept=1)


@dataclass(frozen=True, slots=True)
class PublishingCosts:
    """Seconds of each action, by its name, and the size of the version."""

    version_bytes: int
    seconds: Mapping[str, Sequence[float]]


def measure_publishing(source: Path, rounds: int, work: Path) -> PublishingCosts:
    """Publishes the index of a source into a folder and into S3, takes it from there, and copies it, in turn.

    S3 is moto's server in a process of its own: it keeps objects in memory, and no network lies between. Raises
    RuntimeError and ObjectStorageError.
    """
    with TemporaryDirectory() as temporary, _bucket(work) as bucket:
        folder = Path(temporary)
        build_index(source, _REPOSITORY, folder / "data", "none")
        store = IndexStore(folder / "data")
        [version] = store.versions(Scope(_REPOSITORY, BRANCH))
        scope = Scope(_REPOSITORY, BRANCH, version)
        seconds: dict[str, list[float]] = {}
        for number in range(rounds):
            with _timed(seconds, COPY):
                _copy(store.directory(scope), folder / "copy")
            shutil.rmtree(folder / "copy")
            for place, address in zip(PLACES, (str(folder / "published"), f"{bucket}/{number}"), strict=True):
                published = PublishedVersions(ObjectFolder(address))
                with _timed(seconds, f"publish into {place}"):
                    publish(store, EncoderStore(folder / "data"), published, scope)
                    published.activate(scope)
                with _timed(seconds, f"follow from {place}"):
                    _take(published, folder / "taken")
                shutil.rmtree(folder / "taken")
            shutil.rmtree(folder / "published")
        return PublishingCosts(folder_bytes(store.directory(scope)), seconds)


def grid(costs: PublishingCosts, title: str) -> Grid:
    """Medians, and their ratios to a copy."""
    size, base = costs.version_bytes / MEBIBYTE, median(costs.seconds[COPY])
    rows = []
    for action, times in costs.seconds.items():
        middle = median(times)
        rows.append([action, f"{middle:.2f}", f"{size / middle:,.0f}", f"{middle / base:.2f}"])
    return Grid(f"{title}: {size:,.1f} MiB", ["action", "median s", "MiB/s", "relative to a copy"], rows)


@contextmanager
def _bucket(work: Path) -> Iterator[str]:
    """The address of an empty bucket, which this process has the keys of while the context is open."""
    environment = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_DEFAULT_REGION": REGION}
    before = dict(os.environ)
    with running([sys.executable, "-m", "bench.speed.object_server"], work / "object-server.log") as server:
        os.environ.update(environment, AWS_ENDPOINT_URL=server.address)
        try:
            yield f"s3://{BUCKET}"
        finally:
            os.environ.clear()
            os.environ.update(before)


@contextmanager
def _timed(seconds: dict[str, list[float]], action: str) -> Iterator[None]:
    began = time.perf_counter()
    yield
    seconds.setdefault(action, []).append(time.perf_counter() - began)


def _copy(directory: Path, copied: Path) -> None:
    copied.mkdir()
    for file in sorted(directory.iterdir()):
        shutil.copyfile(file, copied / file.name)
        with (copied / file.name).open("rb") as written:
            os.fsync(written.fileno())


def _take(published: PublishedVersions, data: Path) -> None:
    """Takes the active version into a new data folder. Raises RuntimeError where it could not be had."""
    cache = IndexCache(published, data, _BOUNDS)
    cache.claim()
    if failures := cache.update().failures:
        raise RuntimeError("; ".join(failures))
