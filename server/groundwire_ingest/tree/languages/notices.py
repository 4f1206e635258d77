"""The rows of a code file that hold its licence."""

from collections.abc import Iterator
from dataclasses import dataclass

from groundwire_ingest.tree.languages.nodes import end_row
from groundwire_ingest.tree.languages.outline import ParsedFile
from groundwire_ingest.tree.notices import is_notice

_DOCUMENTING = ("/**", "///", "/*!", "//!")
_BLOCK = "/*"


@dataclass(slots=True)
class _Comment:
    """A comment, or comments of whole lines that follow each other; rows are inclusive."""

    first_row: int
    last_row: int
    text: str

    @property
    def documents(self) -> bool:
        return self.text.startswith(_DOCUMENTING)


def notice_rows(parsed: ParsedFile) -> frozenset[int]:
    """The rows of the notices above the first declaration; of the whole file if it declares nothing.

    The comment that documents the first declaration is never a notice. It is the last comment right above
    the declaration that begins as documentation does.
    """
    first = parsed.declared[0] if parsed.declared else None
    comments = list(_comments(parsed, first.node.start_byte if first else parsed.root.end_byte))
    above = [item for item in comments if first is not None and item.first_row >= first.first_row and item.documents]
    return frozenset(
        row
        for item in comments
        if item not in above[-1:] and is_notice(item.text)
        for row in range(item.first_row, item.last_row + 1)
    )


def _comments(parsed: ParsedFile, before: int) -> Iterator[_Comment]:
    """The comments at the top level of a file up to an offset that have their lines for themselves."""
    held: _Comment | None = None
    last_row = -1
    for node in parsed.root.children:
        row, end = node.start_point.row, end_row(node)
        if held is not None and held.last_row == row:
            held = None
        if node.start_byte >= before:
            break
        if node.type in parsed.syntax.leading and node.is_extra and row > last_row:
            comment = _Comment(row, end, (node.text or b"").decode(errors="replace"))
            if held is not None and held.last_row + 1 == row and _are_one(held, comment):
                held.last_row, held.text = end, f"{held.text}\n{comment.text}"
            else:
                if held is not None:
                    yield held
                held = comment
        last_row = end
    if held is not None:
        yield held


def _are_one(above: _Comment, below: _Comment) -> bool:
    is_block = above.text.startswith(_BLOCK) or below.text.startswith(_BLOCK)
    return not is_block and above.documents == below.documents
