"""Source texts for a page: highlighted, line by line, with the numbers of the lines in their file."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from markupsafe import Markup, escape
from pygments import format as formatted
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import find_lexer_class_for_filename
from pygments.token import Text, _TokenType  # pyright: ignore[reportPrivateUsage] - its type has no other name

from groundwire.evidence.best_line import best_line_of, cut_in_view
from groundwire.printable_text import printable
from groundwire_client import SourceLocation

_WIDTH = 140
"""The most characters of a line of an excerpt, which is as wide as a page."""
_MOST_HIGHLIGHTED = 6_000
"""Characters of a text that is highlighted; a longer one is plain, as a lexer may need the square of its length."""
_SECONDS_TO_HIGHLIGHT = 0.1
"""After so long the rest of a text is plain. Lexers are quick on code, and slow on texts that are made for it."""
_LEXERS = frozenset(
    """BashLexer CLexer CSharpLexer CppLexer CssLexer DartLexer DockerLexer GoLexer GraphQLLexer GroovyLexer HtmlLexer
    JavaLexer JavascriptLexer JsonLexer JsxLexer KotlinLexer LuaLexer MakefileLexer MarkdownLexer PhpLexer
    PowerShellLexer PropertiesLexer ProtoBufLexer PythonLexer RstLexer RubyLexer RustLexer SqlLexer SwiftLexer TOMLLexer
    TerraformLexer TransactSqlLexer TsxLexer TypeScriptLexer VbNetLexer VueLexer XmlLexer YamlLexer""".split()
)
"""The lexers that may run. The indexed tree chooses names of files, and other lexers take seconds for one token."""


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text to show.

    Attributes:
        lines: HTML of each line.
        first: The number of the first line in its file; 0 when the lines cannot be numbered.
        text: The text itself, as it is shown.
    """

    lines: tuple[Markup, ...]
    first: int
    text: str

    def best_line(self, question: str) -> int:
        """The place of the line that says most about a question; see `best_line_of`."""
        return best_line_of(self.text.split("\n"), question)

    def line_in_view(self, place: int, question: str) -> Markup:
        """HTML of a line as an excerpt shows it: a long one is cut, with the first word of the question in view."""
        line = self.text.split("\n")[place]
        return escape(cut_in_view(line, question, _WIDTH)) if len(line) > _WIDTH else self.lines[place]


def source_text(text: str, location: SourceLocation) -> SourceText:
    """A text with the highlighting of its file's language and, where it is a whole range of lines, their numbers."""
    visible = printable(text).removesuffix("\n")
    numbered = location.start_line > 0 and location.end_line - location.start_line == visible.count("\n")
    return SourceText(tuple(_lines(visible, location.path)), location.start_line if numbered else 0, visible)


def _lines(text: str, path: str) -> list[Markup]:
    kind = _lexer_class(path.rpartition("/")[2])
    if kind is None or len(text) > _MOST_HIGHLIGHTED:
        return [escape(line) for line in text.split("\n")]
    html = formatted(_tokens(text, kind(stripnl=False, ensurenl=False)), HtmlFormatter(nowrap=True))
    # The formatter closes what is open at the end of a line, and ends the text with a line feed.
    return [Markup(line) for line in html.removesuffix("\n").split("\n")]


def _tokens(text: str, lexer: Lexer) -> Iterator[tuple[_TokenType, str]]:
    end, done = time.monotonic() + _SECONDS_TO_HIGHLIGHT, 0
    for kind, part in lexer.get_tokens(text):
        yield kind, part
        done += len(part)
        if time.monotonic() > end:
            yield Text, text[done:]
            return


@lru_cache(maxsize=1_000)
def _lexer_class(name: str) -> type[Lexer] | None:
    kind = find_lexer_class_for_filename(name)
    return kind if kind is not None and kind.__name__ in _LEXERS else None
