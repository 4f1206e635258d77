"""The trigrams of many names at once against those of each."""

from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.files.segment import HeldSegment
from groundwire_index.lexical.name_table import fitting, trigram_parts
from groundwire_index.text.trigram_names import trigrams

NAMES = st.lists(st.text(alphabet="ab1ü\uffff\U0010ffff", min_size=1, max_size=9), min_size=1, unique=True, max_size=9)


@given(names=NAMES)
def test_every_trigram_has_the_names_that_hold_it(names: list[str]) -> None:
    parts, sizes = trigram_parts("x", names)
    segment = HeldSegment(0, len(names), parts)
    terms = sorted(set().union(*map(trigrams, names)))
    assert segment.part("x.terms").tobytes().decode() == "".join(terms)
    assert segment.part("x.sizes").tolist() == [len(term.encode()) for term in terms]
    holders = [[position for position, name in enumerate(names) if term in trigrams(name)] for term in terms]
    assert segment.part("x.counts").tolist() == [len(held) for held in holders]
    assert segment.part("x.rows").tolist() == [position for held in holders for position in held]
    assert sizes.tolist() == [len(trigrams(name)) for name in names]


def test_names_with_very_many_letters_are_taken_in_smaller_runs() -> None:
    names = [chr(0x20000 + number) for number in range(60_000)]
    count = fitting(names)
    assert 0 < count < len(names)
    assert fitting(names[:count]) == count
    parts, sizes = trigram_parts("x", names[:count])
    assert parts["x.terms"].tobytes().decode() == "".join(
        sorted(text for name in names[:count] for text in trigrams(name))
    )
    assert sizes.tolist() == [2] * count
