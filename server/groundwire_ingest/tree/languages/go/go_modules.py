"""Modules of Go, which a `go.mod` describes; a `go.work` names the folders of several."""

from collections.abc import Iterator
from dataclasses import dataclass

from groundwire_ingest.tree.languages.module_files import ModuleFile

_COMMENT = "//"
_QUOTES = "\"'`"
_INDIRECT = "indirect"
"""The comment that the tool writes beside modules which others need; `;` ends it if more follows."""


@dataclass(frozen=True, slots=True)
class GoModule(ModuleFile):
    """The import path of the package in the folder of a go.mod, which those of the folders below begin with."""

    import_path: str


@dataclass(frozen=True, slots=True)
class Directive:
    """A directive of a go.mod or a go.work: `require example.com/lib v1.2.0 // indirect`.

    Attributes:
        verb: What it says, such as `require`.
        words: What follows, without quotes.
        comment: What stands behind `//`, without blanks around it.
        line: Its line.
    """

    verb: str
    words: tuple[str, ...]
    comment: str
    line: int

    @property
    def is_indirect(self) -> bool:
        """True if a module is required by others that are required."""
        return self.comment.partition(";")[0] == _INDIRECT


def directives(text: str) -> Iterator[Directive]:
    """The directives of a go.mod or a go.work, each entry of a block as one of its own."""
    block = ""
    for line, written in enumerate(text.splitlines(), 1):
        code, _, comment = written.partition(_COMMENT)
        spaced = code.replace("(", " ( ").replace(")", " ) ")
        words = tuple(word.strip(_QUOTES) for word in spaced.split())
        if words == (")",):
            block = ""
        elif words[1:] == ("(",):
            block = words[0]
        elif words[1:] == ("(", ")"):
            continue
        elif words and block:
            yield Directive(block, words, comment.strip(), line)
        elif words:
            yield Directive(words[0], words[1:], comment.strip(), line)


def go_module(path: str, text: str) -> GoModule | None:
    """The module that a go.mod describes; None for other files, and for one that gives no path."""
    if path.rpartition("/")[2].lower() != "go.mod":
        return None
    paths = (directive.words[0] for directive in directives(text) if directive.verb == "module" and directive.words)
    return next(map(GoModule, paths), None)
