"""Blocks of extension members, and extension methods next to members of the same name."""

from collections.abc import Callable, Mapping

import pytest

from groundwire_ingest.records import SourceEdge
from groundwire_ingest.tree.code_facts import CodeAnalysis, Parameter
from groundwire_ingest.tree.languages.csharp.extensions import extension_blocks

Analyser = Callable[[str, str], CodeAnalysis]
Resolver = Callable[[Mapping[str, str]], list[SourceEdge]]

BLOCKS = """\
namespace Mod;
public static class Texts
{
    extension(string source)
    {
        public bool IsBlank => source == "}";
        public string Shout()
        {
            var loud = Loud(source);
            return loud + "{";
        }
        public static string Made()
        {
            var made = "a";
            return made;
        }
    }
    extension<T>(List<T> items) where T : class
    {
        public T Pick(int n)
        {
            foreach (var item in items) { if (n-- == 0) return item; }
            return default;
        }
    }
    static string Loud(string text)
    {
        var upper = text.ToUpper();
        return upper;
    }
}
"""


def calls(resolved: Resolver, files: Mapping[str, str], start: str) -> set[str]:
    edges = [item for item in resolved(files) if isinstance(item, SourceEdge) and item.edge_type == "Calls"]
    return {edge.to_key.rpartition("#")[2] for edge in edges if edge.from_key.endswith(f".{start}")}


def test_members_of_extension_blocks_are_members_of_the_class_around(analyse: Analyser) -> None:
    analysis = analyse("Texts.cs", BLOCKS)
    assert analysis.file.skipped == ()
    assert {node.symbol: (node.start_line, node.end_line) for node in analysis.file.nodes} == {
        "Mod.Texts": (2, 31),
        "Mod.Texts.Shout": (7, 11),
        "Mod.Texts.Made": (12, 16),
        "Mod.Texts.Pick": (20, 24),
        "Mod.Texts.Loud": (26, 30),
    }
    assert "extension(string source)" in analysis.file.nodes[0].text
    assert analysis.facts is not None
    stated = {item.name: (item.parameters, "extension" in item.traits) for item in analysis.facts.definitions}
    assert stated["Shout"] == ((Parameter("source", "string"),), True)
    assert stated["Pick"] == ((Parameter("items", "List<T>"), Parameter("n", "int")), True)
    assert stated["Made"] == ((), False)
    assert stated["Loud"] == ((Parameter("text", "string"),), False)


@pytest.mark.parametrize(
    ("body", "called"),
    [("text.Shout();", {"Mod.Texts.Shout"}), ("items.Pick(1);", {"Mod.Texts.Pick"}), ("text.Loud();", set[str]())],
)
def test_extension_members_are_called_on_what_they_extend(resolved: Resolver, body: str, called: set[str]) -> None:
    user = (
        "namespace Mod;\nclass User\n{\n    void Go(string text, List<User> items)\n    {\n"
        f"        {body}\n    }}\n}}\n"
    )
    files = {"Texts.cs": BLOCKS, "User.cs": user}
    assert calls(resolved, files, "Go") == called
    assert calls(resolved, files, "Shout") == {"Mod.Texts.Loud"}


def test_other_code_with_the_word_stays_as_it_is() -> None:
    for source in (b"class A { void extension(string a) { } }", b"a = extension(b); { }", b"// { extension(a) {"):
        assert extension_blocks(source) == (source, [])


LIBRARY = """\
namespace Lib;
public static class Extensions
{
    public static Kit Add<TIn, TOut>(this Kit kit)
    {
        kit.Turn();
        return kit;
    }
    public static Kit Add(this Kit kit, int count)
    {
        kit.Turn();
        return kit;
    }
}
public class Kit
{
    public void Turn()
    {
        Add();
    }
    public void Add()
    {
        Turn();
    }
}
"""


@pytest.mark.parametrize(
    ("body", "called"),
    [
        ("kit.Add();", {"Lib.Kit.Add"}),
        ("kit.Add(3);", {"Lib.Extensions.Add~2"}),
        ("kit.Add<int, string>();", {"Lib.Extensions.Add"}),
        ("kit.Add(1, 2, 3);", {"Lib.Kit.Add"}),
    ],
)
def test_an_extension_method_is_called_where_no_member_fits(resolved: Resolver, body: str, called: set[str]) -> None:
    user = f"using Lib;\nnamespace App;\nclass User\n{{\n    void Go(Kit kit)\n    {{\n        {body}\n    }}\n}}\n"
    assert calls(resolved, {"Lib.cs": LIBRARY, "User.cs": user}, "Go") == called
