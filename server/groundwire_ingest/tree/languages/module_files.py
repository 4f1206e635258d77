"""What files state about where the modules of a language are, such as a go.mod."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class ModuleFile:
    """What one file states; each language with such files has classes of its own."""


ModuleFileReader: TypeAlias = Callable[[str, str], ModuleFile | None]
"""Given the path and the text of any file of a tree, what it states; None for a file that states nothing."""
