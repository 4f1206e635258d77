"""From an outline to nodes."""

from groundwire_ingest.records import SkippedFile
from groundwire_ingest.tree.chunking import MAX_CHUNK_CHARACTERS
from groundwire_ingest.tree.file_analysis import FileAnalysis, SourceFile
from groundwire_ingest.tree.files.parts import PART_FROM, WHOLE_UP_TO, Part, write_parts
from groundwire_ingest.tree.files.reading import FileReading

WIDE = "x" * 99 + "\n"


def _written(text: str, parts: list[Part], **options: tuple[str, ...] | tuple[int, ...]) -> FileAnalysis:
    return write_parts(SourceFile("a/b.json", text, "json"), parts, **options)  # type: ignore[arg-type]


def _nodes(analysis: FileAnalysis) -> list[tuple[str, int, int]]:
    return [(node.local_id, node.start_line, node.end_line) for node in analysis.nodes]


def test_a_small_file_is_one_node() -> None:
    analysis = _written("a\nb\n", [Part(("b",), 2, 2)])
    (node,) = analysis.nodes
    assert (node.key, node.symbol, node.text, node.start_line, node.end_line) == (
        "json::a/b.json",
        "b.json",
        "a\nb",
        1,
        2,
    )
    assert (node.section_path, node.context_prefix) == ("", "a/b.json")
    assert (node.data_type, node.corpus_type, node.language) == ("config", "CODE_CONFIG", "json")
    assert not analysis.edges


def test_a_long_file_is_its_outline_and_its_parts() -> None:
    text = "first\n" + WIDE * 5 + "between\n" + WIDE * 15
    analysis = _written(text, [Part(("one",), 2, 6), Part(("two", "three"), 8, 22)])
    assert _nodes(analysis) == [("a/b.json", 1, 22), ("a/b.json#one", 2, 6), ("a/b.json#two.three", 8, 22)]
    outline, part_one, part_three = analysis.nodes
    assert outline.text == "first\n" + WIDE + "between\n" + WIDE.rstrip()
    assert part_one.text == (WIDE * 5).rstrip()
    assert (part_three.symbol, part_three.section_path, part_three.context_prefix) == (
        "two.three",
        "two > three",
        "a/b.json > two",
    )
    assert [(edge.from_key, edge.edge_type, edge.to_key) for edge in analysis.edges] == [
        (outline.key, "Contains", part_one.key),
        (outline.key, "Contains", part_three.key),
    ]


def test_a_short_part_stays_in_the_outline() -> None:
    short = PART_FROM // 100 - 1
    text = WIDE * (WHOLE_UP_TO // 100 + 5)
    analysis = _written(text, [Part(("short",), 2, 1 + short), Part(("long",), 10, 14)])
    assert _nodes(analysis) == [("a/b.json", 1, 20), ("a/b.json#long", 10, 14)]
    assert len(analysis.nodes[0].text.split("\n")) == 20 - 4


def test_an_own_part_is_a_node_even_in_a_small_file() -> None:
    analysis = _written("a\nb\nc\nd\n", [Part(("b",), 2, 2, is_own=True), Part(("c",), 3, 3)])
    assert [(node.symbol, node.text) for node in analysis.nodes] == [("b.json", "a\nb\nc\nd"), ("b", "b")]


def test_a_long_part_is_opened_in_turn() -> None:
    text = "head\n" + WIDE * 20 + "tail\n"
    parts = [Part(("a",), 2, 21), Part(("a", "b"), 5, 9), Part(("a", "c"), 10, 14)]
    analysis = _written(text, parts)
    assert [node.symbol for node in analysis.nodes] == ["b.json", "a", "a.b", "a.c"]
    assert [(edge.from_key, edge.to_key) for edge in analysis.edges] == [
        ("json::a/b.json", "json::a/b.json#a"),
        ("json::a/b.json#a", "json::a/b.json#a.b"),
        ("json::a/b.json#a", "json::a/b.json#a.c"),
    ]


def test_a_shell_of_nothing_but_parts_gives_way_to_them() -> None:
    text = "head\n" + "<\n" + WIDE * 20 + ">\n"
    parts = [Part(("shell",), 2, 23), Part(("b",), 3, 12), Part(("c",), 13, 22)]
    assert [node.symbol for node in _written(text, parts).nodes] == ["b.json", "b", "c"]


def test_parts_on_lines_of_others_are_none() -> None:
    text = WIDE * 40
    parts = [
        Part(("a",), 2, 30),
        Part(("same line as what it is in",), 2, 9),
        Part(("inside",), 10, 19),
        Part(("from the end line of the one before",), 19, 25),
        Part(("over the end of what it is in",), 26, 34),
        Part(("beyond the file",), 35, 99),
    ]
    assert [node.symbol for node in _written(text, parts).nodes] == ["b.json", "a", "inside", "beyond the file"]


def test_comments_above_belong_to_a_part() -> None:
    text = WIDE * 10 + "# far\n\n# near\n#nearer\n" + WIDE * 10
    analysis = _written(text, [Part(("a",), 15, 24)], comments=("#",))
    assert _nodes(analysis) == [("a/b.json", 1, 24), ("a/b.json#a", 13, 24)]


def test_a_licence_belongs_to_no_part() -> None:
    text = "# Copyright (c) 2021 Shop Ltd.\n" + WIDE * 10 + "# Copyright (c) 2022 Others\n" + WIDE * 10
    analysis = _written(text, [Part(("a",), 2, 11), Part(("b",), 13, 22)], comments=("#",))
    assert _nodes(analysis) == [("a/b.json", 1, 22), ("a/b.json#a", 2, 11), ("a/b.json#b", 12, 22)]
    assert analysis.nodes[0].text.startswith("# Copyright")


def test_a_long_outline_and_a_long_text_are_cut() -> None:
    text = WIDE * (2 * MAX_CHUNK_CHARACTERS // 100) + "a\n" * 200
    whole = _written(text, [], cuts=(21, 61, 121))
    assert [node.start_line for node in whole.nodes] == [1, 61, 121]
    first = 2 * MAX_CHUNK_CHARACTERS // 100 + 1
    outlined = _written(text, [Part(("a",), first, first + 199)])
    assert [(node.local_id, node.start_line) for node in outlined.nodes][:2] == [("a/b.json", 1), ("a/b.json@2", 61)]
    assert all(len(node.text) <= MAX_CHUNK_CHARACTERS for node in outlined.nodes)


def test_names_are_told_apart_and_bounded() -> None:
    text = WIDE * 40
    analysis = _written(text, [Part(("a" * 999,), 2, 9), Part(("b",), 10, 19), Part(("b",), 20, 29)])
    assert [node.local_id for node in analysis.nodes] == [
        "a/b.json",
        "a/b.json#" + "a" * 200,
        "a/b.json#b",
        "a/b.json#b~2",
    ]


def test_what_holds_no_word_is_named() -> None:
    assert _written("{ }\n", []) == FileAnalysis(skipped=(SkippedFile("a/b.json", "holds no word to search for"),))


def test_the_innermost_node_of_each_line() -> None:
    file = SourceFile("a/b.json", "head\n" + WIDE * 20 + "\n\n", "json")
    reading = FileReading(write_parts(file, [Part(("a",), 3, 20)]))
    keys = reading.keys_by_line(file)
    assert (keys[0], keys[2], keys[19], keys[20], keys[23]) == (
        "json::a/b.json",
        "json::a/b.json#a",
        "json::a/b.json#a",
        "json::a/b.json",
        "",
    )
