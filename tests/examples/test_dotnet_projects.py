"""The projects of the .NET client and its examples: their files, the package, and what the compiler demands."""

import re
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest

from support.dotnet_toolchain import CLIENT, Dotnet
from support.example_clients import EXAMPLES, csharp_sources
from support.tools import ROOT

PROJECT = CLIENT / "Groundwire.Client.csproj"
PROJECTS = [PROJECT, *sorted((EXAMPLES / "dotnet").glob("*/*.csproj"))]

# What stands in the source of the example, what does not compile, and how the compiler calls that.
MISTAKES = (
    ("TopK = options.TopK", "TopKs = options.TopK", "CS0117"),
    ("MaxDepth = options.MaxDepth", 'MaxDepth = "1"', "CS0029"),
    ("client.FetchNodeTextsAsync", "client.FetchTextsAsync", "CS1061"),
)


def metadata() -> dict[str, str | None]:
    """The properties of the client's project."""
    root = ElementTree.parse(PROJECT).getroot()
    return {element.tag: element.text for group in root.iter("PropertyGroup") for element in group}


@pytest.mark.parametrize("project", PROJECTS, ids=lambda project: project.stem)
def test_projects_name_files_that_are_there_and_exact_versions(project: Path) -> None:
    root = ElementTree.parse(project).getroot()
    for item, attribute in (
        ("Protobuf", "Include"),
        ("Protobuf", "ProtoRoot"),
        ("None", "Include"),
        ("ProjectReference", "Include"),
    ):
        for element in root.iter(item):
            for path in element.attrib[attribute].split(";"):
                assert list(project.parent.glob(path)) or (project.parent / path).exists()
    for package in root.iter("PackageReference"):
        assert re.fullmatch(r"\d+\.\d+\.\d+", package.attrib["Version"])


def test_the_package_is_that_of_this_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    package = metadata()
    assert package["PackageId"] == CLIENT.name
    assert package["Version"] == project["version"]
    assert package["PackageLicenseExpression"] == project["license"]
    assert package["Authors"] == project["authors"][0]["name"]
    assert (package["RepositoryType"], package["PublishRepositoryUrl"]) == ("git", "true")


def test_the_package_has_its_readme_and_all_protos() -> None:
    root = ElementTree.parse(PROJECT).getroot()
    packed = {element.attrib["PackagePath"]: element.attrib["Include"] for element in root.iter("None")}
    assert (CLIENT / packed["/"].split(";")[0]).exists()
    (generated,) = (element.attrib["Include"] for element in root.iter("Protobuf"))
    assert packed["protos/groundwire/v1"] == generated
    protos = sorted((ROOT / "protos" / "groundwire" / "v1").glob("*.proto"))
    assert sorted(path.resolve() for path in CLIENT.glob(generated)) == protos


@pytest.mark.slow
def test_what_is_not_in_the_contract_does_not_compile(dotnet: Dotnet, tmp_path: Path) -> None:
    sources = csharp_sources("Evidence")
    program = next(path for path in sources if path.name == "Program.cs")
    text = program.read_text(encoding="utf-8")
    for right, wrong, _ in MISTAKES:
        assert right in text
        text = text.replace(right, wrong)
    broken = tmp_path / program.name
    broken.write_text(text, encoding="utf-8")
    others = [path for path in sources if path != program]
    diagnostics = dotnet.compile(dotnet.plan(tmp_path / "client.dll", [*others, broken]))
    assert all(diagnostic.startswith(str(broken)) for diagnostic in diagnostics)
    # One mistake may make the compiler complain of what follows from it.
    errors = {re.sub(r".*: error (CS\d+): .*", r"\1", diagnostic) for diagnostic in diagnostics}
    assert errors >= {error for _, _, error in MISTAKES}
