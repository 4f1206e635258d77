"""A folder of source code, indexed and served by this process for as long as one program needs it."""

import asyncio
import hashlib
import os
import secrets
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from groundwire_cli.options import reporting_failures
from groundwire_index.embedding.model_names import DEFAULT_MODEL, NO_EMBEDDER
from groundwire_index.scope import name_problem

if TYPE_CHECKING:
    from groundwire_server.backends.index_directory import IndexDirectory
    from groundwire_server.config import Settings
    from groundwire_server.engine.engine import RetrievalEngine
    from groundwire_server.rpc.serving.server import GroundwireServer

_BUILD_MODULE = "groundwire_cli.folder_index"  # a program of its own: a server loads nothing that only builds
_NEEDED = ("numpy", "pydantic_settings", "tree_sitter")
"""The module that shows whether the extra is installed."""


@dataclass(slots=True)
class FolderServer:
    """A folder as a scope of a server, and how far its start and its first build are."""

    folder: Path
    scope: tuple[str, str]
    token: str
    _start: "asyncio.Task[GroundwireServer]"
    _build: asyncio.subprocess.Process
    _told: str = field(default="", init=False)
    _failure: str = field(default="", init=False)
    _is_built: bool = field(default=False, init=False)
    _has_changed: bool = field(default=False, init=False)
    _why_unembedded: str = field(default="", init=False)

    async def listening(self) -> str:
        """The server's address, once it listens there. Raises ValueError when it cannot start."""
        return (await asyncio.shield(self._start)).address

    def pending(self) -> str:
        """Why there may be no index yet; empty once it is built."""
        if self._is_built:
            return ""
        if self._build.returncode is None and self._failure:
            return (
                f"the index of {self.folder} could not be built: {self._failure}: tell the user; it is tried again "
                "every 30 s, and when a file changes"
            )
        if self._build.returncode is None:
            progress = f" ({self._told})" if self._told else ""
            return f"the index of {self.folder} is being built{progress}: try again in 30 s"
        return f"the index of {self.folder} could not be built: {self._told}: tell the user"

    def notes(self) -> list[str]:
        """What a reader of results needs to know of an index that is there: sentences."""
        notes = []
        if self._is_built and self._failure:
            notes.append(f"The index cannot be brought up to date, which is tried again: {self._failure}.")
        if self._is_built and self._why_unembedded:
            notes.append(f"Search by meaning is not available, only by words: {self._why_unembedded}.")
        if self._is_built and self._has_changed:
            notes.append("Files have changed since this index was built; a newer one is being built.")
        return notes

    async def follow_build(self) -> None:
        """Notes when the folder is built, and passes on what the program that builds says, to its end."""
        assert self._build.stdout is not None
        telling = asyncio.create_task(self._tell())
        async for line in self._build.stdout:
            event, _, reason = line.decode(errors="replace").strip().partition(" ")
            if event == "READY":
                self._is_built = True
            elif event == "CHANGED":
                self._has_changed = True
            elif event == "CURRENT":
                self._has_changed = False
                self._failure = ""
            elif event == "FAILED":
                self._failure = reason
            elif event in ("EMBEDDED", "UNEMBEDDED"):
                self._why_unembedded = reason
        await telling
        await self._build.wait()

    async def _tell(self) -> None:
        assert self._build.stderr is not None
        async for line in self._build.stderr:
            self._told = line.decode(errors="replace").strip()
            sys.stderr.write(f"{self._told}\n")


@asynccontextmanager
async def serve_folder(folder: Path, cache: Path | None, embedder: str) -> AsyncIterator[FolderServer]:
    """Serves `folder` on a free port of this machine, and keeps the folder's index up to date.

    The indexes of all folders are kept in `cache`, which is in the user's cache folder unless given. Until there is
    one of this folder, calls end with NOT_FOUND; an earlier one answers until the new one is ready.

    Raises:
        typer.Exit: A library is missing, which standard error says.
        OSError: The folder of the indexes cannot be made.
    """
    with reporting_failures("index,mcp"):
        for library in _NEEDED:
            if find_spec(library) is None:
                raise ModuleNotFoundError(name=library)
    path = folder.resolve()
    data = (cache or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "groundwire").resolve()
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    scope, token, model = _scope_of(path), secrets.token_urlsafe(), embedder or DEFAULT_MODEL
    build = await asyncio.create_subprocess_exec(
        # -P: the working folder is often the one that is indexed, whose modules must not be imported.
        *(sys.executable, "-P", "-m", _BUILD_MODULE, path, data, *scope, model),
        stdin=asyncio.subprocess.PIPE,  # the build ends when this is closed, however this process ends
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    start = asyncio.create_task(_started(data, () if model == NO_EMBEDDER else (model,), token))
    served = FolderServer(path, scope, token, start, build)
    following = asyncio.create_task(served.follow_build())
    try:
        yield served
    finally:
        if build.returncode is None:
            build.terminate()
        await following
        with suppress(ValueError):
            await (await start).stop()


async def _started(data: Path, embedders: tuple[str, ...], token: str) -> "GroundwireServer":
    """A server that listens. Raises ValueError when it cannot."""
    from pydantic import SecretStr

    from groundwire_server.config import Settings, SettingsError

    token_file = os.environ.get("GROUNDWIRE_EMBEDDER_TOKEN_FILE")
    settings = Settings(
        data=data,
        listen="127.0.0.1:0",
        embedders=embedders,
        embedder_token=SecretStr(os.environ.get("GROUNDWIRE_EMBEDDER_TOKEN", "")),
        embedder_token_file=Path(token_file) if token_file else None,
        log_format="console",
        log_level="warning",
    )
    try:
        # Loading the libraries takes seconds, in which the event loop must answer.
        engine, indexes = await asyncio.to_thread(_composed, settings)
        from groundwire_server.rpc.identity.bearer_token import HolderOfToken
        from groundwire_server.rpc.serving.server import GroundwireServer

        server = GroundwireServer(settings, engine, indexes, authenticator=HolderOfToken(token))
        await server.start()
    except SettingsError as error:
        raise ValueError(str(error)) from error
    return server


def _composed(settings: "Settings") -> "tuple[RetrievalEngine, IndexDirectory]":
    from groundwire_server.rpc.serving.threads import bound_native_threads
    from groundwire_server.rpc.telemetry.logs import configure_logging

    bound_native_threads()
    configure_logging(settings.log_format, settings.log_level)
    # Not before: this loads the numeric libraries, which read their thread counts when they are loaded.
    from groundwire_server.rpc.serving.compose import compose

    return compose(settings)


def _scope_of(path: Path) -> tuple[str, str]:
    """The folder's name, and a branch that distinguishes folders of one name."""
    name = "folder" if name_problem(path.name) else path.name
    return name, hashlib.sha256(os.fsencode(path)).hexdigest()[:8]
