"""The purposes of texts, in one table: their signs in paths, their factors, and how a question asks for them.

The purpose of a node follows from its path, its corpus type and its two flags. So it is the same for an index
that was built before, and for nodes that a caller brings. A build sets the flags by more than the path: by the header
of a file, by its imports and by its project (`groundwire_ingest.tree.flag_signs`).

`docs/purposes.md` describes the rows. `docs/adr/0073-purposes-of-texts.md` says how the factors were chosen.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from groundwire_index.nodes.node import Node
from groundwire_index.nodes.path_signs import PathSign, parts_of_path


class Purpose(IntEnum):
    """The purpose of a text. The numbers are positions in `PURPOSES`, and are not stored."""

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
    PROMPT = 14
    THIRD_PARTY = 15


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


def _product(stems: str, endings: str) -> frozenset[str]:
    """Each of the stems alone and with each of the endings."""
    return frozenset(stem + ending for stem in stems.split() for ending in ("", *endings.split()))


_PROSE = (".md", ".mdx", ".rst", ".txt", ".adoc", ".asciidoc")

_LOCK_FILES = (
    PathSign(names=_words("go.sum go.work.sum npm-shrinkwrap.json project.assets.json")),
    PathSign(endings=(".lock", ".lockfile", "-lock.json", ".lock.json", "-lock.yaml", "-lock.yml", ".lock.hcl")),
)
_AGENTS = (
    PathSign(
        names=_product("agents agent claude gemini copilot-instructions skill", ".md .mdx") - _words("agents skill")
    ),
    PathSign(names=_words(".cursorrules .windsurfrules .clinerules")),
    PathSign(folders=(_words(".agents .agent .claude .cursor .codex .gemini .opencode .windsurf .aider .roo .kiro"),)),
    PathSign(folders=(_words(".github"), _words("instructions prompts chatmodes agents skills"))),
)
_PROMPTS = (
    PathSign(folders=(_words("prompts prompt"),), endings=(*_PROSE, ".prompt", ".j2", ".jinja", ".jinja2", ".tmpl")),
    PathSign(
        name_words=_words("prompt prompts"),
        folder_words=(_words("ai genai llm llms gpt openai anthropic prompt prompts"),),
    ),
)
_LICENCES = (
    PathSign(
        names=_product(
            "license licence licenses licences copying copying.lesser notice notices third-party-notices "
            "third_party_notices thirdpartynotices license-mit license-apache license-apache-2.0 licence-mit "
            "licence-apache-2.0 gpl lgpl agpl gpl-2.0 gpl-3.0 lgpl-2.1 lgpl-3.0 agpl-3.0 cpl epl mpl mpl-2.0 "
            "apache-2.0",
            ".md .txt .rst .html",
        )
        - _words("gpl lgpl agpl cpl epl mpl")
    ),
)
_CHANGE_LOGS = (
    PathSign(names=_product("changelog change-log change_log changes history release-notes release_notes news", "")),
    PathSign(beginnings=("changelog", "change-log", "changes.", "history.", "release-notes", "news."), endings=_PROSE),
    PathSign(
        folders=(_words("changelog changelogs release-notes releasenotes .changeset changes.d newsfragments"),),
        endings=_PROSE,
    ),
)
_OF_TRANSLATIONS = _words("i18n l10n lang langs language languages locale locales translation translations")
_TRANSLATIONS = (
    PathSign(
        folders=(_OF_TRANSLATIONS,),
        endings=tuple(
            ".json .json5 .yml .yaml .po .pot .toml .ini .properties .xml .resx .strings .arb .ftl .xlf .xliff .php "
            ".txt".split()
        ),
    ),
    PathSign(folders=(_OF_TRANSLATIONS,), endings=(".ts", ".js", ".mjs"), has_language=True),
    PathSign(endings=(".po", ".pot", ".xlf", ".xliff", ".arb", ".strings")),
    PathSign(endings=(".resx", ".json", ".yml", ".yaml", ".properties"), has_language=True),
    PathSign(names=_words("strings.xml translations.js translations.ts translations.json")),
    PathSign(endings=(".resx", ".resw")),
)
_OF_MIGRATIONS = _words("migration migrations migrate flyway liquibase")
_MIGRATIONS = (
    PathSign(folders=(_OF_MIGRATIONS,), endings=(".sql",)),
    PathSign(folders=(_OF_MIGRATIONS,), is_numbered=True),
    PathSign(folders=(_words("versions"),), endings=(".py",), is_numbered=True),
)
_STORIES = (
    PathSign(endings=tuple(f".stories.{kind}" for kind in "js jsx ts tsx mdx vue svelte".split())),
    PathSign(folders=(_words("__stories__ .storybook sample samples example examples demo demos"),)),
)
_MARKUP = (".html", ".htm", ".mjml", ".hbs", ".liquid", ".njk", ".cshtml", ".erb")
_MAILS = _words("mail mails email emails mailer mailers")
_USER_TEXTS = (
    PathSign(
        folders=(
            _words(
                "blog blogs posts _posts blog-posts marketing landing landing-page landing-pages newsletter "
                "newsletters press testimonials faq faqs help help-center help-centre legal"
            ),
        ),
        endings=(*_PROSE, *_MARKUP, ".astro", ".json", ".yml", ".yaml"),
    ),
    PathSign(folders=(_words("helpfiles help-files help_files"),)),
    PathSign(folder_words=(_MAILS, _words("template templates"))),
    PathSign(folder_words=(_MAILS,), endings=(*_MARKUP, ".txt")),
)
_TOOL_CONFIGURATIONS = (
    PathSign(
        names=_words(
            ".editorconfig .pre-commit-config.yaml .readthedocs.yml .readthedocs.yaml .codecov.yml codecov.yml "
            "package.json turbo.json nx.json lerna.json renovate.json biome.json deno.json vercel.json global.json "
            "tox.ini pytest.ini mypy.ini setup.cfg pyproject.toml mkdocs.yml nuget.config directory.build.props "
            "directory.build.targets directory.packages.props dependabot.yml dependabot.yaml funding.yml codeowners "
            "labeler.yml pull_request_template.md"
        )
    ),
    PathSign(
        names=_product(
            ".eslintrc .prettierrc .stylelintrc .babelrc .commitlintrc .lintstagedrc .npmrc .nvmrc .swcrc .mocharc "
            ".nycrc .yarnrc",
            ".json .js .cjs .mjs .yml .yaml .toml",
        )
    ),
    PathSign(beginnings=("tsconfig", "jsconfig"), endings=(".json",)),
    PathSign(
        beginnings=tuple(
            f"{tool}.config."
            for tool in "eslint prettier jest vite vitest webpack rollup babel postcss tailwind playwright cypress "
            "next nuxt tsup stylelint commitlint lint-staged svelte astro karma metro react-router knip".split()
        )
    ),
    PathSign(folders=(_words(".vscode .idea .husky .devcontainer .config issue_template"),)),
)
"""Without the workflows of build servers: those do something that people ask for."""
_OF_DATA = _words("seed seeds seeddata fixture fixtures dump dumps")
_DATA = (
    PathSign(name_words=_OF_DATA, endings=(".sql", ".xml", ".yml", ".yaml")),
    PathSign(folder_words=(_OF_DATA,), endings=(".sql", ".xml", ".yml", ".yaml")),
    PathSign(
        endings=(".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".geojson", ".svg"),
        without=tuple("settings config manifest schema options application openapi swagger".split()),
    ),
)
_USER_INTERFACES = (
    PathSign(
        endings=tuple(
            ".jsx .tsx .vue .svelte .astro .razor .cshtml .xaml .axaml .html .htm .xhtml .jinja .jinja2 .j2 .jnj .twig "
            ".hbs .handlebars .mustache .erb .ejs .liquid .njk .gohtml .aspx .ascx .jsp".split()
        )
    ),
)

_SCRIPT_LIBRARIES = "jquery knockout modernizr underscore lodash tinymce ckeditor".split()
_OF_WEB_FILES = _words("assets static public wwwroot scripts content js")
_THIRD_PARTY = (
    PathSign(
        folders=(
            _words(
                "third_party third-party thirdparty 3rdparty vendored _vendor node_modules bower_components "
                "jspm_packages"
            ),
        )
    ),
    PathSign(folders=(_words("vendor"),), endings=(".go", ".php", ".c", ".h", ".cc", ".cpp", ".rs")),
    PathSign(folders=(_OF_WEB_FILES, _words("vendor vendors lib libs")), endings=(".js", ".css")),
    PathSign(
        beginnings=tuple(f"{library}{mark}" for library in _SCRIPT_LIBRARIES for mark in ".-"), endings=(".js", ".css")
    ),
)
"""Without folders named `vendor` in other languages: shops have a code of their own about vendors."""

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
        asking_words=_words("json csv dataset datasets seed seeds dump settings configuration config"),
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
    PurposeRow(
        "prompt",
        "a prompt for a language model",
        factor=0.75,
        asking_words=_words("prompt prompts ai llm llms gpt openai"),
        signs=_PROMPTS,
    ),
    PurposeRow(
        "third_party",
        "a copy of a library by others",
        factor=0.5,
        asking_words=_words("vendor vendored party library libraries jquery"),
        is_aside=True,
        signs=_THIRD_PARTY,
    ),
)
"""The table, by the numbers of `Purpose`. Of several signs that a path has, the first in this order counts."""

PROSE_PREFIX = "DOC_"
"""How the corpus types of prose begin."""

_SIGNS = tuple((Purpose(number), sign) for number, row in enumerate(PURPOSES) for sign in row.signs)
_KEPT_PATHS = 1 << 16


@lru_cache(maxsize=_KEPT_PATHS)
def purpose_of_path(path: str) -> Purpose:
    """The purpose that has a sign in a path, which tests and generated code do not; PRODUCT without a sign."""
    parts = parts_of_path(path)
    return next((purpose for purpose, sign in _SIGNS if sign.is_in(parts)), Purpose.PRODUCT)


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


def asked_purposes(question: str) -> frozenset[Purpose]:
    """The purposes that the words of a question ask for."""
    words = set(re.findall(r"\w+", question.casefold()))
    return frozenset(Purpose(number) for number, row in enumerate(PURPOSES) if not words.isdisjoint(row.asking_words))


def lowering_factors(wanted: Collection[Purpose]) -> Mapping[str, float]:
    """The factors that lower texts which a question does not ask for, by the names of their purposes."""
    return {
        row.name: row.factor
        for number, row in enumerate(PURPOSES)
        if row.factor != 1.0 and Purpose(number) not in wanted
    }
