"""The bars that explain a match."""

from groundwire.v1 import query_pb2
from groundwire_explore.scores import query_bars


def test_definitions_of_one_object_say_why_the_current_one_is_first() -> None:
    current = query_pb2.QueryMatch(
        scores=query_pb2.StageScores(fused=0.5, older_definitions=2, best_older_definition=0.75, final=0.75)
    )
    older = query_pb2.QueryMatch(scores=query_pb2.StageScores(fused=0.75, older_definition_factor=0.5, final=0.375))
    parameters = query_pb2.RankingParameters(older_definition_factor=0.5)
    of_current, of_older = (
        {bar.name: bar.value for bar in query_bars(match, [current, older], parameters)} for match in (current, older)
    )
    assert of_current == {"fused": "0.5", "best_older_definition": "0.75", "final": "0.75"}
    assert of_older == {"fused": "0.75", "older_definition_factor": "\N{MULTIPLICATION SIGN} 0.5", "final": "0.375"}
