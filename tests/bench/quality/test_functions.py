"""Which functions of a source make a question, and what they look like without their docstrings."""

from textwrap import dedent

import pytest

from bench.quality.functions import documented_functions, first_sentence

SOURCE = dedent(
    '''
    import os

    def join(parts):
        """Join the parts with slashes. Empty ones are kept.

        More about it.
        """
        # not a docstring
        joined = "/".join(parts)
        return joined

    class Store:
        """A store of values by key."""

        @property
        def size(self):
            """Count the values that are stored."""
            total = len(self._values)
            return total

        async def get(self, key):
            """Read one value by its key.""" ; value = self._values[key]
            return value

    if os.name == "nt":
        def sep():
            """Tell which character separates folders."""
            separator = "\\\\"
            return separator

    def outer():
        """Hold a function within a function."""
        def inner():
            """Not asked for: it stands in another."""
            value = 1
            return value
        return inner

    def undocumented():
        value = 1
        return value

    def terse():
        """Too few words."""
        value = 1
        return value

    def short():
        """Say that nothing is done here."""
        ...
    '''
)


def test_documented_functions_of_a_module_and_its_classes() -> None:
    found = [(function.name, function.sentence) for function in documented_functions(SOURCE)]
    assert found == [
        ("join", "Join the parts with slashes"),
        ("Store.size", "Count the values that are stored"),
        ("sep", "Tell which character separates folders"),
        ("outer", "Hold a function within a function"),
    ]


def test_the_text_is_the_source_without_the_docstring_at_the_left_margin() -> None:
    texts = {function.name: function for function in documented_functions(SOURCE)}
    assert texts["join"].text.splitlines() == [
        "def join(parts):",
        "    # not a docstring",
        '    joined = "/".join(parts)',
        "    return joined",
    ]
    assert texts["Store.size"].text.splitlines()[0] == "def size(self):"
    assert (texts["join"].start_line, texts["join"].end_line) == (4, 11)


@pytest.mark.parametrize(
    ("docstring", "sentence"),
    [
        ("Read a file.", "Read a file"),
        ("Read a file. Then close it.", "Read a file"),
        ("Read\n    a file\n\nThen close it.", "Read a file"),
        ("Read e.g. a file, i.e. bytes. Then close it.", "Read e.g. a file, i.e. bytes"),
        ("Read version 1.5 of it.", "Read version 1.5 of it"),
        (":param name: what to read", ""),
        ("word " * 80, ""),
        ("", ""),
    ],
)
def test_the_first_sentence(docstring: str, sentence: str) -> None:
    assert first_sentence(docstring) == sentence


def test_what_is_no_python_is_an_error() -> None:
    with pytest.raises(SyntaxError):
        list(documented_functions("def ("))
