"""Files that are written to cost as much as they can: no more than their size allows, and no traceback."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_ingest.tree.file_analysis import SourceFile
from groundwire_ingest.tree.single_file import FILE_READERS
from support.steps import within_steps

SIZE = 12_000
STEPS_A_CHARACTER = 60
"""More than twice what any reader takes of any piece."""
PIECES = [
    *("[", "{", "(", "{\n", "[\n", '{"a":', '{"a":\n', "a {\n", "a = ", "- ", "---\n"),
    *('"', "'", "`", '"""', "'''", '@"', '$"', "/*", "//", "#", "<#", "<<E\n", "@'", "\\", "\\\n"),
    *("@", "@{", "@(", "@a(", "@a.b[", "@if(a){", "@{<p>", "@section a{", "@code{", "@*", "@:", ";", ": <b"),
    *("<a ", '<a b="', '<a b="@x', '<a b="@(', "<script>", "<script></SCRIPT>", "<!--", "</a>", "<a>\n", "<a>\n</b>\n"),
    *("{%", "{{", "{% block a %}", "message a{\n", "rpc a(b) returns(c);", "option a = {"),
    *("f() {\n", "}\n", "a:\n", "define a\n", "a\n==\n", "==\na\n==\n", "= a\n", "----\n", " ", "\t", "\n"),
]
NOT_HERE = {"yaml"}  # the work of its parser grows with the depth, which `yaml_events` bounds


@pytest.mark.slow
@pytest.mark.parametrize("language", sorted(FILE_READERS.keys() - NOT_HERE))
def test_the_work_grows_with_the_size_alone(language: str) -> None:
    path = "a.slnx" if language == "solution" else "a.x"
    for piece in PIECES:
        file = SourceFile(path, "x " + piece * (SIZE // len(piece)), language)
        within_steps(STEPS_A_CHARACTER * len(file.text), partial(FILE_READERS[language], file))


_pieces = st.lists(st.sampled_from([*PIECES, "a", "\n", '"a": 1,\n', "x" * 400]), max_size=40).map("".join)


@given(st.text() | _pieces, st.sampled_from(sorted(FILE_READERS)), st.sampled_from(["a.sln", "a.slnx"]))
def test_any_text_is_read_into_nodes_with_unique_keys_on_its_lines(text: str, language: str, path: str) -> None:
    if not text.strip():
        return
    file = SourceFile(path, text, language)
    reading = FILE_READERS[language](file)
    analysis, lines = reading.analysis, text.count("\n") + 1
    keys = [node.key for node in analysis.nodes]
    assert len(keys) == len(set(keys))
    assert all(1 <= node.start_line <= node.end_line <= lines and node.text.strip() for node in analysis.nodes)
    assert all(edge.from_key in keys and edge.to_key in keys for edge in analysis.edges)
    assert all(1 <= reference.line <= lines for reference in reading.references)
    assert set(reading.keys_by_line(file)) <= {*keys, ""}
    assert analysis.nodes or analysis.skipped
    lines_with_words = [line for line in text.split("\n") if any(map(str.isalnum, line))]
    held = "\n".join(node.text for node in analysis.nodes)
    if not analysis.skipped and language != "csv":
        assert all(line.removesuffix("\r") in held for line in lines_with_words)
