"""A name with a typo finds what bears the name, in an index of a standard library."""

import random
import shutil
import string
import sysconfig
from collections.abc import Iterator

import pytest

from groundwire_client import GroundwireClient, IndexScope
from support.program import Server, run_ok

pytestmark = pytest.mark.slow

SCOPE = IndexScope(repository="stdlib", branch="installed")
LEFT_OUT = (
    *("site-packages", "dist-packages", "__pycache__", "*.so", "config-*", "test", "tests"),
    *("distutils", "encodings", "ensurepip", "idlelib", "lib2to3", "pydoc_data", "turtledemo"),
)
NAMES = (
    "raw_decode",
    "JSONDecodeError",
    "OrderedDict.move_to_end",
    "ThreadPoolExecutor",
    "NamedTemporaryFile",
    "assertCountEqual",
    "get_close_matches",
    "create_connection",
    "is_relative_to",
    "parse_known_args",
    "run_coroutine_threadsafe",
    "getmembers_static",
    "HTTPBasicAuthHandler",
    "load_default_certs",
    "total_ordering",
)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GroundwireClient]:
    """A client of a server over the standard library of the running Python: 14,000 nodes.

    What is installed into it is left out, and of its own the tests, tables, old packages and programs.
    """
    folder = tmp_path_factory.mktemp("stdlib")
    tree = folder / "stdlib"
    shutil.copytree(sysconfig.get_path("stdlib"), tree, ignore=shutil.ignore_patterns(*LEFT_OUT))
    run_ok("index", tree, "-r", SCOPE.repository, "-b", SCOPE.branch, "--embedder", "none", "--data", folder / "data")
    with (
        Server(folder / "data", "--embedder", "none") as server,
        GroundwireClient(server.address, timeout=300) as connected,
    ):
        yield connected


def test_misspelt_names_are_found_among_the_first_three(client: GroundwireClient) -> None:
    generator = random.Random(5)
    for name in NAMES:
        for _ in range(4):
            misspelt = _misspelt(name, generator)
            symbols = [match.symbol for match in client.query(SCOPE, misspelt, top_k=3).matches]
            assert any(symbol == name or symbol.endswith(f".{name}") for symbol in symbols), (misspelt, symbols)


def _misspelt(name: str, generator: random.Random) -> str:
    """The name with a letter left out, doubled, replaced, or swapped with the next; never the first."""
    position = generator.randrange(1, len(name) - 1)
    before, here, after = name[:position], name[position], name[position + 1 :]
    return generator.choice(
        (before + after, before + here + here + after, before + generator.choice(string.ascii_lowercase) + after)
        + ((before + after[0] + here + after[1:],) if here != after[0] else ())
    )
