"""The tables of a comparison."""

from collections.abc import Mapping, Sequence

from bench.peers.measurement import Measured, Results
from bench.peers.peer import FILTERS, Action
from bench.peers.registry import BARE_SERVER, KnownPeer
from bench.shared.results import ABSENT, Grid


def grids(chosen: Sequence[KnownPeer], results: Results, missing: Mapping[str, str], title: str) -> list[Grid]:
    """Medians with their ratios and recall, 95th percentiles, and what each peer is."""
    measured = [peer for peer in chosen if peer.name not in missing]
    return [
        Grid(
            f"{title}: median ms (times the bare server's)", _headings(), [_medians(peer, results) for peer in measured]
        ),
        Grid(f"{title}: 95th percentile, ms", ["peer", *Action], [_high(peer, results) for peer in measured]),
        Grid(
            "Peers",
            ["peer", "versions", "reached", "indexes"],
            [[peer.name, *_about(peer, missing)] for peer in chosen],
        ),
    ]


def figures(results: Results) -> dict[str, object]:
    """All figures by kind of call and peer, for a file of results."""
    return {
        action: {
            name: {
                "median": measured.median,
                "p95": measured.p95,
                "ratio": _ratio(measured, by_peer),
                "right": measured.right,
            }
            for name, measured in by_peer.items()
        }
        for action, by_peer in results.items()
    }


def _headings() -> list[str]:
    return [
        "peer",
        *(heading for action in Action for heading in ([action, "recall@10"] if action in FILTERS else [action])),
    ]


def _medians(peer: KnownPeer, results: Results) -> list[str]:
    cells = [peer.name]
    for action in Action:
        measured = results[action].get(peer.name)
        cells.append(f"{measured.median:,.2f} ({_ratio(measured, results[action]):,.1f})" if measured else ABSENT)
        if action in FILTERS:
            cells.append(ABSENT if measured is None or measured.right is None else f"{measured.right:.3f}")
    return cells


def _high(peer: KnownPeer, results: Results) -> list[str]:
    by_action = [results[action].get(peer.name) for action in Action]
    return [peer.name, *(f"{measured.p95:,.2f}" if measured else ABSENT for measured in by_action)]


def _about(peer: KnownPeer, missing: Mapping[str, str]) -> list[str]:
    return [missing.get(peer.name) or peer.versions, peer.reached, peer.described]


def _ratio(measured: Measured, by_peer: Mapping[str, Measured]) -> float:
    return measured.median / by_peer[BARE_SERVER].median
