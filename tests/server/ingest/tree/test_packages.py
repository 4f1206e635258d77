"""The packages that files of build tools publish and use."""

import pytest

from groundwire_ingest.tree.file_analysis import SourceFile
from groundwire_ingest.tree.packages import MAX_DOTS, PackageFacts, package_facts

POETRY = (
    '[tool.poetry]\nname = "Team_App"\n\n[tool.poetry.dependencies]\npython = "^3.11"\nTeam_Lib = "^1"\n\n'
    '[tool.poetry.group.dev.dependencies]\npytest = "*"\n'
)
CARGO = '[package]\nname = "team_app"\n\n[dependencies]\nteam_lib = "1"\nrenamed = { package = "other-lib" }\n'
GO = (
    "module example.com/team/app // the service\n\ngo 1.22\n\nrequire example.com/team/lib v1.2.0\nrequire (\n"
    '\t"example.com/other" v2.0.0 // indirect\n\texample.com/more v1.0.0 // indirect; of a tool\n'
    "\texample.com/team/store v0.1.0\n)\n"
)
MAVEN = (
    "<project>\n<artifactId>app</artifactId>\n<groupId>com.team</groupId>\n<dependencyManagement>\n<dependencies>\n"
    "<dependency><groupId>com.team</groupId><artifactId>lib</artifactId></dependency>\n"
    "<dependency><groupId>${other}</groupId><artifactId>lib</artifactId></dependency>\n"
    "</dependencies>\n</dependencyManagement>\n</project>\n"
)
PROJECT = (
    "<Project>\n<PropertyGroup>\n<PackageId>Team.App</PackageId>\n</PropertyGroup>\n<ItemGroup>\n"
    '<PackageReference Include="Team.Lib" />\n</ItemGroup>\n</Project>\n'
)


@pytest.mark.parametrize(
    ("path", "language", "text", "facts"),
    [
        ("a/pyproject.toml", "toml", POETRY, PackageFacts("pypi", "team-app", (("pytest", 9), ("team-lib", 6)))),
        ("a/Cargo.toml", "toml", CARGO, PackageFacts("cargo", "team-app", (("other-lib", 6), ("team-lib", 5)))),
        (
            "a/go.mod",
            "gomod",
            GO,
            PackageFacts("go", "example.com/team/app", (("example.com/team/lib", 5), ("example.com/team/store", 9))),
        ),
        ("a/go.mod", "gomod", "module\nrequire\nrequire ()\n", PackageFacts("go", "", ())),
        ("a/go.work", "gomod", "use ./app\n", None),
        ("a/pom.xml", "xml", MAVEN, PackageFacts("maven", "com.team:app", (("com.team:lib", 6),))),
        ("a/App.csproj", "msbuild", PROJECT, PackageFacts("nuget", "team.app", (("team.lib", 6),))),
        ("a/Lib.fsproj", "msbuild", "<Project/>", PackageFacts("nuget", "lib", ())),
        ("a/package.json", "json", '{"devDependencies": {"x": "1"}}', PackageFacts("npm", "", (("x", 1),))),
        (
            "a/requirements.txt",
            "text",
            "# team_other\n-r base.txt\nTeam_Lib[x]==1.0 ; python_version < '3.12'\n\nteam-lib\ngit+https://a.com/b\n",
            PackageFacts("pypi", "", (("team-lib", 3),)),
        ),
        (
            "a/composer.json",
            "json",
            '{"name": "team/app",\n"require": {\n"team/lib": "^1"},\n"require-dev": {"team/test": "*"}}\n',
            PackageFacts("composer", "team/app", (("team/lib", 3), ("team/test", 4))),
        ),
        ("a/App.props", "msbuild", PROJECT, None),
        ("a/package.json", "json", "[1", None),
        ("a/package.json", "json", "[1]", None),
        ("a/pom.xml", "xml", "<project>", None),
        ("a/pyproject.toml", "toml", "[", PackageFacts("pypi", "", ())),
    ],
)
def test_what_a_file_publishes_and_uses(path: str, language: str, text: str, facts: PackageFacts | None) -> None:
    assert package_facts(SourceFile(path, text, language)) == facts


def test_a_project_that_is_not_packed_publishes_nothing() -> None:
    text = PROJECT.replace("<PackageId>Team.App</PackageId>", "<IsPackable>False</IsPackable>")
    facts = package_facts(SourceFile("App.csproj", text, "msbuild"))
    assert facts is not None
    assert (facts.name, facts.used) == ("", (("team.lib", 6),))


@pytest.mark.parametrize(
    "text",
    [
        ".".join(["a"] * 200_000) + " = 1\n",
        " . ".join(['"a"'] * 200_000) + " = 1\n",
        "x = { " + ".".join(["a"] * 200_000) + " = 1 }\n",
        "x = " + "[" * 200_000 + "\n",
    ],
)
def test_a_file_that_is_too_deep_is_read_in_linear_time(text: str) -> None:
    """Each would take hours where the time is not proportional to the length."""
    assert text.count(".") > MAX_DOTS or "[" in text
    assert package_facts(SourceFile("pyproject.toml", text, "toml")) == PackageFacts("pypi", "", ())
    assert package_facts(SourceFile("package.json", text, "json")) is None
