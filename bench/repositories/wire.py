"""Asks a running server: rankings of each kind, evidence, and what lies an edge or two from a place."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bench.repositories.figures import DEPTH, Evidence, Found, evidence_of, found_by
from bench.repositories.places import Piece, answers, is_symbol
from bench.repositories.tables import Alternatives, Question, Relation
from groundwire.tokens import TokenCounter
from groundwire_client import GroundwireClient, HybridParameters, Scope, SearchType
from groundwire_pipelines import Pipeline

BUDGET_TOKENS = 4_000
_LIST_LIMIT = 100
"""The default for every `top_k` up to 33, so that the first five and ten are what a caller with the defaults gets."""
_MOST_NODES = 1_000

Ranking = Callable[[str], Sequence[str]]
"""The canonical ids for a question, best first."""


@dataclass(frozen=True, slots=True)
class Reached:
    """Whether a relation's end was reached from its start along one edge, and along at most two."""

    kind: str
    by_one: bool
    by_two: bool


def rankings(client: GroundwireClient, scope: Scope) -> dict[str, Ranking]:
    """The ways to search that are compared, by the name that tables show."""
    limits = HybridParameters(top_k=DEPTH, vec_limit=_LIST_LIMIT, lex_limit=_LIST_LIMIT)

    def search(search_type: SearchType) -> Ranking:
        return lambda text: client.search(scope, text, search_type=search_type, top_k=DEPTH).ids

    return {
        "Query": lambda text: client.query(scope, text, hybrid=limits).ids,
        "semantic": search(SearchType.SEMANTIC),
        "bm25": search(SearchType.BM25),
        "hybrid": search(SearchType.HYBRID),
    }


def measure_ranking(ranking: Ranking, nodes: Mapping[str, Piece], questions: Sequence[Question]) -> list[Found]:
    """The figures of each question. Raises GroundwireError."""
    return [found_by([nodes[id_] for id_ in ranking(question.text)], question) for question in questions]


def measure_evidence(address: str, scope: Scope, questions: Sequence[Question]) -> list[Evidence]:
    """What the pipeline `evidence` shows for each question under the budget. Raises PipelineError."""
    pipeline = Pipeline.load("evidence", max_context_tokens=BUDGET_TOKENS)
    counter = TokenCounter()
    measured = []
    for question in questions:
        result = pipeline.run(question.text, server=address, repository=scope.repository, branch=scope.branch)
        pieces = [Piece(text.location.path, text.symbol, text.text) for text in result.state.node_texts]
        measured.append(evidence_of(pieces, counter.count(result.answer), question))
    return measured


def measure_relations(
    client: GroundwireClient, scope: Scope, nodes: Mapping[str, Piece], relations: Sequence[Relation]
) -> list[Reached]:
    """Whether each relation is an edge, or two, of the graph. Raises GroundwireError."""
    measured = []
    for relation in relations:
        starts, ends = ids_of(nodes, relation.start), set(ids_of(nodes, relation.end))
        one, two = (_reaches(client, scope, starts, ends, depth) for depth in (1, 2))
        measured.append(Reached(relation.kind, one, one or two))
    return measured


def ids_of(nodes: Mapping[str, Piece], place: Alternatives) -> list[str]:
    """The nodes that are the place; where none is, those that declare it in their text.

    A class that holds the method in its text would else stand for each of its methods, and its edges for theirs.
    """
    own = [id_ for id_, node in nodes.items() if any(one.symbol and is_symbol(node, one) for one in place)]
    return own or [id_ for id_, node in nodes.items() if answers(node, place)]


def _reaches(client: GroundwireClient, scope: Scope, starts: Sequence[str], ends: set[str], depth: int) -> bool:
    """Whether a walk of so many edges from any of the starts, taken one by one, comes to one of the ends."""
    return any(not ends.isdisjoint(_ahead(client, scope, start, depth)) for start in starts)


def _ahead(client: GroundwireClient, scope: Scope, start: str, depth: int) -> Iterator[str]:
    expansion = client.expand(scope, [start], max_depth=depth, max_nodes=_MOST_NODES, edge_allowlist=["*"])
    yield from (edge.to_id for edge in expansion.edges if depth > 1 or edge.from_id == start)
