"""The `groundwire` program, in a process that logs what it holds whenever it gets SIGUSR1: `python -P FILE ARGUMENTS`.

Resident memory comes and goes by megabytes with what the allocators keep for later. What is in use they know exactly.
"""

import ctypes
import gc
import json
import signal
import sys
import threading
from dataclasses import asdict, dataclass

WEIGH = signal.SIGUSR1
EVENT = "weighed"


class _MallInfo(ctypes.Structure):
    """`struct mallinfo2` of glibc 2.33 and later."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
    ]
    hblkhd: int
    uordblks: int


@dataclass(frozen=True)
class Held:
    """What a process has allocated and not freed."""

    python_blocks: int
    """Blocks of Python's own allocator: objects and their parts of up to 512 bytes."""
    native_bytes: int
    """What `malloc` gave: larger objects, arrays, and all that is not Python."""


def held() -> Held:
    """What this process holds; garbage is collected first."""
    gc.collect()
    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = _MallInfo
    info: _MallInfo = mallinfo()
    return Held(sys.getallocatedblocks(), info.uordblks + info.hblkhd)


def _tell_when_asked() -> None:
    while True:
        signal.sigwait({WEIGH})
        print(json.dumps({"event": EVENT, **asdict(held())}), file=sys.stderr, flush=True)


if __name__ == "__main__":
    # Threads inherit what is blocked: only the one that waits shall get the signal, so this comes before all imports.
    signal.pthread_sigmask(signal.SIG_BLOCK, {WEIGH})
    threading.Thread(target=_tell_when_asked, daemon=True).start()

    from groundwire_cli.program import main

    main()
