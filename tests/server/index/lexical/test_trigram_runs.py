"""The trigrams of many names at once against those of each."""

from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.files.segment import HeldSegment
from groundwire_index.lexical.name_table import trigram_parts
from groundwire_index.text.trigram_names import trigrams


@given(names=st.lists(st.text(alphabet="ab1ü\uffff\U0010ffff", min_size=1, max_size=9), unique=True, max_size=9))
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
