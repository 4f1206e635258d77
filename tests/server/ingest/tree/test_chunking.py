from groundwire_ingest.tree.chunking import MAX_CHUNK_CHARACTERS, Span, lines_of, split_lines

LINE = "x" * 99 + "\n"


def test_lines_end_at_line_feeds_only() -> None:
    assert lines_of("a\r\nb\x0cc\u2028d\rn\n") == ["a\r\n", "b\x0cc\u2028d\rn\n"]
    assert lines_of("") == []
    assert lines_of("a") == ["a"]


def test_a_short_text_is_one_part_without_its_blank_ends() -> None:
    assert split_lines("\n  \na\r\n\r\nb\r\n\n", 5) == (Span("a\r\n\r\nb", 7, 9),)


def test_a_blank_text_has_no_parts() -> None:
    assert split_lines("", 1) == ()
    assert split_lines("\n \n", 1) == ()


def test_parts_end_before_the_last_boundary_that_keeps_them_within_the_limit() -> None:
    spans = split_lines(LINE * 130, 11, boundaries=[200, 40, 20, 90])
    assert [(span.start_line, span.end_line) for span in spans] == [(11, 39), (40, 89), (90, 140)]


def test_parts_end_after_a_blank_line_where_there_is_no_boundary() -> None:
    spans = split_lines(LINE * 30 + "\n" + LINE * 50, 1, boundaries=[500])
    assert [(span.start_line, span.end_line) for span in spans] == [(1, 30), (32, 81)]


def test_parts_end_anywhere_at_last_and_hold_every_line() -> None:
    text = LINE * 200
    spans = split_lines(text, 1)
    assert "\n".join(span.text for span in spans) + "\n" == text
    assert all(len(span.text) <= MAX_CHUNK_CHARACTERS for span in spans)


def test_a_single_line_above_the_limit_is_a_part_of_its_own() -> None:
    long = "y" * (MAX_CHUNK_CHARACTERS + 1)
    assert [span.text for span in split_lines(f"a\n{long}\nb\n", 1)] == ["a", long, "b"]
