"""The reader of each language."""

from dataclasses import replace

from groundwire_ingest.tree.facts import CodeAnalysis
from groundwire_ingest.tree.languages.c import CSyntax
from groundwire_ingest.tree.languages.cpp import CppSyntax, is_cpp
from groundwire_ingest.tree.languages.csharp import CSharpSyntax
from groundwire_ingest.tree.languages.go import GoSyntax
from groundwire_ingest.tree.languages.java import JavaSyntax
from groundwire_ingest.tree.languages.kotlin import KotlinSyntax
from groundwire_ingest.tree.languages.php import PhpSyntax
from groundwire_ingest.tree.languages.prisma import PrismaReader
from groundwire_ingest.tree.languages.python import PythonSyntax
from groundwire_ingest.tree.languages.reader import CodeReader
from groundwire_ingest.tree.languages.ruby import RubySyntax
from groundwire_ingest.tree.languages.rust import RustSyntax
from groundwire_ingest.tree.languages.typescript import JavaScriptSyntax, TsxSyntax, TypeScriptSyntax
from groundwire_ingest.tree.model import SourceFile


class CodeReaders:
    """One reader for each language of code; TypeScript with JSX has a grammar of its own.

    A header `.h` is one of C unless it has what only C++ has.
    """

    def __init__(self) -> None:
        syntaxes = (
            PythonSyntax(),
            CSharpSyntax(),
            TypeScriptSyntax(),
            JavaScriptSyntax(),
            JavaSyntax(),
            GoSyntax(),
            KotlinSyntax(),
            PhpSyntax(),
            RubySyntax(),
            RustSyntax(),
            CSyntax(),
            CppSyntax(),
        )
        self._readers: dict[str, CodeReader | PrismaReader] = {
            syntax.language: CodeReader(syntax) for syntax in syntaxes
        }
        self._readers["prisma"] = PrismaReader()
        self._tsx = CodeReader(TsxSyntax())

    def read(self, file: SourceFile) -> CodeAnalysis:
        """The analysis of a code file. Raises KeyError for a language that is none of code."""
        is_tsx = file.path.lower().endswith(".tsx")
        if file.language == "c" and file.path.endswith(".h") and is_cpp(file.text):
            file = replace(file, language="cpp")
        return (self._tsx if is_tsx else self._readers[file.language]).read(file)
