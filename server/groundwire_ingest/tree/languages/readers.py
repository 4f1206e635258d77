"""The reader of each language."""

from dataclasses import replace

from groundwire_ingest.tree.facts import CodeAnalysis
from groundwire_ingest.tree.languages.c.cpp import CppSyntax, is_cpp
from groundwire_ingest.tree.languages.c.reader import CSyntax
from groundwire_ingest.tree.languages.csharp.reader import CSharpSyntax
from groundwire_ingest.tree.languages.go.reader import GoSyntax
from groundwire_ingest.tree.languages.java.reader import JavaSyntax
from groundwire_ingest.tree.languages.kotlin.reader import KotlinSyntax
from groundwire_ingest.tree.languages.php.reader import PhpSyntax
from groundwire_ingest.tree.languages.prisma import PrismaReader
from groundwire_ingest.tree.languages.python.reader import PythonSyntax
from groundwire_ingest.tree.languages.reader import CodeReader
from groundwire_ingest.tree.languages.ruby.reader import RubySyntax
from groundwire_ingest.tree.languages.rust.reader import RustSyntax
from groundwire_ingest.tree.languages.typescript.reader import JavaScriptSyntax, TsxSyntax, TypeScriptSyntax
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
