"""A passage that evidence shows: the lines of a candidate, why they are shown, and what its row says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from groundwire.evidence import layout
from groundwire.evidence.choosing import Candidate
from groundwire.evidence.evidence_nodes import EvidenceEdge, Excerpt, MatchReason, NameReason, PassageForm


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """A candidate with the lines that are shown of it, and an estimate of all the tokens that it takes."""

    candidate: Candidate
    excerpt: Excerpt
    cost: int

    def explanation(self) -> str:
        """Why the passage is shown, and in which form."""
        reason = self.candidate.reason
        if isinstance(reason, MatchReason):
            why = f"match {reason.rank}, with {reason.share:.2f} of the best match's score"
            if older := self.candidate.older_definitions:
                why = f"{why}; the current definition (matches of older ones: {older})"
        elif isinstance(reason, NameReason):
            why = f"{'defines' if self.candidate.defines else 'uses'} {reason.name}"
        else:
            edge = reason.edge
            direction = "from" if edge.from_id == reason.source_id else "to"
            why = f"{edge.edge_type} {direction} a better match, worth {self.candidate.value:.2f} of the best match"
        form = {
            PassageForm.WHOLE: "shown whole",
            PassageForm.PART: "shown in part, by the words of the question",
            PassageForm.OUTLINE: "shown as an outline",
        }[self.excerpt.form]
        node = self.candidate.node
        if isinstance(reason, MatchReason) and node.purpose_factor != 1.0:
            factor = f"its score was multiplied by {node.purpose_factor:g}"
            why = f"{why}; it is {node.purpose}, which the question does not ask for, so {factor}"
        return f"{why}; {form}"

    def row_notes(
        self,
        previous: "ShownPassage | None",
        outgoing: Mapping[str, Sequence[EvidenceEdge]],
        numbers: Mapping[str, layout.Numbered],
    ) -> layout.RowNotes:
        """What the row above the lines says besides the name; `previous` is the passage before it."""
        node = self.candidate.node
        container = layout.container_name(node)
        is_known = (
            previous is not None
            and previous.candidate.node.file == node.file
            and layout.container_name(previous.candidate.node) == container
        )
        lines = "\n".join(line for part in self.excerpt.parts for line in part.lines)
        links = layout.links_of(outgoing.get(node.id, ()), numbers, lines)
        return layout.RowNotes("" if is_known else container, self.candidate.copies, links)
