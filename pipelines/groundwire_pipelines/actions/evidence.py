"""The evidence for an answer: what this loop's retrieval rendered, after what earlier loops of the question found."""

import re

from groundwire_pipelines.state import PipelineState


def evidence_blocks(state: PipelineState) -> list[str]:
    """All blocks of evidence, oldest first, none twice."""
    return list(dict.fromkeys([*state.earlier_context_blocks, *state.context_blocks]))


def evidence_text(state: PipelineState) -> str:
    """The evidence as it goes into a prompt: blocks with an empty line between."""
    return "\n\n".join(evidence_blocks(state))


def node_ids_shown(state: PipelineState, text: str) -> tuple[str, ...]:
    """The canonical ids of the run's nodes that occur in a text, in order of their id.

    An id that is the beginning of another does not occur where the longer one stands.
    """
    known = {
        *state.earlier_node_ids,
        *state.retrieval_seed_nodes,
        *(node.id for node in state.graph_expanded_nodes),
        *(node.id for node in state.node_texts),
    }
    if not known:
        return ()
    longest_first = sorted(known, key=lambda node_id: (-len(node_id), node_id))
    occurrences = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")
    return tuple(sorted(set(occurrences.findall(text))))
