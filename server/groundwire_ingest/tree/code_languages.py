"""The languages that are read as code. To add one is to add its record here."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from groundwire_ingest.frameworks.registry import frameworks_of
from groundwire_ingest.tree.languages.c.c_syntax import CSyntax
from groundwire_ingest.tree.languages.c.cpp import CppSyntax
from groundwire_ingest.tree.languages.code_reader import CodeReader
from groundwire_ingest.tree.languages.csharp.csharp_syntax import CSharpSyntax
from groundwire_ingest.tree.languages.go.go_modules import go_module
from groundwire_ingest.tree.languages.go.go_syntax import GoSyntax
from groundwire_ingest.tree.languages.java.java_syntax import JavaSyntax
from groundwire_ingest.tree.languages.kotlin.kotlin_syntax import KotlinSyntax
from groundwire_ingest.tree.languages.module_files import ModuleFile, ModuleFileReader
from groundwire_ingest.tree.languages.php.php_syntax import PhpSyntax
from groundwire_ingest.tree.languages.prisma import PrismaReader
from groundwire_ingest.tree.languages.python.python_syntax import PythonSyntax
from groundwire_ingest.tree.languages.ruby.ruby_syntax import RubySyntax
from groundwire_ingest.tree.languages.rust.crates import crate
from groundwire_ingest.tree.languages.rust.rust_syntax import RustSyntax
from groundwire_ingest.tree.languages.syntax import Syntax
from groundwire_ingest.tree.languages.typescript.projects import script_project
from groundwire_ingest.tree.languages.typescript.typescript_syntax import JavaScriptSyntax, TypeScriptSyntax
from groundwire_ingest.tree.names.families.c_family import CFamilyNames
from groundwire_ingest.tree.names.families.go import GoNames
from groundwire_ingest.tree.names.families.php import PhpNames
from groundwire_ingest.tree.names.families.python import PythonNames
from groundwire_ingest.tree.names.families.qualified import CSharpNames, JavaNames
from groundwire_ingest.tree.names.families.ruby import RubyNames
from groundwire_ingest.tree.names.families.rust import RustNames
from groundwire_ingest.tree.names.families.scripts import ScriptNames
from groundwire_ingest.tree.names.rules import NameRules


@dataclass(frozen=True, slots=True)
class CodeLanguage:
    """A language of code.

    Attributes:
        name: The `language` of nodes.
        kind: The `kind` of nodes.
        suffixes: Of its files, in lower case.
        reader: Makes a reader, which serves one thread at a time.
        names: The rules for names in its files. Languages with the same rules see each other's names.
        interpreters: The programs that the first line of a file without a suffix runs it with.
        module_file: Reads what files of a tree, often not code, state about where its modules are; None if none do.
        creates_tables: True if strings in its files may create tables, so that their SQL is read once all are known.
    """

    name: str
    kind: str
    suffixes: tuple[str, ...]
    reader: Callable[[], CodeReader | PrismaReader]
    names: type[NameRules]
    interpreters: tuple[str, ...] = ()
    module_file: ModuleFileReader | None = None
    creates_tables: bool = False


def _language(
    syntax: type[Syntax],
    names: type[NameRules],
    suffixes: str,
    *,
    interpreters: str = "",
    module_file: ModuleFileReader | None = None,
    creates_tables: bool = False,
) -> CodeLanguage:
    reader = partial(code_reader, syntax)
    return CodeLanguage(
        syntax.language,
        syntax.kind,
        tuple(suffixes.split()),
        reader,
        names,
        tuple(interpreters.split()),
        module_file,
        creates_tables,
    )


def code_reader(syntax: type[Syntax]) -> CodeReader:
    """A reader of a language's files, which finds what its frameworks say."""
    finders = (finder for framework in frameworks_of(syntax.language) for finder in framework.finders)
    return CodeReader(syntax(), tuple(finders))


CODE_LANGUAGES = {
    language.name: language
    for language in (
        _language(PythonSyntax, PythonNames, ".py .pyi", interpreters="python pypy"),
        _language(CSharpSyntax, CSharpNames, ".cs"),
        _language(
            TypeScriptSyntax,
            ScriptNames,
            ".ts .tsx .mts .cts",
            interpreters="deno ts-node tsx",
            module_file=script_project,
        ),
        _language(JavaScriptSyntax, ScriptNames, ".js .jsx .mjs .cjs", interpreters="node nodejs bun"),
        CodeLanguage("prisma", "prisma", (".prisma",), PrismaReader, ScriptNames),
        _language(JavaSyntax, JavaNames, ".java"),
        _language(KotlinSyntax, JavaNames, ".kt .kts"),
        _language(PhpSyntax, PhpNames, ".php", interpreters="php"),
        _language(GoSyntax, GoNames, ".go", module_file=go_module, creates_tables=True),
        _language(RubySyntax, RubyNames, ".rb .rake .gemspec", interpreters="ruby"),
        _language(CSyntax, CFamilyNames, ".c .h"),
        _language(CppSyntax, CFamilyNames, ".cc .cpp .cxx .hh .hpp .hxx .inl .ipp"),
        _language(RustSyntax, RustNames, ".rs", module_file=crate),
    )
}
"""By name. The order is that in which names are resolved."""


def module_file(path: str, text: str) -> ModuleFile | None:
    """What a file states about where the modules of a language are; None for a file that states nothing."""
    readers = (language.module_file for language in CODE_LANGUAGES.values() if language.module_file is not None)
    stated = (read(path, text) for read in readers)
    return next((item for item in stated if item is not None), None)
