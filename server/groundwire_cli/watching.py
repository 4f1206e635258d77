"""`groundwire index --watch`: indexes repositories again whenever files in them change, until it is interrupted."""

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from watchfiles import Change, watch

from groundwire.printable_text import one_line
from groundwire_cli.build_report import unchanged_line
from groundwire_cli.options import message_of
from groundwire_index.operator_errors import OperatorError
from groundwire_index.storage import Storage
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.repositories.indexing import Indexer, Unchanged, own_version_name, remove_older
from groundwire_ingest.repositories.repositories_file import Repository
from groundwire_ingest.tree.walk import VERSION_CONTROL_NAMES

if TYPE_CHECKING:
    from groundwire_ingest.build.build import BuildReport

_QUIET_MILLISECONDS = 300
"""Changes are indexed once there was none for so long, so that a checkout or a save in many files is one change."""
_MOST_MILLISECONDS = 3_000
"""They are indexed after so long in any case."""
_LOOK_MILLISECONDS = 1_000


def watch_repositories(repositories: Sequence[Repository], indexer: Indexer, storage: Storage, data: Path) -> None:
    """Indexes the repositories, and those that change again, until Ctrl-C.

    A failure is reported, and the repository is tried again at the next change. Older versions that no operator has
    built are removed, see `remove_older`. `data` is the folder of the indexes, which is not watched.

    Raises:
        IngestError: One of them is no folder.
    """
    for each in repositories:
        if not each.path.is_dir():
            raise IngestError(f"{each.path}: is no folder; --watch needs folders")
    roots = {each: each.path.resolve() for each in repositories}
    watching = _Watching(indexer, storage)
    try:
        for each in repositories:
            watching.index(each)
        paths_watched = one_line(", ".join(str(each.path) for each in repositories))
        print(f"watching {paths_watched}; Ctrl-C ends it", flush=True)
        for paths in changes(set(roots.values()), data.resolve()):
            for each, root in roots.items():
                if paths is None or any(path.is_relative_to(root) for path in paths):
                    watching.index(each)
    except KeyboardInterrupt:
        print("the watch has ended; the active versions stay", flush=True)


class _Watching:
    """Indexes what has changed, and removes older versions."""

    def __init__(self, indexer: Indexer, storage: Storage) -> None:
        self._indexer, self._storage = indexer, storage
        self._well: set[Repository] = set()

    def index(self, repository: Repository) -> None:
        """Indexes a repository if it has changed and reports the result; no change is reported only once."""
        began = time.monotonic()
        try:
            outcome = self._indexer.index(repository, own_version_name())
            if not isinstance(outcome, Unchanged):
                print(_line(outcome, time.monotonic() - began), flush=True)
                remove_older(self._storage, repository.scope)
            elif repository not in self._well:
                print(unchanged_line(outcome), flush=True)
            self._well.add(repository)
        except (OperatorError, OSError) as error:
            self._well.discard(repository)
            message = f"error: {repository.name}: {message_of(error)}; it is tried again at the next change"
            print(message, file=sys.stderr, flush=True)


def changes(roots: Iterable[Path], data: Path, *, idle: bool = False) -> Iterator[set[Path] | None]:
    """The paths in `roots` that have changed, each time that some have; first None, once changes are being noticed.

    `data` and the folders of version control are left out. With `idle`, several times a second none at all while
    nothing changes.
    """

    def is_watched(_: Change, path: str) -> bool:
        return not Path(path).is_relative_to(data) and VERSION_CONTROL_NAMES.isdisjoint(Path(path).parts)

    yielded = False
    for changed in watch(
        *roots,
        watch_filter=is_watched,
        debounce=_MOST_MILLISECONDS,
        step=_QUIET_MILLISECONDS,
        rust_timeout=_LOOK_MILLISECONDS,
        yield_on_timeout=True,
    ):
        if not yielded or changed or idle:
            yield {Path(path) for _, path in changed} if yielded else None
            yielded = True


def _line(report: "BuildReport", seconds: float) -> str:
    scope = report.scope
    counts = f"{report.node_count:,} nodes, {report.embedded:,} texts embedded, {report.reused:,} reused"
    return f"{scope.repository} {scope.branch} {scope.active_index} (active): {counts}, {seconds:.1f} s"
