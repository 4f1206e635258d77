"""The exclusions of a tree: by its .gitignore files, each below its own folder, and by its operator."""

from collections.abc import Iterable
from dataclasses import dataclass

from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.records import SkippedFile
from groundwire_ingest.tree.ignore_pattern import AnyPattern, IgnorePattern, ignore_pattern

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_SHOWN_BYTES = 80
_NO_NAMES = frozenset({"", ".", ".."})


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The patterns of one .gitignore, the last one first; `outer` has those of the folders around it.

    `folder` is the path of the .gitignore's folder with a trailing slash, empty for the tree's root. `any_pattern`
    has all patterns at once, since most paths match none; None for very many.
    """

    folder: str
    patterns: tuple[IgnorePattern, ...]
    any_pattern: AnyPattern | None
    outer: "IgnoreRules | None"

    def ignores(self, path: str) -> bool:
        """True if `path` is excluded; a folder's path ends with a slash. The innermost match decides, as in git."""
        is_folder = path.endswith("/")
        rules: IgnoreRules | None = self
        while rules is not None:
            below = _bytes(path.removesuffix("/").removeprefix(rules.folder))
            if rules.any_pattern is None or rules.any_pattern.may_match(below):
                for pattern in rules.patterns:
                    if pattern.matches(below, is_folder):
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
    return IgnoreRules(folder, tuple(reversed(patterns)), AnyPattern.of(patterns), outer), tuple(notes)


class Exclusions:
    """The paths that an operator leaves out of a tree, by patterns in the syntax of a .gitignore at its root."""

    def __init__(self, patterns: Iterable[str]) -> None:
        """Raises IngestError for a pattern that is none."""
        self._patterns = [(text, operator_pattern(text)) for text in patterns]
        self._unused = {text for text, _ in self._patterns}

    def excludes(self, path: str) -> bool:
        """True if `path` is left out; a folder's path ends with a slash. The last pattern that matches decides."""
        is_folder = path.endswith("/")
        whole = _bytes(path.removesuffix("/"))
        excluded = False
        for text, pattern in self._patterns:
            if pattern.matches(whole, is_folder):
                self._unused.discard(text)
                excluded = not pattern.includes
        return excluded

    @property
    def unused(self) -> tuple[str, ...]:
        """The patterns that have matched nothing so far, sorted."""
        return tuple(sorted(self._unused))


def operator_pattern(text: str) -> IgnorePattern:
    """A pattern that an operator gives. Raises IngestError for one that is none, and for one that no path can match."""
    try:
        pattern = ignore_pattern(text.encode())
    except UnicodeEncodeError as error:
        raise IngestError(f"{text!r} is not UTF-8, so it cannot be a pattern; use wildcards for other bytes") from error
    except ValueError as error:
        raise IngestError(f"{text!r} is not a pattern of .gitignore: {error}; correct it") from error
    if pattern is None:
        raise IngestError(f"{text!r} is a blank or a comment in .gitignore, not a pattern; write \\# for a name with #")
    if not _NO_NAMES.isdisjoint(text.removeprefix("!").removeprefix("/").removesuffix("/").split("/")):
        raise IngestError(
            f"{text!r} matches no path, as none has a part that is empty, `.` or `..`; begin at the tree's root"
        )
    return pattern


def _bytes(path: str) -> bytes:
    return path.encode(errors="surrogateescape")
