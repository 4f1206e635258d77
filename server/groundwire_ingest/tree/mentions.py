"""Edges from strings in code to the files and settings of the tree that they name."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from groundwire_ingest.frameworks.registry import PLACEHOLDER_SUFFIXES
from groundwire_ingest.records import SourceEdge
from groundwire_ingest.tree.code_facts import Reference
from groundwire_ingest.tree.file_analysis import StringLiteral
from groundwire_ingest.tree.files.paths import TreePaths
from groundwire_ingest.tree.setting_keys import BETWEEN, CONNECTIONS, SettingKeys, joined

SETTING_PATH = 0.9
SETTING_NAME = 0.8
MAX_SETTINGS = 4
"""A key that more files than this have, all equally near to the code that reads it, gets no edge."""

_PATH = re.compile(r"[\w.~@/\\-]{1,200}\.[A-Za-z]\w{0,9}")
_VIEW = re.compile(r"/?+\w[\w-]*+(?:/[\w-]++)*+")
_TEMPLATE_SUFFIXES = (
    *(".html", ".cshtml", ".jsp", ".ftlh", ".ftl", ".mustache", ".hbs", ".handlebars", ".ejs", ".pug", ".njk"),
    *(".html.twig", ".twig", ".html.erb", ".erb", ".liquid", ".gohtml", ".tmpl"),
)
_KEY = re.compile(r"[A-Za-z](?:[\w-]*+(?:[:.][A-Za-z][\w-]*+){1,7}|(?>[\w-]*?__[A-Za-z])[\w-]*+)")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_ENVIRONMENT = re.compile(r"(?:process|import\.meta|Deno|Bun)\.env\.[A-Z][A-Z0-9_]*")
# `${orders.queue}` and `${orders.queue:none}`.
_PLACEHOLDER = re.compile(r"\$\{([\w.-]{1,200})(?::[^{}]*)?\}")
_SEPARATOR = re.compile(r":|\.|__")


class Mentions:
    """Gathers the settings of a tree and the strings that may name one of them, or a file. Settings come first."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._names = {path.rpartition("/")[2].lower() for path in paths}
        self._files: list[tuple[str, StringLiteral]] = []
        self._keys: list[tuple[str, str, str, int]] = []
        self.settings = SettingKeys()

    def add(self, path: str, literals: Iterable[StringLiteral]) -> None:
        """Adds the strings of a code file that look like a path to a file of the tree, or like a key of settings."""
        for literal in literals:
            text = literal.text.strip()
            if _PATH.fullmatch(text) and re.split(r"[/\\]", text)[-1].lower() in self._names:
                self._files.append((path, literal))
                continue
            placeholders = _PLACEHOLDER.findall(text) if path.endswith(PLACEHOLDER_SUFFIXES) else []
            for key in placeholders:
                self._note(path, joined(key.lower().split(".")), literal.from_key, literal.line)
            if not placeholders:
                self._note(path, self._wanted(text), literal.from_key, literal.line)

    def add_views(self, path: str, views: Iterable[StringLiteral]) -> None:
        """Adds the names of templates that a code file renders, without the suffix; in Blade's, dots are folders."""
        for view in views:
            folded = view.text.replace(".", "/")
            written = (*(f"{view.text}{suffix}" for suffix in _TEMPLATE_SUFFIXES), f"{folded}.blade.php")
            name = next((name for name in written if name.rpartition("/")[2].lower() in self._names), "")
            if _VIEW.fullmatch(folded) and name:
                self._files.append((path, replace(view, text=name)))

    def add_variables(self, path: str, references: Iterable[Reference]) -> None:
        """Adds environment variables that code reads as members, `process.env.DB_HOST`."""
        for reference in references:
            name = reference.name.rpartition(".")[2]
            if _ENVIRONMENT.fullmatch(reference.name):
                self._note(path, name.lower(), reference.from_key, reference.line)

    def edges(self, first_keys: Mapping[str, str], is_test: Callable[[str], bool]) -> Iterator[SourceEdge]:
        """`References` edges to the first node of a named file, `ReadsSetting` edges to the node that holds a setting.

        A key with all of its parts (`Identity:Url`, `Identity__Url`, `server.port`) has confidence SETTING_PATH, the
        name of an environment variable (`DB_HOST`) or of a connection string SETTING_NAME. `is_test` says which paths
        are those of tests.
        """
        paths = TreePaths(first_keys)
        for path, literal in self._files:
            for target, confidence in paths.find(path, literal.text.strip()):
                at_most = min(confidence, SETTING_PATH)
                yield _edge(path, literal.line, literal.from_key, first_keys[target], "References", at_most)
        for path, name, from_key, line in self._keys:
            holders = self.settings.holders(path, name, is_test)
            confidence = SETTING_PATH if BETWEEN in name else SETTING_NAME
            for _, key in holders if len(holders) <= MAX_SETTINGS else ():
                yield _edge(path, line, from_key, key, "ReadsSetting", confidence)

    def _note(self, path: str, setting: str, from_key: str, line: int) -> None:
        if setting in self.settings:
            self._keys.append((path, setting, from_key, line))

    def _wanted(self, text: str) -> str:
        """The setting that a string may name; empty if it does not look like one."""
        if _VARIABLE.fullmatch(text) and self.settings.is_setting(text.lower()):
            return text.lower()
        if _KEY.fullmatch(text):
            return joined(_SEPARATOR.split(text.lower()))
        is_connection = text.isidentifier() and self.settings.is_setting(joined((CONNECTIONS, text.lower())))
        return text.lower() if is_connection else ""


def _edge(path: str, line: int, from_key: str, to_key: str, edge_type: str, confidence: float) -> SourceEdge:
    return SourceEdge(from_key, to_key, edge_type, f"{path}:{line}", confidence, line)
