"""Imports every module of ours as on Windows, without the modules and functions that only POSIX has.

Libraries are loaded before, as they are on this system: those of Windows are not here. What our modules look up while
they are imported is then that of Windows. With arguments, it imports the modules that they name instead. Prints how
many were imported.
"""

import importlib
import os
import pkgutil
import signal
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

_PACKAGES = (
    "groundwire",
    "groundwire_client",
    "groundwire_explore",
    "groundwire_index",
    "groundwire_ingest",
    "groundwire_mcp",
    "groundwire_pipelines",
    "groundwire_server",
)
_ABSENT_MODULES = (
    "fcntl",
    "grp",
    "multiprocessing.forkserver",
    "multiprocessing.popen_fork",
    "posix",
    "pwd",
    "resource",
    "syslog",
    "termios",
    "tty",
    "uvloop",
)
_ABSENT_NAMES = {
    os: (
        "O_CLOEXEC O_DIRECTORY O_NOFOLLOW O_NONBLOCK chown fchmod fork geteuid getgid getpgid getuid killpg mkfifo "
        "openpty sched_getaffinity setsid statvfs sysconf uname wait4 waitid"
    ),
    signal: "SIGALRM SIGCHLD SIGHUP SIGKILL SIGPROF SIGQUIT SIGUSR1 SIGUSR2 alarm pthread_sigmask setitimer sigwait",
}


_SLOW_LIBRARIES = frozenset({"langchain_core", "llama_index", "sentence_transformers", "torch", "transformers"})
"""Libraries that take many seconds to load. A stand-in has any name as a class."""


class StandIn(ModuleType):
    """A module of a library that is not loaded."""

    def __getattr__(self, name: str) -> type:
        """A class of that name."""
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


class StandIns(MetaPathFinder, Loader):
    """Finds all modules of the slow libraries."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """The place of a module."""
        is_slow = fullname.partition(".")[0] in _SLOW_LIBRARIES
        return ModuleSpec(fullname, self, is_package=True) if is_slow else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module."""
        return StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing: it has any name."""


def modules_of(package: str) -> list[str]:
    """The names of all modules of a package, and its own."""
    loaded = importlib.import_module(package)
    inner = pkgutil.walk_packages(loaded.__path__, f"{package}.", onerror=lambda name: sys.exit(f"{name}: not loaded"))
    return [package, *(module.name for module in inner if not module.name.endswith("__main__"))]


def main() -> None:
    """Imports them twice: with the libraries, and as on Windows."""
    sys.meta_path.insert(0, StandIns())
    names = sys.argv[1:]
    if not names:
        names = [name for package in _PACKAGES for name in modules_of(package)]
        for name in names:
            importlib.import_module(name)
    for name in [name for name in sys.modules if name.partition(".")[0] in _PACKAGES]:
        # protobuf refuses to register the same messages twice.
        if not name.endswith(("_pb2", "_pb2_grpc")):
            del sys.modules[name]
    for name in _ABSENT_MODULES:
        absent_modules: dict[str, ModuleType | None] = sys.modules  # type: ignore[assignment]
        absent_modules[name] = None  # so Python refuses to import it
    for module, absent in _ABSENT_NAMES.items():
        for name in absent.split():
            module.__dict__.pop(name, None)
    sys.platform = "win32"
    for name in names:
        if not name.endswith(("_pb2", "_pb2_grpc")):
            importlib.import_module(name)
    print(len(names))


if __name__ == "__main__":
    main()
