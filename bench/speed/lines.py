"""Exact search beside ripgrep: the same patterns in the same files, in turn."""

import random
import re
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

from bench.shared.programs import running, serve_command, update_index
from bench.shared.results import Grid
from groundwire_client import GroundwireClient

GROUNDWIRE, RIPGREP = "Groundwire", "ripgrep"
_WORD = re.compile(r"[A-Za-z_]{5,30}")
_SEED = 7
_MOST_MATCHES = 1_000
_REGEXES = (r"(get|set)[A-Z]\w+\(", r"^\s*(public|def|func) \w+", r"TODO|FIXME", r"\b[a-z]+_[a-z]+\b =")
_WARM_UP = 3


@dataclass(frozen=True, slots=True)
class Pattern:
    """A literal, or a regular expression that both programs read alike."""

    text: str
    is_regex: bool


def measure_lines(source: Path, literals: int, rounds: int, work: Path) -> Mapping[str, Mapping[str, Sequence[float]]]:
    """Milliseconds of each search, by the kind of the pattern and the program.

    Literals are words of the files, drawn with a fixed seed. ripgrep uses one thread, and reads the files anew; its
    time includes that of the process. The index stays in `work` for the next run. Raises RuntimeError where ripgrep is
    not installed.
    """
    ripgrep = shutil.which("rg")
    if ripgrep is None:
        raise RuntimeError("rg is not on the PATH: install ripgrep")
    patterns = [
        *(Pattern(text, False) for text in _words(source, literals)),
        *(Pattern(text, True) for text in _REGEXES),
    ]
    milliseconds: dict[str, dict[str, list[float]]] = {
        kind: {GROUNDWIRE: [], RIPGREP: []} for kind in ("literals", "regular expressions")
    }
    data = work / f"index-{source.resolve().name}"
    scope = update_index(source, "bench", data, "none")
    with running(serve_command(data), work / "serve.log") as server, GroundwireClient(server.address) as client:
        for number in range(rounds + _WARM_UP):
            for pattern in patterns:
                started = time.perf_counter()
                client.search_text(scope, pattern.text, regex=pattern.is_regex, max_matches=_MOST_MATCHES)
                answered = time.perf_counter()
                _run_ripgrep(ripgrep, pattern, source)
                ended = time.perf_counter()
                if number >= _WARM_UP:
                    times = milliseconds["regular expressions" if pattern.is_regex else "literals"]
                    times[GROUNDWIRE].append((answered - started) * 1000.0)
                    times[RIPGREP].append((ended - answered) * 1000.0)
    return milliseconds


def grid(milliseconds: Mapping[str, Mapping[str, Sequence[float]]], title: str) -> Grid:
    """Medians and 95th percentiles, and the ratio of the medians to ripgrep's."""
    rows = []
    for kind, by_program in milliseconds.items():
        base = median(by_program[RIPGREP])
        for program, times in by_program.items():
            middle = median(times)
            rows.append(
                [f"{kind}: {program}", f"{middle:.1f}", f"{quantiles(times, n=20)[-1]:.1f}", f"{middle / base:.2f}"]
            )
    return Grid(title, ["search", "median ms", "p95 ms", "relative to ripgrep"], rows)


def _words(source: Path, count: int) -> list[str]:
    """Words of some files of a tree."""
    draw = random.Random(_SEED)
    files = sorted(path for path in source.rglob("*") if path.is_file() and not path.is_symlink())
    words: list[str] = []
    while len(words) < count:
        text = draw.choice(files).read_text(encoding="utf-8", errors="ignore")
        if words_of_file := _WORD.findall(text):
            words.append(draw.choice(words_of_file))
    return words


def _run_ripgrep(ripgrep: str, pattern: Pattern, source: Path) -> None:
    flags = ["--threads", "1", "--line-number", "--column", "--no-messages"]
    kind = [] if pattern.is_regex else ["--fixed-strings"]
    command = [ripgrep, *flags, *kind, "--regexp", pattern.text, str(source)]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
