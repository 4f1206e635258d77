"""Signs in the path of a file: names, beginnings, endings, folders, numbers and codes of languages."""

import re
from dataclasses import dataclass

_NUMBERED = re.compile(r"v?\d{3}|[0-9a-f]{10,40}_|[vur]\d++(?:[._]\d++)*+__")
_LANGUAGES = frozenset(
    "af ar bg bn ca cs cy da de el en es et eu fa fi fr ga gl gu he hi hr hu hy id is it ja ka kk km kn ko lt lv mk ml "
    "mr ms my nb ne nl nn no pa pl pt ro ru si sk sl sq sr sv sw ta te th tl tr uk ur uz vi zh".split()
)
_LONGEST_LANGUAGE = 10
_WORD = re.compile(r"[a-z]++")


@dataclass(frozen=True, slots=True)
class PathParts:
    """The parts of a case-folded path that signs look at: `words` of its folders, and `name_words` of its own name."""

    name: str
    folders: frozenset[str]
    words: frozenset[str]
    name_words: frozenset[str]
    is_numbered: bool
    has_language: bool


@dataclass(frozen=True, slots=True)
class PathSign:
    """A sign in the case-folded path of a file. All that is given must hold; an empty field is no condition.

    Attributes:
        names: The file has one of these names.
        beginnings: Its name begins with one of these.
        endings: Its name ends with one of these.
        without: Its name has none of these in it.
        folders: For each of these sets, a folder above the file has one of its names.
        name_words: Its name has one of these words, or no word is given.
        folder_words: For each of these sets, a folder above the file has one of its words in its name.
        is_numbered: Its name, or that of the folder that it is in, begins with a number, a version or a hash.
        has_language: The part of its name before the last dot is the code of a language, such as `de` or `pt-BR`.
    """

    names: frozenset[str] = frozenset()
    beginnings: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    name_words: frozenset[str] = frozenset()
    folders: tuple[frozenset[str], ...] = ()
    folder_words: tuple[frozenset[str], ...] = ()
    is_numbered: bool = False
    has_language: bool = False

    def is_in(self, path: PathParts) -> bool:
        """True if a path has the sign."""
        name = path.name
        if self.names and name not in self.names:
            return False
        if self.beginnings and not name.startswith(self.beginnings):
            return False
        if self.endings and not name.endswith(self.endings):
            return False
        if any(part in name for part in self.without):
            return False
        if self.name_words and path.name_words.isdisjoint(self.name_words):
            return False
        if any(map(path.folders.isdisjoint, self.folders)) or any(map(path.words.isdisjoint, self.folder_words)):
            return False
        if self.is_numbered and not path.is_numbered:
            return False
        return path.has_language or not self.has_language


def parts_of_path(path: str) -> PathParts:
    """The parts of a path, in any case, that signs look at."""
    *folders, name = path.casefold().split("/")
    return PathParts(
        name,
        folders=frozenset(folders),
        name_words=frozenset(_WORD.findall(name)),
        words=frozenset(word for folder in folders for word in _WORD.findall(folder)),
        is_numbered=any(map(_NUMBERED.match, (name, *folders[-1:]))),
        has_language=_has_language(name),
    )


def _has_language(name: str) -> bool:
    """True if the part before the last dot is the code of a language, alone or with a region."""
    part = name.rpartition(".")[0].rpartition(".")[2]
    return len(part) <= _LONGEST_LANGUAGE and part.replace("_", "-").partition("-")[0] in _LANGUAGES
