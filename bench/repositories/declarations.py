"""True if a text declares a symbol, by the form of its lines, so that texts of any system can be judged."""

import re
from functools import cache

_PYTHON = (".py", ".pyi")
_INTRODUCING = (
    "class|record|struct|interface|enum|delegate|namespace|event|def|function|func|fn|type|const|let|var|"
    "message|service|rpc"
)
_CREATED = (
    "or|replace|temp|temporary|unlogged|virtual|unique|materialized|concurrently|if|not|exists|"
    "table|view|index|trigger|function|procedure|type|schema|sequence|extension"
)
_NO_TYPES = frozenset(
    """
    and as await case defer delete else for from go goto if import in is new not or range REFERENCES return switch throw
    typeof using when while yield
    """.split()
)
"""Words before a name that is used, not declared."""
_WORD = r"[\w<>\[\],.?()]+"
_TYPE = r"\w[\w<>\[\],.?)]*(?<!,)"
_RECEIVER = r"(?:\([^()\n]*\)[ \t]+)?"
_GENERIC = r"(?:<[^<>\n]*>)?"
_ARGUMENTS = r"\((?:[^()\n]|\([^()\n]*\))*\)"
_OVER_LINES = r"\((?:\n(?!(?P=indent)\S)[^\n]*)*\n(?P=indent)\)"


def declares(text: str, path: str, symbol: str) -> bool:
    """True if a line of the text declares the symbol, judged by the form of the line.

    In Python that is `def`, `class`, or an assignment with spaces around its sign and no comma at its end, which would
    make it an argument. In SQL it is `CREATE` and what is created. In other languages it is a word such as `class` and
    the name; a type and the name, followed by what follows a name that is declared: `(`, `{`, `;`, `=`, or the end of
    the line; or the name alone with parameters and then a body or a type. In Go it is also a method of an interface
    that has a result, and a constant or variable of a group.
    """
    if symbol not in text:
        return False
    if path.endswith(_PYTHON):
        return _python(symbol).search(text) is not None
    if path.endswith(".sql"):
        return _created(symbol).search(text) is not None
    if _introduced(symbol).search(text) or _member(symbol).search(text):
        return True
    if path.endswith(".go") and _grouped(symbol).search(text):
        return True
    return any({match["first"], match["word"]}.isdisjoint(_NO_TYPES) for match in _typed(symbol).finditer(text))


@cache
def _python(symbol: str) -> re.Pattern[str]:
    name = re.escape(symbol)
    assigned = rf"{name}(?:[ \t]*:[^=\n]+)?[ \t]=[ \t].*(?<!,)$"
    return re.compile(rf"^[ \t]*(?:(?:async[ \t]+)?(?:def|class)[ \t]+{name}\b|{assigned})", re.MULTILINE)


@cache
def _created(symbol: str) -> re.Pattern[str]:
    """`CREATE TABLE name`, `CREATE UNIQUE INDEX IF NOT EXISTS "name"`."""
    created = rf"^[ \t]*CREATE[ \t]+(?:(?:{_CREATED})[ \t]+)+"
    return re.compile(rf"{created}[\"`\[]?{re.escape(symbol)}\b", re.MULTILINE | re.IGNORECASE)


@cache
def _introduced(symbol: str) -> re.Pattern[str]:
    """A word such as `class` and the name; in Go the receiver of a method may stand between."""
    before = rf"^[ \t]*(?:{_WORD}[ \t]+)*?(?:{_INTRODUCING})[ \t]+{_RECEIVER}"
    return re.compile(rf"{before}{re.escape(symbol)}\b", re.MULTILINE)


@cache
def _member(symbol: str) -> re.Pattern[str]:
    """The name, parameters in one line or in lines of their own, and a body or a type: `name(id: number): Row {`.

    Or the name, and as its type a function: `name: (id: number) => Row`.
    """
    called = rf"{_GENERIC}(?:{_ARGUMENTS}|{_OVER_LINES})[ \t]*[{{:]"
    function = rf"\??:[ \t]*{_ARGUMENTS}[ \t]*=>"
    return re.compile(rf"^(?P<indent>[ \t]*){re.escape(symbol)}(?:{called}|{function})", re.MULTILINE)


@cache
def _grouped(symbol: str) -> re.Pattern[str]:
    """A method of an interface that has a result, or a constant or variable of a group: one tab deep, as Go has it."""
    name = re.escape(symbol)
    return re.compile(rf"^\t{name}(?:{_ARGUMENTS}[ \t]+[\w*(\[]|(?:[ \t]+[\w*.\[\]]+)?[ \t]+=[ \t])", re.MULTILINE)


@cache
def _typed(symbol: str) -> re.Pattern[str]:
    """A type, which is `word` or ends with it, and the name; `first` is the first word of the line."""
    name, after = re.escape(symbol), r"[ \t]*(?:<[^<>\n]*>[ \t]*)?(?:[({;]|=(?!=)|\r?$)"
    typed = rf"(?=(?P<first>{_WORD}))(?:{_WORD}[ \t]+)*?(?P<word>{_TYPE})[ \t]+{name}{after}"
    return re.compile(rf"^[ \t]*{typed}", re.MULTILINE)
