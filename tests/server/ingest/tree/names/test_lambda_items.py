"""The variables of lambdas, queries and loops are items of what they go through."""

from collections.abc import Callable, Mapping

import pytest

EdgesOf = Callable[[str, Mapping[str, str]], dict[tuple[str, str], float]]

KOTLIN = (
    "class {0} {{\n    fun go(n: Int): Int {{\n        val k = n\n        return k\n    }}\n"
    "    fun next(): Item {{\n        val k = Item()\n        return k\n    }}\n}}\n"
)
CSHARP = (
    "class {0}\n{{\n    public int Go(int n)\n    {{\n        return n + 1;\n    }}\n"
    "    public Item Next()\n    {{\n        return Find(1);\n    }}\n}}\n"
)
JAVA = "class {0} {{\n  int go(int n) {{\n    int k = n;\n    return k;\n  }}\n}}\n"
PYTHON = "class {0}:\n    def go(self, n):\n        print(n)\n        print(1)\n        return n\n\n\n"


def called(edges_of: EdgesOf, path: str, text: str) -> dict[str, float]:
    """The members of the item's type and of one that only looks alike that the last function calls."""
    calls = edges_of("Calls", {path: text})
    members = ("Item.", "Decoy.")
    return {
        end.partition("#")[2].lower(): confidence
        for (start, end), confidence in calls.items()
        if start.endswith("run") and end.partition("#")[2].startswith(members)
    }


@pytest.mark.parametrize(
    ("statement", "members"),
    [
        ("items.forEach { it.go(k) }", {"item.go"}),
        ("items.map { it.next() }.filter { x -> x.go(k) > 1 }", {"item.go", "item.next"}),
        ("one?.let { it.go(k) }", {"item.go"}),
        ("one.also { x -> x.go(k) }.next()", {"item.go", "item.next"}),
        ("names.forEach { it.go(k) }", set[str]()),
    ],
)
def test_kotlin(edges_of: EdgesOf, statement: str, members: set[str]) -> None:
    types = KOTLIN.format("Item") + KOTLIN.format("Decoy")
    text = f"{types}fun run(items: List<Item>, one: Item, names: List<String>) {{\n    val k = 1\n    {statement}\n}}\n"
    assert called(edges_of, "a.kt", text).keys() == members


@pytest.mark.parametrize(
    ("statement", "members"),
    [
        ("var q = from i in items where i.Go(1) > 0 select i.Next();", {"item.go", "item.next"}),
        ("foreach (var (key, value) in named) value.Go(1);", {"item.go"}),
        ('if (named.TryGetValue("a", out var one)) one.Go(1);', {"item.go"}),
        ('if (Find("a", out Item one)) one.Go(1);', {"item.go"}),
        ("var q = from i in names where i.Go(1) > 0 select i;", set[str]()),
        ('if (numbers.TryGetValue("a", out var one)) one.Go(1);', set[str]()),
    ],
)
def test_csharp(edges_of: EdgesOf, statement: str, members: set[str]) -> None:
    parameters = "List<Item> items, Dictionary<string, Item> named, List<string> names, Dictionary<string, int> numbers"
    run = f"class User\n{{\n    void run({parameters})\n    {{\n        {statement}\n    }}\n}}\n"
    assert called(edges_of, "a.cs", CSHARP.format("Item") + CSHARP.format("Decoy") + run).keys() == members


@pytest.mark.parametrize(
    ("statement", "members"),
    [
        ("items.sort((a, b) -> a.go(1) - b.go(2));", {"item.go"}),
        ("items.stream().findFirst().get().go(1);", {"item.go"}),
        ('named.computeIfAbsent("a", s -> make()).go(1);', {"item.go"}),
        ("names.sort((a, b) -> a.go(1) - b.go(2));", set[str]()),
    ],
)
def test_java(edges_of: EdgesOf, statement: str, members: set[str]) -> None:
    parameters = "List<Item> items, Map<String, Item> named, List<String> names"
    run = f"class User {{\n  void run({parameters}) {{\n    int k = 1;\n    {statement}\n  }}\n}}\n"
    assert called(edges_of, "A.java", JAVA.format("Item") + JAVA.format("Decoy") + run).keys() == members


@pytest.mark.parametrize(
    ("statement", "members"),
    [
        ("return max(items, key=lambda i: i.go(1))", {"item.go"}),
        ("items.sort(key=lambda i: i.go(1))", {"item.go"}),
        ("for a, b in zip(names, items):\n        b.go(1)", {"item.go"}),
        ("for a, b in zip(names, items):\n        a.go(1)", set[str]()),
        ("return max(names, key=lambda i: i.go(1))", set[str]()),
    ],
)
def test_python(edges_of: EdgesOf, statement: str, members: set[str]) -> None:
    run = f"def run(items: list[Item], names: list[str]):\n    print(1)\n    {statement}\n"
    assert called(edges_of, "a.py", PYTHON.format("Item") + PYTHON.format("Decoy") + run).keys() == members
