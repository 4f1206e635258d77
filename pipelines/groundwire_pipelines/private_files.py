"""Files with questions and source texts: readable only by the user who runs the pipeline, whatever the umask."""

import errno
import os
import stat
import sys
from pathlib import Path
from typing import TextIO

_MODE = 0o600


def open_private(path: Path) -> TextIO:
    """Opens a text file for writing, emptied, that only its owner may read; the mode of an existing file is changed.

    A symbolic link is refused: in a folder that others may write to, it could lead to another file of the user. Raises
    OSError, also for a file that another user owns, who could read what is written.
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
