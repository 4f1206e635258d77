"""The signs of purposes in paths: names of files and folders, endings, and words of both."""

from groundwire_index.nodes.path_signs import PathSign


def words(text: str) -> frozenset[str]:
    """The words of a text, which spaces separate."""
    return frozenset(text.split())


def _product(stems: str, endings: str) -> frozenset[str]:
    """Each of the stems alone and with each of the endings."""
    return frozenset(stem + ending for stem in stems.split() for ending in ("", *endings.split()))


_PROSE = (".md", ".mdx", ".rst", ".txt", ".adoc", ".asciidoc")

LOCK_FILES = (
    PathSign(names=words("go.sum go.work.sum npm-shrinkwrap.json project.assets.json")),
    PathSign(endings=(".lock", ".lockfile", "-lock.json", ".lock.json", "-lock.yaml", "-lock.yml", ".lock.hcl")),
)
AGENTS = (
    PathSign(
        names=_product("agents agent claude gemini copilot-instructions skill", ".md .mdx") - words("agents skill")
    ),
    PathSign(names=words(".cursorrules .windsurfrules .clinerules")),
    PathSign(folders=(words(".agents .agent .claude .cursor .codex .gemini .opencode .windsurf .aider .roo .kiro"),)),
    PathSign(folders=(words(".github"), words("instructions prompts chatmodes agents skills"))),
)
PROMPTS = (
    PathSign(folders=(words("prompts prompt"),), endings=(*_PROSE, ".prompt", ".j2", ".jinja", ".jinja2", ".tmpl")),
    PathSign(
        name_words=words("prompt prompts"),
        folder_words=(words("ai genai llm llms gpt openai anthropic prompt prompts"),),
    ),
)
LICENCES = (
    PathSign(
        names=_product(
            "license licence licenses licences copying copying.lesser notice notices third-party-notices "
            "third_party_notices thirdpartynotices license-mit license-apache license-apache-2.0 licence-mit "
            "licence-apache-2.0 gpl lgpl agpl gpl-2.0 gpl-3.0 lgpl-2.1 lgpl-3.0 agpl-3.0 cpl epl mpl mpl-2.0 "
            "apache-2.0",
            ".md .txt .rst .html",
        )
        - words("gpl lgpl agpl cpl epl mpl")
    ),
)
CHANGE_LOGS = (
    PathSign(names=_product("changelog change-log change_log changes history release-notes release_notes news", "")),
    PathSign(beginnings=("changelog", "change-log", "changes.", "history.", "release-notes", "news."), endings=_PROSE),
    PathSign(
        folders=(words("changelog changelogs release-notes releasenotes .changeset changes.d newsfragments"),),
        endings=_PROSE,
    ),
)
_OF_TRANSLATIONS = words("i18n l10n lang langs language languages locale locales translation translations")
TRANSLATIONS = (
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
    PathSign(names=words("strings.xml translations.js translations.ts translations.json")),
    PathSign(endings=(".resx", ".resw")),
)
_OF_MIGRATIONS = words("migration migrations migrate flyway liquibase")
MIGRATIONS = (
    PathSign(folders=(_OF_MIGRATIONS,), endings=(".sql",)),
    PathSign(folders=(_OF_MIGRATIONS,), is_numbered=True),
    PathSign(folders=(words("versions"),), endings=(".py",), is_numbered=True),
)
STORIES = (
    PathSign(endings=tuple(f".stories.{kind}" for kind in "js jsx ts tsx mdx vue svelte".split())),
    PathSign(folders=(words("__stories__ .storybook sample samples example examples demo demos"),)),
)
_MARKUP = (".html", ".htm", ".mjml", ".hbs", ".liquid", ".njk", ".cshtml", ".erb")
_MAILS = words("mail mails email emails mailer mailers")
USER_TEXTS = (
    PathSign(
        folders=(
            words(
                "blog blogs posts _posts blog-posts marketing landing landing-page landing-pages newsletter "
                "newsletters press testimonials faq faqs help help-center help-centre legal"
            ),
        ),
        endings=(*_PROSE, *_MARKUP, ".astro", ".json", ".yml", ".yaml"),
    ),
    PathSign(folders=(words("helpfiles help-files help_files"),)),
    PathSign(folder_words=(_MAILS, words("template templates"))),
    PathSign(folder_words=(_MAILS,), endings=(*_MARKUP, ".txt")),
)
TOOL_CONFIGURATIONS = (
    PathSign(
        names=words(
            ".editorconfig .pre-commit-config.yaml .readthedocs.yml .readthedocs.yaml .codecov.yml codecov.yml "
            "package.json turbo.json nx.json lerna.json renovate.json biome.json deno.json vercel.json global.json "
            "tox.ini pytest.ini mypy.ini setup.cfg pyproject.toml go.mod go.work mkdocs.yml nuget.config "
            "directory.build.props directory.build.targets directory.packages.props dependabot.yml dependabot.yaml "
            "funding.yml codeowners labeler.yml pull_request_template.md"
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
    PathSign(folders=(words(".vscode .idea .husky .devcontainer .config issue_template"),)),
)
"""Without the workflows of build servers: those do something that people ask for."""
_OF_DATA = words("seed seeds seeddata fixture fixtures dump dumps")
DATA = (
    PathSign(name_words=_OF_DATA, endings=(".sql", ".xml", ".yml", ".yaml")),
    PathSign(folder_words=(_OF_DATA,), endings=(".sql", ".xml", ".yml", ".yaml")),
    PathSign(
        endings=(".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".geojson", ".svg"),
        without=tuple("settings config manifest schema options application openapi swagger".split()),
    ),
)
USER_INTERFACES = (
    PathSign(
        endings=tuple(
            ".jsx .tsx .vue .svelte .astro .razor .cshtml .xaml .axaml .html .htm .xhtml .jinja .jinja2 .j2 .jnj .twig "
            ".hbs .handlebars .mustache .erb .ejs .liquid .njk .gohtml .aspx .ascx .jsp".split()
        )
    ),
)

_SCRIPT_LIBRARIES = "jquery knockout modernizr underscore lodash tinymce ckeditor".split()
_OF_WEB_FILES = words("assets static public wwwroot scripts content js")
THIRD_PARTY = (
    PathSign(
        folders=(
            words(
                "third_party third-party thirdparty 3rdparty vendored _vendor node_modules bower_components "
                "jspm_packages"
            ),
        )
    ),
    PathSign(folders=(words("vendor"),), endings=(".go", ".php", ".c", ".h", ".cc", ".cpp", ".rs")),
    PathSign(folders=(_OF_WEB_FILES, words("vendor vendors lib libs")), endings=(".js", ".css")),
    PathSign(
        beginnings=tuple(f"{library}{mark}" for library in _SCRIPT_LIBRARIES for mark in ".-"), endings=(".js", ".css")
    ),
)
"""Without folders named `vendor` in other languages: shops have a code of their own about vendors."""
