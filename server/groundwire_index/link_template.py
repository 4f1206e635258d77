"""Links to the source: a template of an index makes them from the path and lines of a text.

A template is checked where it is given, where it is written and where it is read, so that a link always leads over HTTP
to the host that the template names, whatever a path holds.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final
from urllib.parse import quote

COMMIT: Final = "{commit}"
"""The placeholder that a build fills: an index states a template without it."""
MAX_TEMPLATE_LENGTH: Final = 1_000
"""Characters of a template."""
MAX_LINK_LENGTH: Final = 2_048
"""Characters of a link; a place with a longer one has none. Each response has room for links of this length."""

_PATH: Final = "{path}"
_LINES: Final = ("{start_line}", "{end_line}")
_LAST_LINE: Final = 2**31 - 1
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")
_SCHEME_AND_HOST = re.compile(r"https?://(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?/", re.ASCII)
_CHARACTERS = re.compile(r"(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*", re.ASCII)
"""Those of an address, by RFC 3986."""
_NO_NAMES = frozenset(("", ".", ".."))
"""A path with one of these names leads to no file below the root of a source, or a browser takes it for another one."""


def template_problem(template: str, *, with_commit: bool = False) -> str | None:
    """The rule that a template breaks, with its cure; None for one that can make links.

    `with_commit` allows the placeholder that a build fills.
    """
    known = (_PATH, *_LINES, *([COMMIT] if with_commit else []))
    return _problem_of_address(template) or _problem_of_placeholders(template, known)


def _problem_of_address(template: str) -> str | None:
    if len(template) > MAX_TEMPLATE_LENGTH:
        return f"has {len(template):,} characters; shorten it to {MAX_TEMPLATE_LENGTH:,}"
    if not template.isprintable():
        return "has control characters, line breaks or other signs that cannot be printed; remove them"
    if not template.startswith(("https://", "http://")):
        return "is no web address; begin it with https:// or http://"
    if "@" in template.split("/", 3)[2]:
        return "names a user or password before the host, which every caller would see; remove it"
    if not _SCHEME_AND_HOST.match(template):
        return "must have a host without placeholders and then /, such as https://git.example/team/shop/blob/"
    return None


def _problem_of_placeholders(template: str, known: tuple[str, ...]) -> str | None:
    unknown = next((name for name in _PLACEHOLDER.findall(template) if name not in known), None)
    if unknown is not None:
        return f"has the placeholder {unknown}, which is unknown; use {', '.join(known)}"
    if not _CHARACTERS.fullmatch(_PLACEHOLDER.sub("", template)):
        return "has characters that an address does not have as they are; write them as %XX, and { } around names alone"
    before_fragment, _, fragment = template.partition("#")
    if "#" in fragment:
        return "has # twice; write the second one as %23"
    if _PATH not in before_fragment:
        return f"does not say where the path stands; write {_PATH} before any #"
    if _has_lines(before_fragment.partition("?")[0]):
        return f"has lines before ? and #; write {' and '.join(_LINES)} behind, where a place without lines drops them"
    return None


def _without_lines(template: str) -> str:
    """The template for a place without lines: what has their placeholders is left out, fragment or parameter."""
    before_fragment, _, fragment = template.partition("#")
    path, _, query = before_fragment.partition("?")
    parameters = [part for part in query.split("&") if not _has_lines(part)]
    fragment = "" if _has_lines(fragment) else fragment
    return path + ("?" + "&".join(parameters) if any(parameters) else "") + (f"#{fragment}" if fragment else "")


def _has_lines(part: str) -> bool:
    return any(name in part for name in _LINES)


@dataclass(frozen=True)
class LinkTemplate:
    """A template without `template_problem`: it makes the links of one index."""

    text: str

    def link(self, path: str, start_line: int, end_line: int) -> str:
        """The link to lines of a file, to the file for a `start_line` of 0, and "" where there is none.

        There is none for a path that is unknown or no path below a root, and none longer than MAX_LINK_LENGTH.
        """
        if not _NO_NAMES.isdisjoint(path.split("/")):
            return ""
        link = self._filled(path, start_line, max(start_line, end_line))
        return link if len(link) <= MAX_LINK_LENGTH else ""

    def most_characters(self, path: str) -> int:
        """The most characters of a link to lines of a file."""
        return min(len(self._filled(path, _LAST_LINE, _LAST_LINE)), MAX_LINK_LENGTH)

    def _filled(self, path: str, start_line: int, end_line: int) -> str:
        # Three replacements take a third of the time of `str.format`. What they fill in has no braces.
        if not start_line:
            return self._without_lines.replace(_PATH, quote(path, safe="/"))
        first, last = _LINES
        filled = self.text.replace(first, str(start_line)).replace(last, str(end_line))
        return filled.replace(_PATH, quote(path, safe="/"))

    @cached_property
    def _without_lines(self) -> str:
        return _without_lines(self.text)


def link_template(text: str) -> LinkTemplate | None:
    """The template of an index, which states one without `template_problem`, or "" for none."""
    return LinkTemplate(text) if text else None
