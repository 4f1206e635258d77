"""The pipelines whose searches are judged."""

import pytest

from bench.repositories.weak import SEARCHES, pipeline_of


@pytest.mark.parametrize("search", SEARCHES)
def test_each_kind_of_search_has_a_sound_pipeline_with_the_limits(search: str) -> None:
    pipeline = pipeline_of(search, 0.4, 0.2)
    assert pipeline.definition.warnings == ()
    (check,) = (step for step in pipeline.definition.steps.values() if step.action == "check_retrieval")
    assert check.raw == {"weak_below": 0.4, "words_below": 0.2}
