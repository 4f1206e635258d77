"""What a text is for: one table of purposes, with the signs in paths that tell them and how a question asks for them.

The purpose of a node follows from its path, its corpus type and its two flags. So it is the same for an index
that was built before, and for nodes that a caller brings. A build sets the flags by more than the path: by the header
of a file, by its imports and by its project (`groundwire_ingest.tree.flag_signs`).

`docs/purposes.md` describes the rows. `docs/adr/0073-purposes-of-texts.md` says how the factors were chosen.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from groundwire_index.nodes.node import Node


class Purpose(IntEnum):
    """What a text is for. The numbers are positions in `PURPOSES`, and are stored nowhere."""

    PRODUCT = 0
    TEST = 1
    GENERATED = 2
    AGENT_INSTRUCTIONS = 3
    LICENCE = 4
    CHANGE_LOG = 5
    TRANSLATION = 6
    MIGRATION = 7
    STORY = 8
    USER_TEXT = 9
    TOOL_CONFIGURATION = 10
    DATA = 11
    DOCUMENTATION = 12
    USER_INTERFACE = 13


@dataclass(frozen=True, slots=True)
class PathSign:
    """A sign in the case-folded path of a file: its whole name, and folders above it, in any order.

    For each pattern of `folders` there must be a folder whose whole name matches. Each pattern looks at one name at a
    time, so that a path takes time linear in its length.
    """

    name: re.Pattern[str]
    folders: tuple[re.Pattern[str], ...] = ()

    def is_in(self, folders: Sequence[str], name: str) -> bool:
        """True if a path of these folders and this name has the sign."""
        return self.name.fullmatch(name) is not None and all(
            any(map(pattern.fullmatch, folders)) for pattern in self.folders
        )


@dataclass(frozen=True, slots=True)
class PurposeRow:
    """A row of the table.

    Attributes:
        name: The name in requests, responses and documents.
        in_words: The purpose as a part of a sentence: "it is ...".
        factor: Multiplies the score of such a text in ranking, unless the question asks for it.
        asking_words: A question with one of these words, case-folded, asks for such texts.
        is_aside: True if evidence gives such texts a small share only, unless the question asks for them.
        is_data: True if the parts of a file repeat one form, so that neither its parts nor its length say anything.
        signs: A path with one of them has this purpose.
    """

    name: str
    in_words: str
    factor: float = 1.0
    asking_words: frozenset[str] = frozenset()
    is_aside: bool = False
    is_data: bool = False
    signs: tuple[PathSign, ...] = ()


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


TEST_FOLDER = re.compile(
    r"(?:.*[._-])?(?:unit|functional|integration|acceptance|contract|performance|smoke)?tests?|__tests__|specs?|e2e"
    r"|testdata|test_?utils?|.+(?:Unit|Functional|Integration)?Tests",
    re.IGNORECASE,
)
"""A folder of tests, by its whole name."""
TEST_FILE = re.compile(
    r"test_.+\.pyi?|.+_test\.(?:py|go|rb|cc|cpp|c|dart|exs)|conftest\.py|.+\.(?:test|spec|cy|e2e|e2e-spec)\.[cm]?[jt]sx?"
    r"|.+_spec\.rb|\w+(?:Tests?|IT|Spec)\.(?:java|kt|cs|php|scala|swift)"
)
"""A file of tests, by its whole name."""
GENERATED_FILE = re.compile(
    r".+\.(?:g|g\.i|designer|generated|gen)\.(?:cs|vb|ts|js|go|dart)|.+_pb2(?:_grpc)?\.pyi?|.+\.pb(?:\.gw)?\.(?:go|cc|h)"
    r"|zz_generated.+|.+_(?:pb|grpc_pb|pb_service)\.(?:js|d\.ts)|.+\.min\.(?:js|css)|.+ModelSnapshot\.cs",
    re.IGNORECASE,
)
"""A generated file, by its whole name."""


def _named(*names: str) -> PathSign:
    return PathSign(re.compile("|".join(names)))


def _below(folders: str, name: str = ".+") -> PathSign:
    return PathSign(re.compile(name), (re.compile(folders),))


_PROSE = r".+\.(?:mdx?|rst|txt|adoc|asciidoc)"
_LANGUAGE = r"[a-z]{2}(?:[-_](?:[a-z]{2}|hans|hant|latn|cyrl|\d{3}))?"
_MAILS = re.compile(r"(?:.*[-_.])?(?:e-?)?mail(?:s|er|ers)?(?:[-_.].*)?")
_TEMPLATES = re.compile(r"(?:.*[-_])?templates?(?:[-_].*)?")
_CONFIGURATION_NAMES = "settings|config|manifest|schema|options|application|openapi|swagger"
"""Parts of the names of files that are no mere data although their form is one of data."""

_LOCK_FILES = (
    _named(
        r".+\.lock|.+[.-]lock\.(?:json|ya?ml|hcl)|.+\.lockfile|npm-shrinkwrap\.json|go\.(?:work\.)?sum",
        r"packages\.lock\.json|project\.assets\.json",
    ),
)
_AGENTS = (
    _named(r"(?:agents?|claude|gemini|copilot-instructions|skill)\.mdx?", r"\.(?:cursor|windsurf|cline)rules"),
    _below(r"\.(?:agents?|claude|cursor|codex|gemini|opencode|windsurf|continue|aider|roo|kiro)"),
    PathSign(
        re.compile(r".+\.(?:md|ya?ml)"),
        (re.compile(r"\.github"), re.compile("instructions|prompts|chatmodes|agents|skills")),
    ),
)
_LICENCES = (
    _named(
        r"(?:licen[cs]es?|copying|notice|third[-_ ]?party[-_ ]?notices?)(?:[-_][a-z0-9]+(?:[-.]\d[\d.]*)?)?"
        r"(?:\.(?:md|txt|rst|html?))?"
    ),
)
_CHANGE_LOG = "change[-_ ]?logs?|changes|history|release[-_ ]?notes|news"
_CHANGE_LOGS = (
    _named(rf"(?:{_CHANGE_LOG})(?:[-_.].*)?\.(?:mdx?|rst|txt|adoc)", f"(?:{_CHANGE_LOG})"),
    _below(r"change[-_]?logs?|release[-_]?notes|\.changeset|changes\.d|newsfragments", _PROSE),
)
_TRANSLATIONS = (
    _below(
        "i18n|l10n|langs?|languages?|locales?|translations?",
        r".+\.(?:json5?|ya?ml|pot?|toml|ini|properties|xml|resx|strings|arb|ftl|xlf|xliff|php|txt)",
    ),
    _below("i18n|l10n|langs?|locales?|translations?", rf"{_LANGUAGE}\.[cm]?[jt]s"),
    _named(r".+\.(?:pot?|xlf|xliff|arb|strings)", rf".+\.{_LANGUAGE}\.(?:resx|json|ya?ml|properties)"),
    _below(f"values-{_LANGUAGE}", r"strings\.xml"),
)
_MIGRATIONS = (
    _below("migrations?|migrate|flyway|liquibase", r"v?\d{3,}.*|[0-9a-f]{10,}_.+|[vur]\d[\d._]*__.+|.+\.sql"),
    _below("versions", r"(?:\d{4}.*|[0-9a-f]{10,}_.+)\.py"),
)
_STORIES = (
    _named(r".+\.(?:stories|story)\.(?:[cm]?[jt]sx?|mdx|vue|svelte)"),
    _below(r"__stories__|\.storybook|samples?|examples?|demos?"),
)
_USER_TEXTS = (
    _below(
        r"blogs?|(?:blog)?[-_]?posts|marketing|landing(?:[-_]?pages?)?|newsletters?|press|testimonials?|faqs?"
        r"|help(?:[-_]?cent(?:er|re))?|legal",
        r".+\.(?:mdx?|html?|txt|rst|adoc|astro|njk|liquid|json|ya?ml)",
    ),
    PathSign(re.compile(".+"), (_MAILS, _TEMPLATES)),
    PathSign(re.compile(r".+\.(?:html?|txt|mjml|hbs|liquid|njk|cshtml|erb)"), (_MAILS,)),
)
_TOOL_CONFIGURATIONS = (
    _named(
        r"\.(?:editorconfig|pre-commit-config\.yaml|readthedocs\.ya?ml|codecov\.yml)",
        r"\.(?:eslint|prettier|stylelint|babel|commitlint|lintstaged|npm|nvm|swc|mocha|nyc|yarn)rc(?:\.[a-z]+)?",
        r"(?:ts|js)config(?:[.-].*)?\.json|(?:package|turbo|nx|lerna|renovate|biome|deno|vercel|global)\.json",
        r"(?:eslint|prettier|jest|vite|vitest|webpack|rollup|babel|postcss|tailwind|playwright|cypress|next|nuxt|tsup"
        r"|stylelint|commitlint|lint-staged|svelte|astro|karma|metro|react-router|source|knip)\.config\.[cm]?[jt]s",
        r"(?:tox|pytest|mypy)\.ini|setup\.cfg|pyproject\.toml|mkdocs\.yml|codecov\.yml|nuget\.config",
        r"directory\.(?:build|packages)\.(?:props|targets)|dependabot\.ya?ml|funding\.yml|codeowners|labeler\.yml",
        r"pull_request_template\.md",
    ),
    _below(r"\.(?:vscode|idea|husky|devcontainer|config)|issue_template"),
)
"""Without the workflows of build servers: those do something that people ask for."""
_USER_INTERFACES = (
    _named(
        r".+\.(?:[jt]sx|vue|svelte|astro|razor|cshtml|xaml|axaml|x?html?|jinja2?|j2|jnj|twig|hbs|handlebars|mustache|erb"
        r"|ejs|liquid|njk|gohtml|aspx|ascx|jsp)"
    ),
)
_DATA = (_named(rf"(?!.*(?:{_CONFIGURATION_NAMES})).+\.(?:csv|tsv|json|jsonl|ndjson|geojson|svg)"),)

PURPOSES: tuple[PurposeRow, ...] = (
    PurposeRow("product", "product code"),
    PurposeRow(
        "test",
        "a test",
        factor=0.5,
        asking_words=_words("tests specs fixtures"),  # in the plural: "in a test" says where, not what is looked for
        is_aside=True,
    ),
    PurposeRow(
        "generated",
        "generated",
        factor=0.5,
        asking_words=_words("generated lockfile"),
        is_aside=True,
        signs=_LOCK_FILES,
    ),
    PurposeRow(
        "agent_instructions",
        "an instruction for agents",
        factor=0.5,
        asking_words=_words("agent agents skill skills claude copilot cursor"),
        is_aside=True,
        signs=_AGENTS,
    ),
    PurposeRow(
        "licence",
        "a licence",
        factor=0.5,
        asking_words=_words("licence license licences licenses licensed copyright"),
        is_aside=True,
        signs=_LICENCES,
    ),
    PurposeRow(
        "change_log",
        "a change log",
        factor=0.5,
        asking_words=_words("changelog changelogs"),
        is_aside=True,
        signs=_CHANGE_LOGS,
    ),
    PurposeRow(
        "translation",
        "a translation",
        factor=0.5,
        asking_words=_words("translation translations translated locale locales i18n l10n"),
        is_aside=True,
        is_data=True,
        signs=_TRANSLATIONS,
    ),
    PurposeRow(
        "migration",
        "a migration",
        factor=0.75,
        asking_words=_words("migration migrations migrate migrated"),
        signs=_MIGRATIONS,
    ),
    PurposeRow(
        "story",
        "a story or a sample",
        factor=0.75,
        asking_words=_words("stories storybook sample samples example examples demo demos tutorial tutorials"),
        signs=_STORIES,
    ),
    PurposeRow(
        "user_text",
        "a text for users",
        factor=0.75,
        asking_words=_words("blog marketing newsletter mail mails email emails wording template templates faq help"),
        signs=_USER_TEXTS,
    ),
    PurposeRow(
        "tool_configuration",
        "a configuration of tools",
        factor=0.75,
        asking_words=_words(
            "lint linter linters formatter bundler build builds built package packages config configuration dependency "
            "dependencies tsconfig eslint"
        ),
        signs=_TOOL_CONFIGURATIONS,
    ),
    PurposeRow(
        "data",
        "data",
        factor=0.75,
        asking_words=_words("json csv dataset datasets settings configuration config"),
        is_aside=True,
        is_data=True,
        signs=_DATA,
    ),
    PurposeRow(
        "documentation",
        "documentation",
        factor=0.75,
        asking_words=_words("docs documentation documented readme guide tutorial manual"),
    ),
    PurposeRow(
        "user_interface",
        "a user interface",
        factor=0.75,
        asking_words=_words(
            "page pages screen screens button buttons dialog dialogs menu menus modal popup tooltip sidebar toolbar "
            "click clicks clicked frontend ui interface component components icon icons"
        ),
        signs=_USER_INTERFACES,
    ),
)
"""The table, by the numbers of `Purpose`. Of several paths that match, the first in this order counts."""

PROSE_PREFIX = "DOC_"
"""How the corpus types of prose begin."""

_SIGNS = tuple((Purpose(number), sign) for number, row in enumerate(PURPOSES) for sign in row.signs)
_KEPT_PATHS = 1 << 16


@lru_cache(maxsize=_KEPT_PATHS)
def purpose_of_path(path: str) -> Purpose:
    """The purpose that a path tells, tests and generated code aside; PRODUCT if it tells none."""
    *folders, name = path.casefold().split("/")
    return next((purpose for purpose, sign in _SIGNS if sign.is_in(folders, name)), Purpose.PRODUCT)


def purpose_of(node: Node) -> Purpose:
    """The purpose of a node."""
    if node.is_test:
        return Purpose.TEST
    if node.is_generated:
        return Purpose.GENERATED
    by_path = purpose_of_path(node.location.path)
    if by_path is Purpose.PRODUCT and node.corpus_type.startswith(PROSE_PREFIX):
        return Purpose.DOCUMENTATION
    return by_path


def purposes_of(
    by_path: NDArray[np.int8], is_prose: NDArray[np.bool_], is_test: NDArray[np.bool_], is_generated: NDArray[np.bool_]
) -> NDArray[np.int8]:
    """The purposes of nodes [n] by the same rule as `purpose_of`; `by_path` [n] are those that the paths tell."""
    purposes = by_path.copy()
    purposes[(by_path == Purpose.PRODUCT) & is_prose] = Purpose.DOCUMENTATION
    purposes[is_generated] = Purpose.GENERATED
    purposes[is_test] = Purpose.TEST
    return purposes


def asked_purposes(question: str) -> frozenset[Purpose]:
    """The purposes that the words of a question ask for."""
    words = set(re.findall(r"\w+", question.casefold()))
    return frozenset(Purpose(number) for number, row in enumerate(PURPOSES) if not words.isdisjoint(row.asking_words))


def purpose_factors(asked: Collection[Purpose]) -> Mapping[str, float]:
    """The factors that lower texts which a question does not ask for, by the names of their purposes."""
    return {
        row.name: row.factor
        for number, row in enumerate(PURPOSES)
        if row.factor != 1.0 and Purpose(number) not in asked
    }
