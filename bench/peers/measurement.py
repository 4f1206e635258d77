"""Asks all peers in turn, call by call, so that the other load of the machine is the same for each."""

import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from rich.progress import Progress
from threadpoolctl import threadpool_limits

from bench.peers.peer import Action, Peer, Questions
from bench.speed.comparison import mean

_WARMING = 5
"""The number of unmeasured calls that each peer gets first."""


@dataclass(slots=True)
class Measured:
    """The calls of one kind to one peer: milliseconds, and the shares of each answer that are right."""

    milliseconds: list[float] = field(default_factory=list[float])
    right_shares: list[float] = field(default_factory=list[float])

    @property
    def median(self) -> float:
        """Of the milliseconds."""
        return float(np.median(self.milliseconds))

    @property
    def p95(self) -> float:
        """The 95th percentile of the milliseconds, interpolated."""
        return float(np.percentile(self.milliseconds, 95.0))

    @property
    def right(self) -> float | None:
        """The mean share; None for calls without right answers."""
        return mean(self.right_shares)


Results = Mapping[Action, Mapping[str, Measured]]
"""What was measured of each kind of call, by the names of the peers."""


def measure_peers(peers: Mapping[str, Peer], questions: Questions, progress: Progress) -> Results:
    """Asks each query of every peer before the next one is asked, in an order that changes.

    NumPy and FAISS get one thread: further ones would keep a core busy for a while after each of their calls.
    """
    with threadpool_limits(limits=1):
        return {action: _measured(action, peers, questions, progress) for action in Action}


def _measured(
    action: Action, peers: Mapping[str, Peer], questions: Questions, progress: Progress
) -> Mapping[str, Measured]:
    able = [name for name, peer in peers.items() if action in peer.calls]
    calls = {name: peers[name].calls[action] for name in able}
    for name in able:
        for number in range(-_WARMING, 0):
            calls[name](number % len(questions))
    measured = {name: Measured() for name in able}
    numbers = range(len(questions)) if able else ()
    for number in progress.track(numbers, description=action):
        for name in _order(able, number):
            began = time.perf_counter()
            answer = calls[name](number)
            measured[name].milliseconds.append(1_000.0 * (time.perf_counter() - began))
            share = questions.right_share(action, number, answer)
            if share is not None:
                measured[name].right_shares.append(share)
    return measured


def _order(names: Sequence[str], number: int) -> list[str]:
    """Another one for each query, so that no peer is always asked after the same one."""
    return random.Random(number).sample(names, len(names))
