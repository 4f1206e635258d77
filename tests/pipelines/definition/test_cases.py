"""Every file of `cases/` ends with comments that say what loading it tells: `# ok`, `# warning: ...`, `# error: ...`.

A place is `line:` in the file itself and `other.yaml:line:` in another; LIBRARY stands for the library's folder.
"""

from pathlib import Path

import pytest

from groundwire_pipelines.definition.search_path import LIBRARY
from groundwire_pipelines.errors import DefinitionError
from groundwire_pipelines.loading import load_pipeline
from support.small_registry import SMALL_REGISTRY

CASES = Path(__file__).parent / "cases"
NAMES = sorted(path.stem for path in CASES.glob("*.yaml"))
# Which pipeline to load of a file that holds several.
PARTS = {"ok_several_in_a_file": "#child", "extends_in_a_circle": "#a"}


def expected(name: str) -> list[str]:
    lines = (CASES / f"{name}.yaml").read_text().splitlines()
    return [line[2:] for line in lines if line.startswith(("# ok", "# warning: ", "# error: "))]


def messages_of(name: str) -> list[str]:
    try:
        definition = load_pipeline(f"{CASES / name}.yaml{PARTS.get(name, '')}", (), {}, SMALL_REGISTRY)
    except DefinitionError as error:
        lines = [f"error: {problem}" for problem in error.problems]
    else:
        lines = [f"warning: {warning}" for warning in definition.warnings] or ["ok"]
    lines = [line.replace(f"{CASES}/", "").replace(str(LIBRARY), "LIBRARY") for line in lines]
    return [line.replace(f": {name}.yaml:", ": ", 1) for line in lines]


@pytest.mark.parametrize("name", NAMES)
def test_loading_tells_what_the_case_says(name: str) -> None:
    assert expected(name)
    assert messages_of(name) == expected(name)


def test_the_table_is_long_and_has_good_and_bad_files() -> None:
    good = [name for name in NAMES if expected(name) == ["ok"]]
    assert len(good) >= 10
    assert len(NAMES) - len(good) >= 60
