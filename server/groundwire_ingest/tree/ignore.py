"""What a tree's .gitignore files exclude, each below its own folder."""

from dataclasses import dataclass

from groundwire_ingest.records import SkippedFile
from groundwire_ingest.tree.ignore_pattern import IgnorePattern, ignore_pattern

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_SHOWN_BYTES = 80


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The patterns of one .gitignore, the last one first; `outer` has those of the folders around it.

    `folder` is the path of the .gitignore's folder with a trailing slash, empty for the tree's root.
    """

    folder: str
    patterns: tuple[IgnorePattern, ...]
    outer: "IgnoreRules | None"

    def ignores(self, path: str) -> bool:
        """Whether `path` is excluded; a folder's path ends with a slash. The innermost match decides, as in git."""
        is_folder = path.endswith("/")
        whole = path.removesuffix("/")
        name = _bytes(whole.rpartition("/")[2])
        rules: IgnoreRules | None = self
        while rules is not None:
            below = _bytes(whole.removeprefix(rules.folder))
            for pattern in rules.patterns:
                if pattern.matches(below, name, is_folder):
                    return not pattern.includes
            rules = rules.outer
        return False


def read_rules(folder: str, content: bytes, outer: IgnoreRules | None) -> tuple[IgnoreRules, tuple[SkippedFile, ...]]:
    """The rules of a .gitignore, and a note for each line that is no pattern, which git ignores too."""
    patterns: list[IgnorePattern] = []
    notes: list[SkippedFile] = []
    for number, line in enumerate(content.removeprefix(_BYTE_ORDER_MARK).split(b"\n"), 1):
        try:
            pattern = ignore_pattern(line.removesuffix(b"\r"))
        except ValueError:
            shown = repr(line[:_SHOWN_BYTES].decode(errors="backslashreplace"))
            why = f"line {number} is not a pattern and is ignored: {shown}"
            notes.append(SkippedFile(f"{folder}.gitignore", why))
        else:
            if pattern is not None:
                patterns.append(pattern)
    return IgnoreRules(folder, tuple(reversed(patterns)), outer), tuple(notes)


def _bytes(path: str) -> bytes:
    return path.encode(errors="surrogateescape")
