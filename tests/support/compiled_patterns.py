"""Prints, as JSON, each regular expression that the project compiles as its modules are imported, with its place."""

import importlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PACKAGES = (
    "groundwire_client",
    "groundwire_explore",
    "groundwire_index",
    "groundwire_ingest",
    "groundwire_mcp",
    "groundwire_pipelines",
    "groundwire_server",
)


def main() -> None:
    compiled: list[tuple[str, int, str, bool, int]] = []
    compile_as_always = re.compile

    def compile_and_note(pattern: Any, flags: int = 0) -> Any:
        made = compile_as_always(pattern, flags)
        frame = sys._getframe(1)
        text = made.pattern if isinstance(made.pattern, str) else made.pattern.decode("latin-1")
        compiled.append((frame.f_code.co_filename, frame.f_lineno, text, isinstance(made.pattern, bytes), made.flags))
        return made

    re.compile = compile_and_note
    folders = [folder for package in PACKAGES for folder in importlib.import_module(package).__path__]
    for path, name in (module for folder in folders for module in _modules(Path(folder))):
        if "re.compile(" in path.read_text(encoding="utf-8"):  # others may load what is large
            importlib.import_module(name)
    rows = [row for row in compiled if any(Path(row[0]).is_relative_to(folder) for folder in folders)]
    json.dump({"folders": folders, "compiled": rows}, sys.stdout)


def _modules(folder: Path) -> Iterator[tuple[Path, str]]:
    for path in sorted(folder.rglob("*.py")):
        yield path, ".".join(path.relative_to(folder.parent).with_suffix("").parts).removesuffix(".__init__")


if __name__ == "__main__":
    main()
