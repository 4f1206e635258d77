"""A second name for a file that another process may be removing."""

import shutil
from contextlib import suppress
from pathlib import Path


def give_second_name(file: Path, target: Path) -> bool:
    """Links a file to a path that nothing has, or copies it if the file system has no links; False if it is gone.

    A copy may be torn, so compare checksums. Raises OSError, such as for a full disk.
    """
    with suppress(OSError):
        target.hardlink_to(file)
        return True
    if not file.is_file():
        return False
    with suppress(FileNotFoundError):
        shutil.copyfile(file, target)
        return True
    return False
