"""The result of reading one file of a tree on its own.

Workers read files with these functions, so all of it can be pickled.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TypeAlias

from groundwire_ingest.frameworks.registry import COMPONENT_READERS
from groundwire_ingest.records import SkippedFile
from groundwire_ingest.tree.chunk_writer import ChunkClass
from groundwire_ingest.tree.code_facts import CodeAnalysis
from groundwire_ingest.tree.code_languages import CODE_LANGUAGES, code_reader, module_file
from groundwire_ingest.tree.code_of_other_files.component import Component, split_component
from groundwire_ingest.tree.decoding import read_source
from groundwire_ingest.tree.deploy import DeployAnalysis, deploy_analysis
from groundwire_ingest.tree.file_analysis import FileAnalysis, SourceFile
from groundwire_ingest.tree.files.block_files import read_blocks
from groundwire_ingest.tree.files.facts_about_code import ComponentFacts
from groundwire_ingest.tree.files.go_mod import read_go_mod
from groundwire_ingest.tree.files.json_file import read_json
from groundwire_ingest.tree.files.languages import PLAIN_TEXT
from groundwire_ingest.tree.files.line_files import read_http, read_ini, read_make, read_shell, read_toml
from groundwire_ingest.tree.files.markup.templates import read_template
from groundwire_ingest.tree.files.msbuild import read_msbuild, read_solution
from groundwire_ingest.tree.files.prose import read_asciidoc, read_restructured_text, read_style, read_table, read_text
from groundwire_ingest.tree.files.proto import read_proto
from groundwire_ingest.tree.files.reading import FileReading
from groundwire_ingest.tree.files.xaml import read_xaml
from groundwire_ingest.tree.files.xml_reading import read_xml
from groundwire_ingest.tree.files.yaml_file import read_yaml
from groundwire_ingest.tree.flag_signs import is_generated
from groundwire_ingest.tree.languages.c.cpp import is_cpp
from groundwire_ingest.tree.languages.code_reader import CodeReader
from groundwire_ingest.tree.languages.module_files import ModuleFile
from groundwire_ingest.tree.languages.prisma import PrismaReader
from groundwire_ingest.tree.languages.typescript.typescript_syntax import TsxSyntax
from groundwire_ingest.tree.markdown import markdown_analysis
from groundwire_ingest.tree.packages import PackageFacts, package_facts
from groundwire_ingest.tree.sql.file import SqlFile, read_sql_file
from groundwire_ingest.tree.sql.recognition import is_sql_script
from groundwire_ingest.tree.walk import ListedFile

FILE_READERS: Mapping[str, Callable[[SourceFile], FileReading]] = {
    "json": read_json,
    "toml": read_toml,
    "yaml": read_yaml,
    "ini": read_ini,
    "gomod": read_go_mod,
    "xml": read_xml,
    "msbuild": read_msbuild,
    "solution": read_solution,
    "xaml": read_xaml,
    "proto": read_proto,
    **dict.fromkeys(("graphql", "terraform", "bicep", "powershell"), read_blocks),
    "shell": read_shell,
    "make": read_make,
    "http": read_http,
    **COMPONENT_READERS,
    "html": read_template,
    "css": read_style,
    "restructuredtext": read_restructured_text,
    "asciidoc": read_asciidoc,
    "csv": read_table,
    PLAIN_TEXT: read_text,
}
"""By language as `file_language` names it; each reads a file that is not blank in time linear in its length."""


@dataclass(frozen=True, slots=True)
class OtherFile:
    """A file that is no code: `keys` has the node at each of its lines; `component` is its code, if it has any."""

    reading: FileReading
    keys: tuple[str, ...]
    component: Component | None = None


Content: TypeAlias = CodeAnalysis | OtherFile | SqlFile | FileAnalysis


@dataclass(frozen=True, slots=True)
class FileReport:
    """One file as read. `module_file` is what it states about where modules are.

    `packages` are those that a file of a build tool publishes and uses.
    `content` is a FileAnalysis for files that hold nothing which other files could lead to. `notes` say how the file
    was decoded. `text` is that of the file, empty if it could not be read.
    """

    content: Content
    is_generated: bool = False
    module_file: ModuleFile | None = None
    packages: PackageFacts | None = None
    notes: tuple[SkippedFile, ...] = ()
    text: str = ""

    @property
    def analysis(self) -> FileAnalysis:
        """The nodes of code, or of a file that holds nothing which other files could lead to; none of others."""
        match self.content:
            case CodeAnalysis() as code:
                return code.file
            case FileAnalysis() as analysis:
                return analysis
            case _:
                return FileAnalysis()


def read_file(root: Path, item: ListedFile) -> FileReport:
    """Reads a listed file below `root`; one that cannot be read is named in `content.skipped`."""
    file = read_source(root, item)
    if isinstance(file, SkippedFile):
        return FileReport(FileAnalysis(skipped=(file,)))
    return FileReport(
        _content(file),
        is_generated(file.path, file.text),
        module_file(file.path, file.text),
        package_facts(file),
        file.notes,
        file.text,
    )


def read_deployment(root: Path, item: ListedFile) -> DeployAnalysis | None:
    """The analysis of a deployment file; None for YAML that deploys nothing."""
    file = read_source(root, item)
    if isinstance(file, SkippedFile):
        return DeployAnalysis(FileAnalysis(skipped=(file,)))
    analysis = deploy_analysis(file)
    return analysis and replace(analysis, file=replace(analysis.file.noted(file.notes), text=file.text))


def read_code(file: SourceFile) -> CodeAnalysis:
    """The analysis of a code file.

    TypeScript with JSX has a grammar of its own. A header `.h` is one of C unless it has what only C++ has.
    """
    if file.language == "c" and file.path.endswith(".h") and is_cpp(file.text):
        file = replace(file, language="cpp")
    return _reader("tsx" if file.path.lower().endswith(".tsx") else file.language).read(file)


@cache
def _reader(language: str) -> CodeReader | PrismaReader:
    return code_reader(TsxSyntax) if language == "tsx" else CODE_LANGUAGES[language].reader()


def _content(file: SourceFile) -> Content:
    if file.language == "xml" and is_sql_script(file.text):
        return read_sql_file(file)  # web servers do not hand out `*.config`, so that some projects keep scripts in them
    if file.language in FILE_READERS:
        return _other_file(file, FILE_READERS[file.language](file))
    match file.language:
        case "sql":
            return read_sql_file(file)
        case "markdown":
            return markdown_analysis(file)
    analysis = read_code(file)
    return _unparsed(file, analysis.file) if analysis.facts is None and analysis.file.skipped else analysis


def _unparsed(file: SourceFile, refused: FileAnalysis) -> FileAnalysis:
    """The file as plain text with the fields of code: what a parser cannot make sense of can be searched for."""
    kind = CODE_LANGUAGES[file.language].kind
    text = read_text(file, ChunkClass(file.path, kind, file.language, "regular_code", "CODE_LOGIC")).analysis
    become = "; ".join(item.why for item in text.skipped) or "indexed as plain text"
    return replace(text, skipped=tuple(replace(item, why=f"{item.why}; {become}") for item in refused.skipped))


def _other_file(file: SourceFile, reading: FileReading) -> OtherFile:
    """Nodes of a component's code replace its code blocks."""
    if not isinstance(reading.facts, ComponentFacts):
        return OtherFile(reading, reading.keys_by_line(file))
    component, rest = split_component(file, reading, reading.facts)
    reading = replace(reading, analysis=rest)
    return OtherFile(reading, reading.keys_by_line(file), component)
