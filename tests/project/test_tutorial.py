"""The commands of the tutorial and of the README, run as they are written: each ends well and prints what is shown."""

import asyncio
import json
import os
import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from project.tools import BIN, ROOT

pytestmark = pytest.mark.slow

FENCED = re.compile(r'^(`{3,})(\w+)(?: title="([^"\n]+)")?\n(.*?)^\1$', re.DOTALL | re.MULTILINE)
VERSION = re.compile(r"\d{4}-\d\d-\d\d_[\d.]+\d")
END = "end of the command: "


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tutorial")


@pytest.fixture
def port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@pytest.fixture
def shell(folder: Path, port: int) -> Iterator["subprocess.Popen[str]"]:
    """A shell in the folder, in which `groundwire serve` listens at the port."""
    (folder / "serve.log").unlink(missing_ok=True)
    environment = {
        **os.environ,
        "PATH": os.pathsep.join((str(BIN), os.environ["PATH"])),
        "GROUNDWIRE_LISTEN": f"127.0.0.1:{port}",
        "GROUNDWIRE_SERVER": f"localhost:{port}",
        "COLUMNS": "80",
    }
    with subprocess.Popen(
        ["bash"],
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        yield process
        process.communicate("kill $(jobs -p)\n")


def output_of(shell: "subprocess.Popen[str]", command: str) -> str:
    """What a command prints; one that fails is an error."""
    assert shell.stdin is not None
    assert shell.stdout is not None
    shell.stdin.write(f"{command}\necho {END}$?\n")
    shell.stdin.flush()
    lines: list[str] = []
    while not (line := shell.stdout.readline()).startswith(END):
        assert line, f"{command}: the shell ended: {''.join(lines)}"
        lines.append(line)
    assert line == f"{END}0\n", f"{command}: {''.join(lines)}"
    return "".join(lines)


def commands(block: str) -> Iterator[tuple[str, str]]:
    """The commands of a block, those after `$`, each with what it prints."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, printed = part.partition("\n")
        yield command, printed


def is_shown(printed: str, shown: str) -> bool:
    """Whether a text is the one that is shown, where `...` is any text and versions have other names."""
    pattern = ".*".join(map(re.escape, VERSION.sub("VERSION", shown).strip().split("...")))
    return re.fullmatch(pattern, VERSION.sub("VERSION", printed).strip(), re.DOTALL) is not None


def blocks(document: str, port: int) -> Iterator[tuple[str, str, str]]:
    """The language, the title and the content of each block of a document, with the server at another port."""
    text = (ROOT / document).read_text(encoding="utf-8")
    for host in ("localhost", "127.0.0.1"):
        text = text.replace(f"{host}:50051", f"{host}:{port}")
    for _, language, title, content in FENCED.findall(text):
        yield language, title, content


def check_commands(shell: "subprocess.Popen[str]", block: str) -> None:
    for command, shown in commands(block):
        # The environment and its packages are those of the test run.
        if not command.startswith(("python3 -m venv", "pip install")):
            printed = output_of(shell, command)
            assert not shown or is_shown(printed, shown), f"{command} prints:\n{printed}"
        if command.startswith("groundwire serve"):
            output_of(shell, "until grep --quiet --no-messages listening serve.log; do sleep 0.1; done")


def test_the_tutorial(folder: Path, shell: "subprocess.Popen[str]", port: int) -> None:
    for language, title, block in blocks("docs/index.md", port):
        if title:
            file = folder / title
            file.parent.mkdir(exist_ok=True)
            file.write_text(block, encoding="utf-8")
        elif language == "console":
            check_commands(shell, block)
        if title == ".mcp.json":
            assert "def get_signing_serializer" in asyncio.run(agent_answer(json.loads(block), folder))


def test_the_first_screen_of_the_readme(folder: Path, shell: "subprocess.Popen[str]", port: int) -> None:
    """After the tutorial: its sources and embeddings are used again."""
    (_, _, first), (_, _, python), *_ = blocks("README.md", port)
    check_commands(shell, first)
    shown = "\n".join(line.removeprefix("# ") for line in python.splitlines() if line.startswith("# "))
    assert shown == output_of(shell, f"python -c {shlex.quote(python)}").strip()


async def agent_answer(configuration: dict[str, dict[str, dict[str, object]]], folder: Path) -> str:
    """What an agent of this configuration gets for a question."""
    server = StdioServerParameters.model_validate(configuration["mcpServers"]["groundwire"])
    server.cwd, server.env = folder, {**os.environ, "PATH": os.pathsep.join((str(BIN), os.environ["PATH"]))}
    async with stdio_client(server, errlog=sys.stderr) as streams, ClientSession(*streams) as session:
        await session.initialize()
        result = await session.call_tool("ask", {"query": "how is a session cookie signed?"})
        return str(result.content[0])
