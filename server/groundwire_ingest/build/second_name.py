"""A second name for a file that another process may be removing."""

import shutil
from contextlib import suppress
from pathlib import Path


def give_second_name(file: Path, target: Path) -> bool:
    """Links a file to a path that nothing has, or copies it if the file system has no links; False if neither works.

    The file may be gone meanwhile, or belong to another user. A copy may be torn, so compare checksums.
    """
    for give in (_link, shutil.copyfile):
        with suppress(OSError):
            give(file, target)
            return True
    target.unlink(missing_ok=True)
    return False


def _link(file: Path, target: Path) -> None:
    target.hardlink_to(file)
