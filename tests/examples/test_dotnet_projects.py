"""The projects of examples/dotnet compile from their sources, that over Grpc.Net.Client against declarations of it."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from google.rpc import error_details_pb2, status_pb2

from groundwire.v1 import errors_pb2, retrieval_pb2, scope_pb2
from support.csharp_messages import declarations
from support.example_clients import EXAMPLES, TESTS, compile_sources, csharp_sources

PROJECTS = sorted((EXAMPLES / "dotnet").glob("*/*.csproj"))
FILES = (
    errors_pb2.DESCRIPTOR,
    scope_pb2.DESCRIPTOR,
    retrieval_pb2.DESCRIPTOR,
    status_pb2.DESCRIPTOR,
    error_details_pb2.DESCRIPTOR,
)

# What stands in the source, what does not compile, and how the compiler calls that.
MISTAKES = (
    ("TopK = question.TopK", "TopKs = question.TopK", "CS0117"),
    ("MaxDepth = question.MaxDepth", 'MaxDepth = "1"', "CS0029"),
    ("edge.FromId", "edge.From", "CS1061"),
    ("client.FetchNodeTextsAsync", "client.FetchTextsAsync", "CS1061"),
    ("badRequest.FieldViolations", "badRequest.Violations", "CS1061"),
)


@pytest.fixture
def declared(tmp_path: Path) -> list[Path]:
    """Declarations of the packages and of what they generate from the protos."""
    generated = tmp_path / "Generated.cs"
    generated.write_text(declarations(FILES), encoding="utf-8")
    return [TESTS / "GrpcDeclarations.cs", generated]


@pytest.mark.slow
def test_the_client_over_grpc_net_client_compiles(roslyn: Path, tmp_path: Path, declared: list[Path]) -> None:
    sources = csharp_sources("Evidence", "GrpcNetClient")
    assert compile_sources(roslyn, tmp_path / "client.dll", *sources, *declared) == ""


@pytest.mark.slow
def test_what_is_not_in_the_contract_does_not_compile(roslyn: Path, tmp_path: Path, declared: list[Path]) -> None:
    *sources, client, program = csharp_sources("Evidence", "GrpcNetClient")
    text = client.read_text(encoding="utf-8")
    for right, wrong, _ in MISTAKES:
        assert right in text
        text = text.replace(right, wrong)
    broken = tmp_path / client.name
    broken.write_text(text, encoding="utf-8")
    diagnostics = compile_sources(roslyn, tmp_path / "client.dll", *sources, broken, program, *declared).splitlines()
    assert all(diagnostic.startswith(str(broken)) for diagnostic in diagnostics)
    found = [re.sub(r".*: error (CS\d+): .*", r"\1", diagnostic) for diagnostic in diagnostics]
    assert sorted(found) == sorted(error for _, _, error in MISTAKES)


@pytest.mark.parametrize("project", PROJECTS, ids=lambda project: project.stem)
def test_projects_name_files_that_are_there_and_exact_versions(project: Path) -> None:
    root = ElementTree.parse(project).getroot()
    for item, attribute in (("Protobuf", "Include"), ("Protobuf", "ProtoRoot"), ("ProjectReference", "Include")):
        for element in root.iter(item):
            for path in element.attrib[attribute].split(";"):
                assert (project.parent / path).exists()
    for package in root.iter("PackageReference"):
        assert re.fullmatch(r"\d+\.\d+\.\d+", package.attrib["Version"])
