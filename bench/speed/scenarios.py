"""The scenarios of the benchmarks."""

from bench.speed.corpus import FILTERS
from bench.speed.protocol import Scenario

SEARCHES = (
    Scenario("semantic"),
    *(Scenario("semantic", name) for name in FILTERS),
    Scenario("bm25"),
    Scenario("bm25", "1 % random"),
    Scenario("bm25", "1 % clustered"),
    Scenario("hybrid"),
    *(Scenario("hybrid", name) for name in FILTERS),
)
"""The scenarios that other systems may support too."""

OWN = (Scenario("expand"), Scenario("expand hub"), Scenario("fetch"), Scenario("query"))
"""The scenarios that only Groundwire supports."""

SCENARIOS = (*SEARCHES, *OWN)
