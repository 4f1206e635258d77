"""The texts by which encoders are judged: varied, and no longer than queries are."""

from groundwire_ingest.embedding.calibration import TEXTS
from groundwire_server.domain.limits import MAX_QUERY_CHARS


def test_the_texts_are_distinct_and_may_be_asked() -> None:
    assert len(set(TEXTS)) == len(TEXTS) >= 48
    assert all(text.strip() and len(text) <= MAX_QUERY_CHARS for text in TEXTS)


def test_the_texts_are_varied() -> None:
    lengths = [len(text) for text in TEXTS]
    assert min(lengths) == 1
    assert max(lengths) > 150
    for marks in (["?"], ["def ", "public ", "func", "SELECT "], ["::", ".", "_"], ["Error", "Exception"]):
        assert any(mark in text for text in TEXTS for mark in marks)
    assert any(ord(letter) > 0x3000 for text in TEXTS for letter in text)
