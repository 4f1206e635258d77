"""The part of a conversation's score that comes from its age."""

from datetime import UTC, datetime, timedelta
from math import exp2

import numpy as np

from groundwire_index.nodes.node_table import NO_TIMESTAMP
from groundwire_server.domain.query.query import Freshness
from groundwire_server.domain.search.candidates import Floats, NodeColumns

CONVERSATION_PREFIX = "CONVO_"
"""How the corpus types of conversations begin."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = timedelta(days=1) // timedelta(microseconds=1)


def decays(columns: NodeColumns, now: datetime, freshness: Freshness) -> Floats:
    """For each candidate [n] `2 ** (-age / half_life_days)`, age in days and at least 0; `now` has a zone.

    1 for what is of `now` or later, about 0.5 after one half-life; 0 where a double cannot represent the decay. NaN
    for what is no conversation or has no timestamp, and where freshness is switched off.
    """
    decay_by_position = np.full(len(columns.timestamps), np.nan)
    if freshness.acts:
        conversations = [name.startswith(CONVERSATION_PREFIX) for name in columns.corpus_types]
        dated = np.asarray(conversations, dtype=np.bool_)[columns.corpus_codes] & (columns.timestamps != NO_TIMESTAMP)
        now_microseconds = (now - _EPOCH) // timedelta(microseconds=1)
        for position in np.flatnonzero(dated).tolist():
            age_days = max((now_microseconds - int(columns.timestamps[position])) / _DAY, 0.0)
            decay_by_position[position] = exp2(-age_days / freshness.half_life_days)
    return decay_by_position


def blend(relevance: Floats, decay: Floats, weight: float) -> Floats:
    """`(1 - weight) * relevance + weight * decay`; in [0, 1] where all three are."""
    return (1.0 - weight) * relevance + weight * decay
