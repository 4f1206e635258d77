"""The files of a tree that commands name: in scripts, Dockerfiles, Compose files, and keys that name an entry point."""

import re
from collections.abc import Iterable, Iterator

from groundwire_ingest.tree.files.reading import PathReference

_FILE = re.compile(r"(?<![\w.:/@${}-])(?:\./|/)?(?:[\w@-][\w.@-]*/)*[\w@-][\w.@-]*\.[A-Za-z]\w{0,9}(?![\w/.-]|:\w)")
"""A word that is written like a file with a suffix; no part of a URL."""
_ENTRY_POINT = re.compile(r"(?<![\w./:-])([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):[A-Za-z_]\w*\b")
"""As Python names what a server runs, or a script calls: `shop.wsgi:application`."""
_MODULE = re.compile(r"\bpython[\d.]*\s+(?:-\w\s+)*-m\s+([A-Za-z_][\w.]*)")
_DJANGO_COMMAND = re.compile(r"\bmanage\.py\s+([a-z]\w*)")
_LONGEST_LINE = 2_000


def command_references(path: str, lines: Iterable[tuple[int, str]]) -> Iterator[PathReference]:
    """The files that numbered lines of a file run, copy or read, each once a line. Longer lines are data."""
    for line, text in lines:
        if len(text) <= _LONGEST_LINE and not text.lstrip().startswith("#"):
            for written in dict.fromkeys((*(((name),) for name in _FILE.findall(text)), *_modules(text))):
                yield PathReference(path, written, "References", line)


def entry_points(path: str, line: int, text: str) -> Iterator[PathReference]:
    """The modules of the entry points in a text, such as the value of a setting."""
    yield from (PathReference(path, (_file(name),), "References", line) for name in _ENTRY_POINT.findall(text))


def _modules(text: str) -> Iterator[tuple[str, ...]]:
    yield from ((_file(name),) for name in _ENTRY_POINT.findall(text))
    yield from ((_file(name), _file(f"{name}.__main__")) for name in _MODULE.findall(text))
    yield from ((_file(f"management.commands.{name}"),) for name in _DJANGO_COMMAND.findall(text))


def _file(module: str) -> str:
    return f"{module.replace('.', '/')}.py"
