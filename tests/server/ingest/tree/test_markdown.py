"""Markdown by heading."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_ingest.tree.file_analysis import FileAnalysis, SourceFile
from groundwire_ingest.tree.markdown import markdown_analysis

GUIDE = """\
---
title: Guide
---
Before any heading.

# The `pay` [guide](http://x.y) for *all*

Text.
```sh
# no heading
```

Setup
-----
- item
  # in a list

> # quoted

## Steps
#### Deep
## Steps

# The `pay` [guide](http://x.y) for *all*
    # indented code
<!--
# in a comment
-->
"""


def _analysis(text: str, path: str = "docs/guide.md") -> FileAnalysis:
    return markdown_analysis(SourceFile(path, text, "markdown"))


def test_every_heading_opens_a_section_and_code_holds_none() -> None:
    analysis = _analysis(GUIDE)
    assert [(node.local_id, node.start_line, node.end_line) for node in analysis.nodes] == [
        ("docs/guide.md#front-matter", 1, 3),
        ("docs/guide.md", 4, 4),
        ("docs/guide.md#the-pay-guide-for-all", 6, 11),
        ("docs/guide.md#setup", 13, 18),
        ("docs/guide.md#steps", 20, 20),
        ("docs/guide.md#deep", 21, 21),
        ("docs/guide.md#steps~2", 22, 22),
        ("docs/guide.md#the-pay-guide-for-all~2", 24, 28),
    ]
    assert analysis.nodes[3].text == "Setup\n-----\n- item\n  # in a list\n\n> # quoted"
    assert not analysis.skipped


def test_sections_know_the_titles_that_lead_to_them() -> None:
    nodes = {node.local_id: node for node in _analysis(GUIDE).nodes}
    deep = nodes["docs/guide.md#deep"]
    assert deep.symbol == "The pay guide for all > Steps > Deep"
    assert deep.section_path == deep.symbol
    assert deep.context_prefix == "guide.md > The pay guide for all > Steps"
    setup = nodes["docs/guide.md#setup"]
    assert setup.section_path == "The pay guide for all > Setup"
    assert setup.context_prefix == "guide.md > The pay guide for all"
    for name in ("docs/guide.md", "docs/guide.md#front-matter"):
        assert (nodes[name].symbol, nodes[name].section_path, nodes[name].context_prefix) == (
            *["guide.md", ""],
            "guide.md",
        )
    assert (deep.kind, deep.language, deep.data_type, deep.corpus_type) == ("md", "markdown", "doc", "DOC_GENERAL")
    assert deep.origin == "docs/guide.md:21"


def test_the_file_is_the_document_and_its_chunks_are_counted_in_its_order() -> None:
    nodes = _analysis(GUIDE).nodes
    assert {node.document_id for node in nodes} == {"docs/guide.md"}
    assert [node.chunk_index for node in nodes] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert [node.start_line for node in nodes] == sorted(node.start_line for node in nodes)


def test_a_heading_without_text_leads_nowhere() -> None:
    first, second, third = _analysis("# A\n## \n### C\n").nodes
    assert (first.section_path, second.section_path, third.section_path) == ("A", "A", "A > C")
    assert (second.context_prefix, third.context_prefix) == ("guide.md > A", "guide.md > A")


def test_sections_contain_their_subsections() -> None:
    assert [(edge.from_key, edge.edge_type, edge.to_key) for edge in _analysis(GUIDE).edges] == [
        ("md::docs/guide.md#the-pay-guide-for-all", "Contains", "md::docs/guide.md#setup"),
        ("md::docs/guide.md#the-pay-guide-for-all", "Contains", "md::docs/guide.md#steps"),
        ("md::docs/guide.md#steps", "Contains", "md::docs/guide.md#deep"),
        ("md::docs/guide.md#the-pay-guide-for-all", "Contains", "md::docs/guide.md#steps~2"),
    ]


@pytest.mark.parametrize(
    ("path", "corpus_type"),
    [
        ("README.md", "DOC_README"),
        ("ops/readme.de.md", "DOC_README"),
        ("docs/runbooks/db.md", "DOC_RUNBOOK"),
        ("docs/Playbook-db.md", "DOC_RUNBOOK"),
        ("ops/db.md", "DOC_RUNBOOK"),
        ("docs/desktops/shops.md", "DOC_GENERAL"),
    ],
)
def test_the_path_tells_the_corpus(path: str, corpus_type: str) -> None:
    assert {node.corpus_type for node in _analysis("# T", path).nodes} == {corpus_type}


def test_a_long_section_is_cut_before_a_block() -> None:
    blocks = "\n\n".join(f"```\n{'line of code ' * 20}\n\nline {n}\n```" for n in range(50))
    text = f"# Long\n\n{blocks}\n\n## Next"
    analysis = _analysis(text)
    ids = [node.local_id for node in analysis.nodes]
    assert ids == ["docs/guide.md#long", "docs/guide.md#long@2", "docs/guide.md#long@3", "docs/guide.md#next"]
    assert all(node.text.startswith("```") for node in analysis.nodes[1:3])
    assert {edge.to_key for edge in analysis.edges if edge.from_key.endswith("#long")} == {
        f"md::{part}" for part in ids[1:]
    }
    assert [node.chunk_index for node in analysis.nodes] == [1, 2, 3, 4]
    assert {node.section_path for node in analysis.nodes[:3]} == {"Long"}


def test_a_further_part_of_a_section_says_the_heading_that_it_does_not_hold() -> None:
    text = "# Top\n## Long\n" + "\n\n".join("word " * 300 for _ in range(8)) + "\n### Below\n"
    nodes = _analysis(text).nodes
    assert [(node.local_id.partition("#")[2], node.context_prefix) for node in nodes] == [
        ("top", "guide.md"),
        ("long", "guide.md > Top"),
        ("long@2", "guide.md > Top > Long"),
        ("long@3", "guide.md > Top > Long"),
        ("below", "guide.md > Top > Long"),
    ]


def test_front_matter_speaks_for_every_section() -> None:
    analysis = _analysis("---\nauthor: Ada\ndate: 2025-01-01\nprocess: billing\n---\nIntro\n# A\n")
    assert len(analysis.nodes) == 3
    for node in analysis.nodes:
        assert (node.author, node.timestamp) == ("Ada", datetime(2025, 1, 1, tzinfo=UTC))
        assert node.metadata == {"process": "billing"}
    assert not analysis.skipped


def test_front_matter_that_cannot_be_read_for_keys_is_named_and_stays_text() -> None:
    analysis = _analysis("---\nauthor: Ada\nauthor: Bob\n---\n# A\n")
    assert [node.local_id for node in analysis.nodes] == ["docs/guide.md#front-matter", "docs/guide.md#a"]
    assert {(node.author, node.timestamp, len(node.metadata)) for node in analysis.nodes} == {("", None, 0)}
    (skipped,) = analysis.skipped
    assert skipped.path == "docs/guide.md"
    assert skipped.why.startswith("front matter not read for keys, for at line 3: ")


def test_what_only_looks_like_front_matter_is_text() -> None:
    assert [node.local_id for node in _analysis("---\nno end\n").nodes] == ["docs/guide.md"]
    assert [node.local_id for node in _analysis("text\n---\nx: 1\n---\n").nodes] == [
        "docs/guide.md#text",
        "docs/guide.md#x-1",
    ]


def test_a_title_without_letters_and_a_blank_file() -> None:
    assert [node.local_id for node in _analysis("# !!!\n# \n").nodes] == [
        "docs/guide.md#section",
        "docs/guide.md#section~2",
    ]
    assert _analysis(" \n\n").nodes == ()
    assert _analysis("").nodes == ()


def test_windows_line_ends_keep_their_numbers() -> None:
    analysis = _analysis("a\r\n\r\n# B\r\nb\r\n")
    assert [(node.text, node.start_line, node.end_line) for node in analysis.nodes] == [("a", 1, 1), ("# B\r\nb", 3, 4)]


def test_a_lone_carriage_return_ends_no_line() -> None:
    assert [(node.local_id, node.start_line) for node in _analysis("a\r# B\n# C\n").nodes] == [
        ("docs/guide.md", 1),
        ("docs/guide.md#c", 2),
    ]


_blocks = st.sampled_from(
    ["# A", "## B", "a: 1", "=", "---", "...", "```", "~~~", "- x", "> q", "    code", "text", "[a]: b"]
)
_marks = st.sampled_from(["\n", "\n\n", "\r", "\r\n", "\t", " ", "<!--", "-->", "|", "*", "`", "\x0c", "\u2028"])
_soups = st.lists(_blocks | _marks, max_size=40).map("".join)


@given(st.text() | _soups)
def test_any_text_is_read_into_exact_slices_and_nothing_is_lost(text: str) -> None:
    analysis = _analysis(text)
    lines = text.split("\n")
    covered: set[int] = set()
    for node in analysis.nodes:
        assert node.text == "\n".join(lines[node.start_line - 1 : node.end_line]).removesuffix("\r")
        covered.update(range(node.start_line, node.end_line + 1))
    assert all(number in covered for number, line in enumerate(lines, start=1) if line.strip())
    keys = [node.key for node in analysis.nodes]
    assert len(keys) == len(set(keys))
    assert all(edge.from_key in keys and edge.to_key in keys for edge in analysis.edges)
