"""Which file is what by its name, which are never read and why, and what the nodes of each language are."""

import re
from pathlib import PurePosixPath

from groundwire_ingest.tree.chunk_writer import ChunkClass
from groundwire_ingest.tree.file_analysis import SourceFile
from groundwire_ingest.tree.sections import corpus_type_of

PLAIN_TEXT = "text"
LANGUAGE_OF_SUFFIX = {
    suffix: language
    for language, suffixes in {
        "json": ".json .jsonc .json5 .webmanifest .code-workspace .slnf",
        "toml": ".toml",
        "ini": ".ini .cfg .properties .editorconfig .flaskenv",
        "xml": ".xml .config .resx .plist .nuspec .manifest .appxmanifest .xsd .wsdl .xslt .runsettings .storyboard",
        "msbuild": ".csproj .fsproj .vbproj .vcxproj .sqlproj .esproj .dcproj .shproj .props .targets .proj",
        "solution": ".sln .slnx",
        "xaml": ".xaml .axaml",
        "proto": ".proto",
        "graphql": ".graphql .graphqls .gql",
        "http": ".http .rest",
        "razor": ".razor .cshtml",
        "vue": ".vue",
        "svelte": ".svelte",
        "astro": ".astro",
        "html": ".html .htm .xhtml .jinja .jinja2 .j2 .jnj .twig .hbs .handlebars .mustache .erb .ejs .liquid .njk"
        " .gohtml .tmpl .ftl .aspx .ascx .jsp",
        "css": ".css .scss .sass .less",
        "terraform": ".tf .tfvars .hcl",
        "bicep": ".bicep .bicepparam",
        "shell": ".sh .bash .zsh .ksh .bats",
        "powershell": ".ps1 .psm1 .psd1",
        "make": ".mk .mak",
        "restructuredtext": ".rst",
        "asciidoc": ".adoc .asciidoc",
        "csv": ".csv .tsv",
    }.items()
    for suffix in suffixes.split()
}
LANGUAGE_OF_NAME = {
    **dict.fromkeys(("makefile", "gnumakefile"), "make"),
    **dict.fromkeys((".editorconfig", ".flaskenv", ".npmrc"), "ini"),
    **dict.fromkeys((".prettierrc", ".eslintrc", ".babelrc"), "json"),
    "pipfile": "toml",
    **dict.fromkeys(("go.mod", "go.work"), "gomod"),
}
_KINDS = {"solution": "sln", "terraform": "tf", "shell": "sh", "powershell": "ps1"}
"""The kinds of nodes that are not the language's own name."""

_CLASSES = {
    **dict.fromkeys("json toml yaml ini gomod xml msbuild solution".split(), ("config", "CODE_CONFIG")),
    **dict.fromkeys(
        "xaml proto graphql http razor vue svelte astro html css shell powershell make".split(),
        ("regular_code", "CODE_LOGIC"),
    ),
    **dict.fromkeys(("terraform", "bicep"), ("deploy", "CODE_DEPLOY")),
    **dict.fromkeys(("csv", PLAIN_TEXT), ("doc", "DOC_GENERAL")),
}
MINIFIED_WHEN_LONG = frozenset(_CLASSES) - {"yaml", "csv"}
"""The languages in which people do not write lines of tens of thousands of characters."""

_PIPELINE = re.compile(
    r"\A(?=.*\.ya?ml\Z)(?:.*/)?(?:\.github/(?:workflows|actions)/|\.circleci/|\.gitlab/|(?:\.gitlab-ci|\.travis|\.drone|"
    r"\.?appveyor|azure-pipelines[^/]*|bitbucket-pipelines|cloudbuild|buildspec)\.ya?ml\Z)",
    re.DOTALL,
)
_BINARY = frozenset(
    (
        ".png .jpg .jpeg .gif .bmp .ico .icns .webp .avif .tif .tiff .psd .ai .svg .svgz .eps .pdf .ttf .otf .woff "
        ".woff2 .eot .mp3 .mp4 .m4a .wav .ogg .flac .mov .avi .webm .mkv .zip .gz .tgz .bz2 .xz .zst .7z .rar .tar "
        ".jar .war .nupkg .whl .dll .exe .so .dylib .a .lib .o .obj .pdb .class .pyc .wasm .bin .dat .db .sqlite "
        ".sqlite3 .mdb .parquet .npy .npz .pkl .pickle .onnx .pt .h5 .doc .docx .xls .xlsx .ppt .pptx .odt .ods"
    ).split()
)
_SECRET_SUFFIXES = frozenset(".pem .pfx .p12 .key .jks .keystore .snk .ppk .kdbx .pkcs12 .gpg .asc".split())
_SECRET_NAMES = frozenset(
    "id_rsa id_dsa id_ecdsa id_ed25519 .netrc .pgpass .htpasswd .git-credentials .dockercfg".split()
)
_ENVIRONMENT = re.compile(r"\.env(?:\..+)?|.+\.env")
_ENVIRONMENT_SAMPLE = re.compile(r"[._-](?:example|sample|template|dist|defaults?)(?![^._-])")
_LOCK = re.compile(
    r".+\.lock|.+[.-]lock\.(?:json|ya?ml|hcl)|.+\.lockfile|npm-shrinkwrap\.json|packages\.lock\.json|project\.assets\.json|"
    r"go\.(?:work\.)?sum"
)
_TOOL_FILES = frozenset(
    (
        ".gitignore .gitattributes .gitmodules .gitkeep .keep .dockerignore .npmignore .eslintignore .prettierignore"
    ).split()
)


def file_language(name: str) -> str:
    """The language of a file that is no code, by its name without folders; PLAIN_TEXT where nothing else fits."""
    name = name.lower()
    if name in LANGUAGE_OF_NAME:
        return LANGUAGE_OF_NAME[name]
    return "ini" if _ENVIRONMENT.fullmatch(name) else LANGUAGE_OF_SUFFIX.get(PurePosixPath(name).suffix, PLAIN_TEXT)


def refusal(name: str) -> str | None:
    """Why a file of that name, without folders, is never opened; None for all others."""
    lower = name.lower()
    suffix = PurePosixPath(lower).suffix
    if suffix in _SECRET_SUFFIXES or lower in _SECRET_NAMES:
        return "a file of keys or passwords by its name; secrets are not read"
    if _ENVIRONMENT.fullmatch(lower) and not _ENVIRONMENT_SAMPLE.search(lower):
        return "an environment file, which may hold secrets; only examples (.env.example) are read"
    if lower.endswith((".tfstate", ".tfstate.backup")):
        return "the state of Terraform, which may hold secrets"
    if _LOCK.fullmatch(lower):
        return "a lock file, which a tool writes"
    if ".min." in lower or suffix in {".map", ".snap"}:
        return "minified or generated, which a tool writes"
    if suffix == ".ipynb":
        return "a notebook, which stores its text as JSON; convert it to a script to index it"
    if suffix in _BINARY:
        return f"an image, a font, an archive or other data ({suffix})"
    if lower in _TOOL_FILES:
        return "rules for a tool; nothing to search for"
    return None


def chunk_class(file: SourceFile) -> ChunkClass:
    """The common fields of all nodes of a file.

    YAML of a build server is deployment, all other YAML here is configuration.
    """
    data_type, corpus_type = _CLASSES[file.language]
    if data_type == "doc":
        corpus_type = corpus_type_of(file.path)
    if file.language == "yaml" and _PIPELINE.search(file.path):
        data_type, corpus_type = "deploy", "CODE_DEPLOY"
    return ChunkClass(file.path, _KINDS.get(file.language, file.language), file.language, data_type, corpus_type)
