"""Compares peers over one corpus, and writes the tables."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import typer
from rich.progress import Progress

from bench.peers.measurement import measure_peers
from bench.peers.peer import Peer, Questions
from bench.peers.registry import BARE_SERVER, KNOWN, KnownPeer
from bench.peers.report import figures, grids
from bench.shared.results import write_results
from bench.speed.corpus import Corpus


def choose_peers(names: Sequence[str]) -> list[KnownPeer]:
    """The peers of these names, all for none; the bare server is always one of them.

    Raises typer.BadParameter for a name that is not known.
    """
    known = [peer.name for peer in KNOWN]
    if unknown := [name for name in names if name not in known]:
        raise typer.BadParameter(f"{', '.join(unknown)}: must be among {', '.join(known)}", param_hint="--peers")
    return [peer for peer in KNOWN if not names or peer.name in (BARE_SERVER, *names)]


def compare_peers(out: Path, corpus: Corpus, chosen: Sequence[KnownPeer], progress: Progress) -> None:
    """Opens the peers that are installed, measures all of them together, and writes `peers` into `out`.

    Raises IngestError and RuntimeError.
    """
    missing = {peer.name: peer.missing for peer in chosen if peer.missing}
    questions, work = Questions(corpus), out / "run-peers"
    work.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        opened: dict[str, Peer] = {}
        for peer in chosen:
            if peer.name not in missing:
                task = progress.add_task(f"filling {peer.name}", total=None)
                opened[peer.name] = stack.enter_context(peer.open(questions, work))
                progress.remove_task(task)
        results = measure_peers(opened, questions, progress)
    title = f"{len(corpus):,} nodes, {len(questions):,} queries"
    versions = {peer.name: peer.versions for peer in chosen if peer.name not in missing}
    content = {"calls": figures(results), "versions": versions, "missing": missing}
    write_results(out, "peers", grids(chosen, results, missing, title), content)
