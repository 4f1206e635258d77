"""MSBuild, solutions and other XML; modules and workspaces of Go."""

from collections.abc import Callable

import pytest

from groundwire_ingest.records import SkippedFile
from groundwire_ingest.tree.files.facts_about_code import ProjectFacts, Setting
from groundwire_ingest.tree.files.reading import FileReading
from groundwire_ingest.tree.flag_signs import is_test_project

Read = Callable[[str, str], FileReading]
Chunks = Callable[[str, str], list[tuple[str, int, int]]]

PAD = "x" * 700

PROJECT = """\
<Project Sdk="Microsoft.NET.Sdk.Web">
  <PropertyGroup Label="Main">
    <RootNamespace>Shop</RootNamespace>
    <IsTestProject>true</IsTestProject>
  </PropertyGroup>
  <ItemGroup>
    <PackageReference Include="xunit" Version="2.0" />
    <PackageReference Include="Dapper" />
    <ProjectReference Include="..\\Lib\\Lib.csproj" />
    <Protobuf Include="..\\a.proto;Proto\\b.proto" GrpcServices="Server" />
    <Compile Include="**/*.cs" />
  </ItemGroup>
  <Import Project="$(MSBuildThisFileDirectory)..\\common.props" />
</Project>
"""


def test_what_a_project_consists_of(read: Read) -> None:
    assert read("src/Shop/Shop.csproj", PROJECT).facts == ProjectFacts(
        (("RootNamespace", "Shop"), ("IsTestProject", "true")), ("xunit", "Dapper"), ("../Lib/Lib.csproj",)
    )


def test_what_a_project_refers_to(read: Read) -> None:
    references = read("src/Shop/Shop.csproj", PROJECT).references
    assert [(item.written[0], item.edge_type, item.line) for item in references] == [
        ("..\\Lib\\Lib.csproj", "References", 9),
        ("..\\a.proto", "References", 10),
        ("Proto\\b.proto", "References", 10),
        ("..\\common.props", "Imports", 13),
        ("Directory.Build.props", "Imports", 1),
        ("Directory.Build.targets", "Imports", 1),
        ("Directory.Packages.props", "Imports", 1),
    ]
    assert not read("Directory.Build.props", "<Project>a</Project>").references


def test_a_long_project_is_cut_at_its_groups(chunks: Chunks) -> None:
    text = PROJECT.replace("true", PAD).replace("xunit", PAD)
    assert chunks("src/Shop/Shop.csproj", text) == [
        ("Shop.csproj", 1, 14),
        ("PropertyGroup.Main", 2, 5),
        ("ItemGroup", 6, 12),
    ]


def test_projects_of_solutions(read: Read) -> None:
    old = 'x\nProject("{FAE04EC0}") = "Shop", "src\\Shop\\Shop.csproj", "{1}"\nEndProject\n'
    old += 'Project("{2}") = "tests", "tests", "{3}"\n'
    new = '<Solution>\n  <Folder Name="/src/">\n    <Project Path="src/Shop/Shop.csproj" />\n  </Folder>\n</Solution>\n'
    assert [(item.written, item.line) for item in read("a.sln", old).references] == [(("src\\Shop\\Shop.csproj",), 2)]
    assert [(item.written, item.line) for item in read("a.slnx", new).references] == [(("src/Shop/Shop.csproj",), 3)]


def test_elements_and_settings_of_other_xml(chunks: Chunks, read: Read) -> None:
    text = f"""\
<configuration>
  <appSettings>
    <add key="Url" value="http://a" />
    <add key="Long" value="{PAD}" />
  </appSettings>
  <connectionStrings>
    <add name="Db" connectionString="Host=&lt;b&gt;" />
    <!-- {PAD} -->
  </connectionStrings>
  <other>{PAD}</other>
</configuration>
"""
    assert chunks("Web.config", text) == [("Web.config", 1, 11), ("appSettings", 2, 5), ("connectionStrings", 6, 9)]
    assert read("Web.config", text).settings == (
        Setting(("appSettings", "Url"), 3, "http://a"),
        Setting(("appSettings", "Long"), 4, PAD),
        Setting(("connectionStrings", "Db"), 7, "Host=<b>"),
    )


def test_xml_that_is_not_well_formed_is_plain_text_and_named(read: Read) -> None:
    for path in ("a.xml", "a.csproj", "a.slnx", "a.xaml"):
        reading = read(path, "<a>\n<b>\n</a>\n")
        assert len(reading.analysis.nodes) == 1
        why = "not valid XML at line 3: mismatched tag; indexed as plain text"
        assert reading.analysis.skipped == (SkippedFile(path, why),)


def test_entities_are_not_expanded(read: Read) -> None:
    bomb = '<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>\n<a>&b;</a>\n'
    (skipped,) = read("a.xml", bomb).analysis.skipped
    assert "defines the entity 'a'" in skipped.why
    assert not read("a.xml", '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a>b</a>').analysis.skipped


@pytest.mark.parametrize("package", ["XUnit", "xunit.runner.visualstudio", "nunit", "mstest", "Microsoft.NET.Test.Sdk"])
def test_a_package_for_tests_makes_a_project_one_of_tests_whatever_its_case(package: str) -> None:
    assert is_test_project(ProjectFacts(packages=("Dapper", package), properties=(), projects=()))
    assert not is_test_project(ProjectFacts(packages=("Dapper", f"Shop.{package}"), properties=(), projects=()))


def test_a_module_and_a_workspace_of_go_refer_to_the_modules_in_folders(read: Read) -> None:
    module = (
        'module a.com/b\n\nreplace (\n\ta.com/c => ../c // here\n\ta.com/d v1 => "./d"\n\ta.com/e => a.com/f v2\n)\n'
    )
    reading = read("b/go.mod", module)
    assert [(item.written, item.edge_type, item.line) for item in reading.references] == [
        (("../c/go.mod",), "References", 4),
        (("./d/go.mod",), "References", 5),
    ]
    [node] = reading.analysis.nodes
    assert (node.key, node.language, node.data_type) == ("gomod::b/go.mod", "gomod", "config")
    workspace = read("go.work", "go 1.22\n\nuse ./b\nuse(\n\t./c\n)\nuse ()\n")
    assert [item.written for item in workspace.references] == [("./b/go.mod",), ("./c/go.mod",)]
