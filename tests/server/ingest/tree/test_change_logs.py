"""Change logs with many versions."""

from itertools import pairwise

from groundwire_ingest.tree.file_analysis import FileAnalysis, SourceFile
from groundwire_ingest.tree.files.prose import read_restructured_text
from groundwire_ingest.tree.markdown import markdown_analysis


def _version(number: int) -> str:
    changes = f"### Added\n\n- part {number}\n\n### Fixed\n\n- fault {number} {'x' * 600}\n\n"
    return f"## [1.{number}.0] - 2024-01-01\n\n{changes}"


def _read(name: str, versions: int) -> FileAnalysis:
    text = "# Changelog\n\nAll changes.\n\n" + "".join(map(_version, range(versions, 0, -1)))
    return markdown_analysis(SourceFile(name, text, "markdown"))


def test_a_long_change_log_is_a_few_dozen_nodes() -> None:
    analysis = _read("docs/CHANGELOG.md", 700)
    titles = [node.section_path.rpartition(" > ")[2] for node in analysis.nodes]
    assert titles[:3] == ["Changelog", "[1.700.0] - 2024-01-01", "[1.699.0] - 2024-01-01"]
    assert titles[13] == "[1.688.0] - 2024-01-01 to [1.681.0] - 2024-01-01"
    assert len(titles) == 1 + 12 + 24
    assert "fault 681 " in analysis.nodes[13].text
    left_out = 700 - 12 - 24 * 8
    assert [item.why.partition(",")[0] for item in analysis.skipped] == [
        f"of its 700 versions the {left_out} oldest are left out"
    ]
    assert all(first.end_line < second.start_line for first, second in pairwise(analysis.nodes))


def test_no_version_of_a_shorter_one_is_left_out() -> None:
    analysis = _read("CHANGELOG.md", 30)
    assert len(analysis.nodes) == 1 + 12 + 3
    assert analysis.skipped == ()
    assert "fault 1 " in analysis.nodes[-1].text


def test_few_headings_and_other_documents_are_divided_by_headings() -> None:
    assert len(_read("CHANGELOG.md", 12).nodes) == 1 + 12 * 3
    assert len(_read("docs/guide.md", 30).nodes) == 1 + 30 * 3


def test_a_change_log_in_restructured_text() -> None:
    text = "".join(f"Version 1.{number}.0\n----------------\n\nPart {number}.\n\n" for number in range(60, 0, -1))
    analysis = read_restructured_text(SourceFile("CHANGES.rst", text, "restructuredtext")).analysis
    assert [node.symbol for node in analysis.nodes[-2:]] == ["Version 1.49.0", "Version 1.48.0 to Version 1.1.0"]
