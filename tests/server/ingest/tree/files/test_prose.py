"""reStructuredText and AsciiDoc as sections, and text without any structure."""

from collections.abc import Callable

from groundwire_ingest.tree.files.prose import MAX_TEXT_CHARACTERS
from groundwire_ingest.tree.files.reading import FileReading

Read = Callable[[str, str], FileReading]
Chunks = Callable[[str, str], list[tuple[str, int, int]]]

RST = """\
.. _top:

=====
 Top
=====

.. include:: ../LICENSE.txt

Using :func:`run`
-----------------
text::

    Not a title
    -----------

A long line of text
---
=====  ====
a      b
=====  ====

Deep
~~~~
x

-----

Other
-----
y
"""


def test_sections_of_restructured_text(read: Read) -> None:
    nodes = read("docs/index.rst", RST).analysis.nodes
    assert [(node.local_id, node.section_path, node.start_line, node.end_line) for node in nodes] == [
        ("docs/index.rst", "", 1, 1),
        ("docs/index.rst#top", "Top", 3, 7),
        ("docs/index.rst#using-run", "Top > Using run", 9, 20),
        ("docs/index.rst#deep", "Top > Using run > Deep", 22, 26),
        ("docs/index.rst#other", "Top > Other", 28, 30),
    ]
    assert {(node.kind, node.data_type, node.corpus_type, node.document_id) for node in nodes} == {
        ("rst", "doc", "DOC_GENERAL", "docs/index.rst")
    }
    (reference,) = read("docs/index.rst", RST).references
    assert (reference.written, reference.edge_type, reference.line) == (("../LICENSE.txt",), "Imports", 7)


def test_sections_of_asciidoc(chunks: Chunks, read: Read) -> None:
    text = "= Guide\nAuthor\n\n== First\n----\n== no title\n----\ninclude::part.adoc[]\n\n=== Inner\nx\n== Second\ny\n"
    assert chunks("README.adoc", text) == [
        ("Guide", 1, 2),
        ("Guide > First", 4, 8),
        ("Guide > First > Inner", 10, 11),
        ("Guide > Second", 12, 13),
    ]
    reading = read("README.adoc", text)
    assert {node.corpus_type for node in reading.analysis.nodes} == {"DOC_README"}
    assert [item.written for item in reading.references] == [("part.adoc",)]


def test_plain_text_is_cut_at_blank_lines(chunks: Chunks) -> None:
    paragraph = "x" * 79 + "\n"
    text = (paragraph * 50 + "\n") * 3
    assert chunks("LICENSE", text) == [("LICENSE", 1, 50), ("LICENSE", 52, 101), ("LICENSE", 103, 152)]


def test_text_that_is_data_or_a_key_is_skipped(read: Read) -> None:
    key = "x\n-----BEGIN RSA PRIVATE KEY-----\nabc\n"
    assert [item.why for item in read("notes.txt", key).analysis.skipped] == [
        "holds a private key; secrets are not read"
    ]
    assert "taken for data" in read("log.txt", "x\n" * (MAX_TEXT_CHARACTERS // 2 + 1)).analysis.skipped[0].why


def test_a_table_is_its_header(read: Read) -> None:
    (node,) = read("data/prices.csv", "\nid,name\n1,a\n\n2,b\n").analysis.nodes
    assert (node.text, node.start_line, node.metadata) == ("id,name", 2, {"rows": 2})


def test_a_style_sheet_is_cut_where_rules_begin(read: Read) -> None:
    rule = "a {\n" + "  b: c;\n" * 400 + "}\n"
    reading = read("site.scss", '@use "parts/colors";\n' + rule * 3)
    assert [node.start_line for node in reading.analysis.nodes] == [1, 404, 806]
    assert "parts/_colors.scss" in reading.references[0].written
