"""Lists the files of a folder that are read, each with its language; `decoding` opens them."""

import errno
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from groundwire_ingest.files_below import open_below, read_below, scan_below
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.records import SkippedFile
from groundwire_ingest.tree.code_languages import CODE_LANGUAGES
from groundwire_ingest.tree.files.languages import PLAIN_TEXT, file_language, refusal
from groundwire_ingest.tree.ignore import Exclusions, IgnoreRules, read_rules

VERSION_CONTROL_NAMES = frozenset({".git", ".hg", ".svn"})
"""Folders of version control; in a worktree or submodule `.git` is a file that says where its folder is."""
CHART_FILE = "Chart.yaml"
COMPILER_INDEX_SUFFIX = ".scip"
MAX_IGNORE_FILE_BYTES = 1_000_000
"""The largest .gitignore that is read, since every file below it is compared with each of its lines."""

MAX_SHEBANG_BYTES = 200
"""What is read of a file without a suffix for the program that runs it."""

_SHEBANG = re.compile(
    rb"#![ \t]*(?:[\w./-]*/)?(?:env[ \t]+(?:-\S*[ \t]+|\w+=\S*[ \t]+)*)?([A-Za-z]+(?:-node)?)[\d.]*(?=\s|$)"
)
_LANGUAGE_OF_INTERPRETER = {
    **{name: language.name for language in CODE_LANGUAGES.values() for name in language.interpreters},
    **dict.fromkeys(("sh", "bash", "zsh", "ksh", "dash", "ash", "bats"), "shell"),
    "pwsh": "powershell",
    "make": "make",
}
_CONTROL_CHARACTER = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_LANGUAGE_OF_SUFFIX = {
    **{suffix: language.name for language in CODE_LANGUAGES.values() for suffix in language.suffixes},
    ".sql": "sql",
    ".md": "markdown",
    ".markdown": "markdown",
    ".mdx": "markdown",
    ".yml": "yaml",
    ".yaml": "yaml",
    ".tpl": "helm",
    ".dockerfile": "dockerfile",
    COMPILER_INDEX_SUFFIX: "scip",
}


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file to read; `path` is relative to the tree with forward slashes.

    `language` is one of CODE_LANGUAGES or of `files.languages`, `sql`, `markdown`, `yaml`, `helm` or `dockerfile`. It
    is `scip` for a compiler's index of other files.
    """

    path: str
    language: str


Listing: TypeAlias = ListedFile | SkippedFile


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder to list: its path with a trailing slash (empty for the root) and the rules in force around it."""

    path: str
    rules: IgnoreRules | None
    in_chart: bool


def list_tree(root: Path, exclusions: Exclusions | None = None) -> tuple[Listing, ...]:
    """Every file below `root` that neither a .gitignore nor the operator leaves out, sorted by path.

    A compiler's index that a .gitignore names is listed all the same, for it is generated and only says more of files
    that are listed.

    Folders of version control, and files in place of them, are passed over. Symbolic links are never followed, so no
    file is read twice or from outside. A file that is never read by its name, such as an image, a lock file or a key,
    and a folder that cannot be opened are SkippedFiles.
    Raises IngestError when `root` is no folder.
    """
    if not root.is_dir():
        raise IngestError(f"{root}: not a folder; name the folder that holds the source tree")
    exclusions = exclusions or Exclusions(())
    listings: list[Listing] = []
    pending = [_Folder("", None, False)]
    while pending:
        for item in _list_folder(root, pending.pop(), exclusions):
            if isinstance(item, _Folder):
                pending.append(item)
            else:
                listings.append(item)
    return tuple(sorted(listings, key=lambda item: item.path))


def language_of(path: str, in_chart_templates: bool = False) -> str:
    """The language of a file by its name; plain text if nothing else fits.

    YAML in the `templates` folder of a Helm chart holds template directives and so is `helm`.
    """
    name = PurePosixPath(path).name.lower().replace(".blade.php", ".html")
    if name in ("dockerfile", "containerfile") or name.startswith("dockerfile."):
        return "dockerfile"
    language = _LANGUAGE_OF_SUFFIX.get(PurePosixPath(name).suffix) or file_language(name)
    return "helm" if language == "yaml" and in_chart_templates else language


def _list_folder(root: Path, folder: _Folder, exclusions: Exclusions) -> Iterator[Listing | _Folder]:
    """The files of one folder, and the folders in it to list next."""
    try:
        with scan_below(root, folder.path) as entries:
            rules, notes = folder.rules, tuple[SkippedFile, ...]()
            for entry in entries:
                if entry.name == ".gitignore" and entry.is_file(follow_symlinks=False):
                    rules, notes = read_rules(folder.path, _ignore_file(root, folder.path), folder.rules)
            kept = [entry for entry in entries if _is_kept(folder.path, entry, rules, exclusions)]
            listed = list(_listed_entries(root, folder, kept, rules))
    except OSError as error:
        yield SkippedFile(_printable(folder.path), f"the folder cannot be read: {error.strerror}")
        return
    yield from (replace(note, path=_printable(note.path)) for note in notes)
    yield from listed


def _listed_entries(
    root: Path, folder: _Folder, entries: Sequence[os.DirEntry[str]], rules: IgnoreRules | None
) -> Iterator[Listing | _Folder]:
    is_chart = any(entry.name == CHART_FILE for entry in entries)
    for entry in entries:
        path = folder.path + entry.name
        if entry.is_dir(follow_symlinks=False):
            yield _Folder(path + "/", rules, folder.in_chart or (is_chart and entry.name == "templates"))
        else:
            yield _listing_of(root, path, entry, folder.in_chart)


def _is_kept(folder: str, entry: os.DirEntry[str], rules: IgnoreRules | None, exclusions: Exclusions) -> bool:
    """True if neither a .gitignore nor the operator leaves out a file or folder, and it is not of version control."""
    is_folder = entry.is_dir(follow_symlinks=False)
    path = f"{folder}{entry.name}/" if is_folder else folder + entry.name
    if exclusions.excludes(path) or entry.name in VERSION_CONTROL_NAMES:
        return False
    is_compiler_index = not is_folder and entry.name.endswith(COMPILER_INDEX_SUFFIX)
    return is_compiler_index or not (rules and rules.ignores(path))


def _ignore_file(root: Path, folder: str) -> bytes:
    """The .gitignore of a folder. Raises OSError also where it is too large, as a part of it is not what it says."""
    try:
        return read_below(root, f"{folder}.gitignore", MAX_IGNORE_FILE_BYTES)
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise OSError(
                errno.EFBIG, f"its .gitignore has more than {MAX_IGNORE_FILE_BYTES} bytes; shorten it"
            ) from error
        raise OSError(error.errno, f"its .gitignore: {error.strerror}") from error


def _listing_of(root: Path, path: str, entry: os.DirEntry[str], in_chart: bool) -> Listing:
    if entry.is_symlink():
        return SkippedFile(_printable(path), "a symbolic link; links are not followed")
    if not entry.is_file(follow_symlinks=False):
        return SkippedFile(_printable(path), "neither a file nor a folder")
    if _printable(path) != path:
        return SkippedFile(_printable(path), "the file's name is not UTF-8, or has control characters")
    why = refusal(entry.name)
    if why is not None:
        return SkippedFile(path, why)
    language = language_of(path, in_chart)
    has_suffix = "." in entry.name
    return ListedFile(path, language if has_suffix or language != PLAIN_TEXT else _language_of_script(root, path))


def _language_of_script(root: Path, path: str) -> str:
    """The language that the first line of a file without a suffix states, `#!/usr/bin/env python3`; else plain text.

    A file that cannot be opened is named where it is read.
    """
    try:
        with open_below(root, path) as file:
            start = file.read(MAX_SHEBANG_BYTES)
    except OSError:
        return PLAIN_TEXT
    stated = _SHEBANG.match(start)
    return _LANGUAGE_OF_INTERPRETER.get(stated[1].decode(), PLAIN_TEXT) if stated is not None else PLAIN_TEXT


def _printable(path: str) -> str:
    """`path` with bytes that are no UTF-8, and control characters, as escapes, so that it can be printed and stored.

    A control character would steer the terminal of who reads the name, or end a line of a list of names.
    """
    text = os.fsencode(path).decode("utf-8", errors="backslashreplace")
    return _CONTROL_CHARACTER.sub(lambda character: character[0].encode("unicode_escape").decode(), text)
