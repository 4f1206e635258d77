"""A small corpus that the benches' tests share."""

import pytest

from bench.speed.corpus import Corpus
from bench.speed.synthesis import Shape, write_corpus

SHAPE = Shape(nodes=300, dimension=16, policy_classes=7, queries=12)


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """300 nodes, 12 queries."""
    return write_corpus(tmp_path_factory.mktemp("corpus"), SHAPE)
