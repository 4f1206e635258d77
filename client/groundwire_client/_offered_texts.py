"""The texts that the answer of a query offers: those of its matches, and of the nodes that contain these."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from groundwire.v1.query_pb2 import ParentContext, QueryMatch


@dataclass(frozen=True, slots=True)
class OfferedText:
    """A text of an answer. Where it is left out, `text_omitted` of the node is true and `omit_reason` says why.

    Attributes:
        node: The match, or a node that contains it.
        match: The match.
    """

    node: QueryMatch | ParentContext
    match: QueryMatch

    @property
    def is_of_match(self) -> bool:
        """True for the text of the match itself."""
        return self.node is self.match


def offered_texts(matches: Sequence[QueryMatch]) -> Iterator[OfferedText]:
    """The texts of the matches, in their order, then those of the nodes that contain them.

    A node that contains several matches, or is a match too, comes once for each.
    """
    for match in matches:
        yield OfferedText(match, match)
    for match in matches:
        for parent in match.meta.parents:
            yield OfferedText(parent, match)
