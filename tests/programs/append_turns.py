"""Appends turns to a history, and prints the number of each that is kept: `append_turns PATH SESSION TURNS`."""

import asyncio
import sys
from pathlib import Path

from groundwire_pipelines.history.sqlite import SqliteHistory
from groundwire_pipelines.runtime import Turn


async def append(path: Path, session: str, turns: int) -> None:
    history = SqliteHistory(path)
    for number in range(turns):
        await history.append("ann", session, Turn(str(number), "", "", ""))
        print(number, flush=True)


asyncio.run(append(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
