"""What a call costs with this source tree beside another one, such as a worktree of an earlier commit.

    git worktree add /tmp/earlier COMMIT
    python -m bench.trees /tmp/earlier --out results

Each tree builds its own index of the same corpus and serves it; both run on the packages of this environment.
"""

import argparse
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import yaml

from bench.adapters.protocol import Scenario
from bench.speed.calls import Calls
from bench.speed.in_turn import ask_in_turn, print_spent
from bench.speed.programs import python_path, running, serve_command
from bench.speed.synthesis import Shape, write_corpus

SHAPE = Shape(20_000, policy_classes=1_000)
SCENARIOS = (Scenario("expand"), Scenario("fetch"), Scenario("bm25"), Scenario("semantic"), Scenario("query"))
_THIS_TREE = Path(__file__).parents[1]
_BUILD = """
import sys
from pathlib import Path
from bench.speed.index import ensure_index
from bench.speed.synthesis import Shape, write_corpus
print(ensure_index(write_corpus(Path(sys.argv[1]), Shape(int(sys.argv[2]), policy_classes=int(sys.argv[3])))))
"""


def main() -> None:
    """Runs the measurement and prints its tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path, help="the other tree, the base of the ratios")
    parser.add_argument("--out", type=Path, required=True, help="the folder for corpora, indexes and logs")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--calls", type=int, default=300, help="calls of each kind and server in a round")
    parser.add_argument("--clients", type=int, default=4, help="at least 2, which ask at the same time")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    records = {"audit": "on", "audit_file": str(arguments.out / "audit.jsonl")}
    variants: tuple[tuple[str, Path, dict[str, str]], ...] = (
        ("the other tree", arguments.tree, {}),
        ("this tree", _THIS_TREE, {}),
        ("this tree, with an audit", _THIS_TREE, records),
    )
    with ExitStack() as stack:
        servers = {
            name: stack.enter_context(
                running(
                    _serve(tree, _index(tree, arguments.out), settings, arguments.out / f"tree-{number}.yaml"),
                    arguments.out / f"tree-{number}.log",
                )
            )
            for number, (name, tree, settings) in enumerate(variants)
        }
        corpus = write_corpus(arguments.out / "this", SHAPE)
        requests = {scenario: Calls(corpus).requests(scenario) for scenario in SCENARIOS}
        spent = ask_in_turn(servers, requests, arguments.rounds, arguments.calls, arguments.clients)
    for scenario, of_scenario in spent.items():
        print_spent(scenario, of_scenario)


def _serve(tree: Path, data: Path, settings: dict[str, str], config: Path) -> list[str]:
    config.write_text(yaml.safe_dump(settings), encoding="utf-8")
    return ["env", f"PYTHONPATH={python_path(tree)}", *serve_command(data, ("--config", str(config)))]


def _index(tree: Path, out: Path) -> Path:
    """The data folder that a tree has built, of the same corpus for every tree."""
    folder = out / ("this" if tree == _THIS_TREE else "other")
    sizes = (str(SHAPE.nodes), str(SHAPE.policy_classes))
    done = subprocess.run(
        [sys.executable, "-c", _BUILD, str(folder.resolve()), *sizes],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": python_path(tree)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return Path(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
