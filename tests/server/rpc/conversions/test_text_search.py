"""The matching lines and files that a response has room for are encoded, and the counts are of all."""

from dataclasses import replace

import pytest

from groundwire_index.limits import RESPONSE_BYTES
from groundwire_index.nodes.node import Location
from groundwire_index.scope import Scope
from groundwire_server.domain.search.search import NodeLabel
from groundwire_server.domain.text_search.text_search import FileMatches, LineMatch, ShownLine, TextSearchResult
from groundwire_server.rpc.conversions.text_search import encode_text_search

SHOP = Scope("shop", "main", "v1")


def line(number: int, size: int) -> LineMatch:
    node = NodeLabel("shop::main::cs::A", "A", Location("src/A.cs", 1, 9, "0" * 64))
    return LineMatch(node, "cs", number, 1, 3, number, ShownLine("x" * size))


@pytest.mark.parametrize(
    ("line_bytes", "path_bytes", "all_lines", "all_files"),
    [(10, 10, True, True), (10, 100_000, True, False), (100_000, 10, False, True), (100_000, 100_000, False, False)],
)
@pytest.mark.parametrize("scopes", [(), (SHOP,)])
def test_what_a_response_has_no_room_for_is_left_out_from_the_end(
    line_bytes: int, path_bytes: int, all_lines: bool, all_files: bool, scopes: tuple[Scope, ...]
) -> None:
    matches = tuple(line(number, line_bytes) for number in range(1, 61))
    files = tuple(FileMatches(SHOP, f"{number:04}{'p' * path_bytes}", 1, "") for number in range(60))
    response = encode_text_search(TextSearchResult(matches, files, False, "v1", scopes))
    assert response.ByteSize() <= RESPONSE_BYTES
    assert [match.line for match in response.matches] == [*range(1, len(response.matches) + 1)]
    assert [file.path for file in response.files] == [file.path for file in files[: len(response.files)]]
    assert (len(response.matches) == 60, len(response.files) == 60) == (all_lines, all_files)
    if not (all_lines and all_files):
        assert response.ByteSize() > RESPONSE_BYTES - 2 * 100_000
    assert (response.line_count, response.file_count, response.complete) == (60, 60, all_lines)
    repositories = [match.scope.repository for match in response.matches]
    repositories += [file.scope.repository for file in response.files]
    assert set(repositories) == {"shop" if scopes else ""}


def test_no_part_is_made_behind_the_first_that_has_no_room() -> None:
    """A part that no message can hold stands for the many that would take memory."""
    impossible = "\ud800"
    matches = (*(line(number, 100_000) for number in range(1, 61)), replace(line(61, 1), shown=ShownLine(impossible)))
    files = (*(FileMatches(SHOP, "p" * 100_000, 1, "") for _ in range(60)), FileMatches(SHOP, impossible, 1, ""))
    response = encode_text_search(TextSearchResult(matches, files, False, "v1", ()))
    assert 0 < len(response.matches) < 60
    assert len(response.files) < 60
    with pytest.raises(UnicodeEncodeError):
        encode_text_search(TextSearchResult(matches[-1:], (), False, "v1", ()))
    with pytest.raises(UnicodeEncodeError):
        encode_text_search(TextSearchResult((), files[-1:], False, "v1", ()))
