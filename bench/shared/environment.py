"""The environment of a measurement."""

import os
import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

_PACKAGES = ("groundwire", "numpy", "faiss-cpu", "sentence-transformers", "torch", "pystemmer", "grpcio")
_CPU_INFORMATION = Path("/proc/cpuinfo")


@dataclass(frozen=True, slots=True)
class Environment:
    """The date in UTC, the machine, and the versions of what decides scores and times."""

    date: str
    processor: str
    cores: int
    system: str
    versions: dict[str, str]


def environment() -> Environment:
    """This process's."""
    return Environment(
        date=datetime.now(UTC).date().isoformat(),
        processor=_processor(),
        cores=os.cpu_count() or 1,
        system=platform.platform(),
        versions={"python": platform.python_version(), **{name: version(name) for name in _PACKAGES}},
    )


def _processor() -> str:
    """The processor's name from Linux, else from Python."""
    if _CPU_INFORMATION.exists():
        for line in _CPU_INFORMATION.read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()
