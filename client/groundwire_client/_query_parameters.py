"""The parameters of a query, each None where the server's default is taken."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HybridParameters:
    """How a query is to be run; None takes the server's default, named here as it is unless configured.

    Attributes:
        alpha: The weight of the dense source in a weighted fusion, 0 to 1; 0.7. Given without a `fusion`, it asks for a
            weighted one.
        min_sim: The least cosine similarity of a dense candidate, 0 to 1; 0.15, or none where the search is narrowed.
        top_k: The most matches to return; 5.
        vec_limit: The most dense candidates, 1 to 10,000; 3 times `top_k` and at least 150.
        lex_limit: The most candidates of each other source, 1 to 10,000; 3 times `top_k` and at least 150.
        trgm_limit: The least trigram similarity of a trigram candidate, 0 to 1; 0.3.
        max_candidates: The most candidates after the fusion, at most 100,000 and at least those of `top_k`, `vec_limit`
            and `lex_limit` that are given; all of them.
        diversify_strength: How much matches that resemble better ones are held back, 0 to 1; 0.
    """

    alpha: float | None = None
    min_sim: float | None = None
    top_k: int | None = None
    vec_limit: int | None = None
    lex_limit: int | None = None
    trgm_limit: float | None = None
    max_candidates: int | None = None
    diversify_strength: float | None = None


@dataclass(frozen=True, slots=True)
class RankingParameters:
    """What changes a candidate's score after the fusion, each in 0 to 1; None takes the server's default.

    The defaults named here are those for questions in words. For names, paths and quotations weights are 0, factors 1.

    Attributes:
        file_weight: How much a candidate gains by its file's BM25 score; 0.3.
        test_factor: What a test's score is multiplied by, unless the question speaks of tests; 0.5.
        generated_factor: The same for generated code; 0.5.
        prose_factor: The same for prose; 0.75.
        fragment_factor: What the score of a text below 80 characters is multiplied by; 0.85.
        graph_weight: How much a candidate gains by neighbours that match too; 0.3.
        repeat_factor: What a match's score is multiplied by for each better match of its file; 0.85.
    """

    file_weight: float | None = None
    test_factor: float | None = None
    generated_factor: float | None = None
    prose_factor: float | None = None
    fragment_factor: float | None = None
    graph_weight: float | None = None
    repeat_factor: float | None = None


DEFAULT_RANKING = RankingParameters()
"""Every ranking parameter at the server's default."""


DEFAULT_HYBRID = HybridParameters()
"""Every parameter at the server's default."""
