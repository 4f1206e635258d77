"""A source text as the evidence shows it."""

from dataclasses import dataclass

from groundwire_client import NodeText


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What is shown of a text, marks included, and how many tokens that takes.

    `source_tokens` are those of the lines without the marks. `is_whole` when no line is left out.
    """

    text: str
    tokens: int
    source_tokens: int
    is_whole: bool


@dataclass(frozen=True, slots=True)
class ShownText:
    """A text with the handle that it has in the evidence, `[1]` for 1, and what is shown of it."""

    handle: int
    node: NodeText
    excerpt: Excerpt
