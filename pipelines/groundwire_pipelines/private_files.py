"""Files that hold what users asked and sources say: theirs who run the pipeline, whatever the umask."""

import errno
import os
import stat
import sys
from pathlib import Path
from typing import TextIO

_MODE = 0o600


def open_private(path: Path) -> TextIO:
    """Opens a text file for writing, emptied, that its owner alone may read; one that was there before becomes so.

    A symbolic link is refused: in a folder that others may write to, it could lead to a file of the user's. Raises
    OSError, also for a file of somebody else, who could read what is written.
    """
    flags = os.O_WRONLY | os.O_CREAT
    if sys.platform != "win32":
        flags |= os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        handle = os.open(path, flags, _MODE)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(error.errno, "it is a symbolic link; name the file itself") from error
        raise
    try:
        if stat.S_ISREG(os.fstat(handle).st_mode):
            if sys.platform != "win32":
                os.fchmod(handle, _MODE)
            os.ftruncate(handle, 0)
        return os.fdopen(handle, "w", encoding="utf-8")
    except BaseException:
        os.close(handle)
        raise
