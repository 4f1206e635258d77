"""Short ways to make the evidence of a server."""

from collections.abc import Iterable, Sequence

from groundwire.v1.evidence_pb2 import (
    GatherEvidenceResponse,
    NamedNode,
    Passage,
    PassageEdge,
    PassageForm,
    PassageMatch,
    PassagePart,
    Weakness,
)
from groundwire_client import GraphEdge, IndexScope, SourceLocation

INDEX = "2026-01-01_main"


def passage(node_id: str, content: str = "source", *, reached_by: GraphEdge | None = None) -> Passage:
    """A passage at `src/<id>.py`; of a node that matches, unless an edge joins it to the first passage."""
    lines = content.count("\n") + 1
    made = Passage(
        id=node_id,
        scope=IndexScope(repository="shop", branch="main", active_index=INDEX),
        citation=f"src/{node_id}.py:1-{lines}",
        location=SourceLocation(path=f"src/{node_id}.py", start_line=1, end_line=lines, content_hash="00"),
        symbol=f"Symbol.{node_id}",
        form=PassageForm.PASSAGE_FORM_WHOLE,
        parts=[PassagePart(start_line=1, text=content)],
        token_count=len(content.split()),
        node_token_count=len(content.split()),
    )
    if reached_by is not None:
        made.edge.CopyFrom(PassageEdge(number=1, edge=reached_by))
    else:
        made.match.CopyFrom(PassageMatch(rank=1, score=1.0))
    return made


def gathered(
    *passages: Passage, weak: str = "", named: Iterable[str] = (), edges: Iterable[GraphEdge] = (), index: str = INDEX
) -> GatherEvidenceResponse:
    """Evidence, without numbers and text; `numbered` adds them."""
    return GatherEvidenceResponse(
        passages=passages,
        edges=edges,
        named=[
            NamedNode(id=id_, citation=id_, symbol=f"Symbol.{id_}", location=SourceLocation(path=f"src/{id_}.py"))
            for id_ in named
        ],
        weak=Weakness(reason=weak, similarity=0.2, words=0.1) if weak else None,
        index=index,
        exact=True,
    )


def numbered(response: GatherEvidenceResponse, shown_ids: Sequence[str]) -> GatherEvidenceResponse:
    """The evidence with numbers from the next one on, laid out as text; what is shown already is only named."""
    made = GatherEvidenceResponse()
    made.CopyFrom(response)
    del made.passages[:]
    lines = [f"This is probably no answer: {response.weak.reason}."] if response.HasField("weak") else []
    number = len(shown_ids)
    for passage in response.passages:
        if passage.id in shown_ids:
            at = shown_ids.index(passage.id) + 1
            made.named.add(
                id=passage.id, number=at, citation=passage.citation, symbol=passage.symbol, location=passage.location
            )
            continue
        number += 1
        added = made.passages.add()
        added.CopyFrom(passage)
        added.number = number
        if added.HasField("match"):
            added.match.rank, added.match.score = len(made.passages), 1 / len(made.passages)
        first, *rest = passage.parts[0].text.split("\n")
        lines += [passage.location.path, f"[{number}] {passage.symbol}", f"1 {first}", *(f"  {line}" for line in rest)]
    if made.named:
        lines += [
            "not shown:",
            *(
                f"- {f'[{named.number}] ' if named.number else ''}{named.citation} {named.symbol}"
                for named in made.named
            ),
        ]
    made.rendered = "".join(f"{line}\n" for line in lines)
    made.used_tokens = len(made.rendered.split())
    return made
