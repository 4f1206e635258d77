"""What a conversation gains by being recent."""

from datetime import datetime, timedelta
from math import exp2

from groundwire_server.domain.query import Freshness

CONVERSATION_PREFIX = "CONVO_"
"""How the corpus types of conversations begin."""


def freshness_of(corpus_type: str, timestamp: datetime | None, now: datetime, freshness: Freshness) -> float | None:
    """The decay `2 ** (-age / half_life_days)`, age in days and at least 0; times have zones.

    1 for what is of `now` or later, about 0.5 after one half-life; 0 where a double cannot tell the decay from it. None
    for what is no conversation or has no timestamp, and where freshness is switched off.
    """
    if not freshness.acts or timestamp is None or not corpus_type.startswith(CONVERSATION_PREFIX):
        return None
    age_days = max((now - timestamp) / timedelta(days=1), 0.0)
    return exp2(-age_days / freshness.half_life_days)


def blend(relevance: float, decay: float, weight: float) -> float:
    """`(1 - weight) * relevance + weight * decay`; in [0, 1] where all three are."""
    return (1.0 - weight) * relevance + weight * decay
