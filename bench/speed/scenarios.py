"""What the benches ask for."""

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
"""What peers can be asked for too."""

OWN = (Scenario("expand"), Scenario("expand hub"), Scenario("fetch"), Scenario("query"))
"""What only Groundwire answers."""

SCENARIOS = (*SEARCHES, *OWN)
