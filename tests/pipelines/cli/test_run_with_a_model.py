"""`groundwire run` of pipelines that ask a model: what the terminal is told, and whose sessions are kept."""

import errno
import os
import re
import subprocess
import sys
from pathlib import Path

from support import programs
from support.openai_server import Reply, scripted_server
from support.run_command import run
from support.terminal import screen

if sys.platform != "win32":
    import pty

ASKS_A_MODEL = """
pipeline:
  name: asks
  settings: {entry_step_id: ask, max_turn_loops: 0, repository: shop, branch: main}
  steps:
    - {id: ask, action: call_model, prompt: say, protocol: answer, output: answer, variables: [repository], next: read}
    - {id: read, action: handle_prefix, protocol: answer, on_answer: end, on_request: guard}
    - {id: guard, action: loop_guard, on_continue: ask, on_limit: end}
    - {id: end, action: finalize}
"""
ASKS_AGAIN = """
pipeline:
  name: again
  settings: {entry_step_id: ask, repository: shop, branch: main, max_turn_loops: 1}
  steps:
    - {id: ask, action: call_model, prompt: say, protocol: answer, output: answer, variables: [repository], next: read}
    - {id: read, action: handle_prefix, protocol: answer, on_answer: end, on_request: guard}
    - {id: guard, action: loop_guard, on_continue: ask, on_limit: end}
    - {id: end, action: finalize}
"""


def test_a_pipeline_that_asks_a_model_says_how_to_name_one(tmp_path: Path, address: str) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "say.md").write_text("{{repository}}", encoding="utf-8")
    (tmp_path / "asks.yaml").write_text(ASKS_A_MODEL, encoding="utf-8")
    result = run(tmp_path / "asks.yaml", "tax", "--not-english", address=address)
    assert result.exit_code == 1
    assert "error: model-missing: step 'ask':" in result.stderr
    assert "GROUNDWIRE_MODEL_URL" in result.stderr


THOUGHT = "<think>a secret [Answer:] of mine</think>"
ON_A_TERMINAL: list[tuple[list[Reply], int, str]] = [
    ([Reply(f"{THOUGHT}[Answer:] VAT is\na tax.")], 1, "VAT is\na tax.\n"),
    ([Reply("[Requesting data on:] a secret"), Reply("[Answer:] VAT")], 2, "VAT\n"),
    ([Reply("[Answer:] a secret that breaks off", breaks_off=True)], 1, "(the stream broke off)\n"),
    ([Reply("[Answer:] a secret that is too long", finish="length")], 1, "of its answer (length)\n"),
    # A second answer with a prefix in it quotes the prefix.
    ([Reply("[Answer:] a secret\n[Answer:] twice"), Reply("[Answer:] VAT\n[Answer:] x")], 1, "VAT\n[Answer:] x\n"),
    ([Reply("[Answer:] a secret\n[Answer:] twice"), Reply("[Answer:] VAT")], 1, "VAT\n"),
    ([Reply("a secret without its prefix"), Reply("[Answer:] VAT")], 1, "VAT\n"),
    ([Reply("a secret without its prefix")] * 2, 1, "[Answer:] or [Requesting data on:], spelt exactly so\n"),
    ([Reply(THOUGHT)] * 2, 1, "the model answered with nothing\n"),
]
"""What a model replies in a run, how often the step `ask` runs, and what the terminal is told last."""


def test_a_terminal_gets_answers_and_never_what_is_refused(tmp_path: Path, address: str) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "say.md").write_text("{{repository}}", encoding="utf-8")
    (tmp_path / "again.yaml").write_text(ASKS_AGAIN, encoding="utf-8")
    with scripted_server([reply for replies, _, _ in ON_A_TERMINAL for reply in replies]) as server:
        model = {"GROUNDWIRE_MODEL_URL": server.url, "GROUNDWIRE_MODEL_NAME": "scripted"}
        screens = on_a_terminal(["run", str(tmp_path / "again.yaml"), "tax", "--server", address], model)
    for (_, asks, last), shown in zip(ON_A_TERMINAL, screens, strict=True):
        assert shown.endswith(last)
        lines = shown.removesuffix(last).splitlines()
        failed = lines[-1].startswith("error: ")
        # Every line before is that of a step, whole: no answer, no moving line and no other step stands on it.
        steps = [line.split()[1] for line in (lines[:-1] if failed else lines) if re.fullmatch(r"[+!] \S+ .* s", line)]
        assert (steps.count("ask"), steps[0]) == (asks, "ask")
        assert len(steps) == len(lines) - failed


def on_a_terminal(arguments: list[str], environment: dict[str, str]) -> list[str]:
    """What a terminal, as standard output and error in one, shows after each run of the command.

    Nothing that was told in between, and is not to be seen any more, may hold a secret either.
    """
    leader, follower = pty.openpty()
    variables = programs.variables(**environment, TERM="xterm", COLUMNS="250")
    command = programs.command("run_repeatedly", len(ON_A_TERMINAL), *arguments)
    with subprocess.Popen(command, stdin=follower, stdout=follower, stderr=follower, env=variables) as process:
        os.close(follower)
        written = b"".join(iter(lambda: read_if_open(leader), b"")).decode()
    os.close(leader)
    assert process.returncode == 0, written
    assert "secret" not in written
    return "\n".join(screen(written)).split("=====\n")[:-1]


def read_if_open(descriptor: int) -> bytes:
    """The next bytes; none once the other side is closed, which Linux tells as an error."""
    try:
        return os.read(descriptor, 4096)
    except OSError as error:
        if error.errno == errno.EIO:
            return b""
        raise


REMEMBERS = """
pipeline:
  name: remembers
  settings: {entry_step_id: translate, max_turn_loops: 0, repository: shop, branch: main, max_history_tokens: 1000}
  steps:
    - {id: translate, action: translate_in_if_needed, prompt: translate, next: load}
    - {id: load, action: load_conversation_history, prompt: shorten, next: ask}
    - {id: ask, action: call_model, prompt: say, protocol: answer, output: answer, variables: [history], next: read}
    - {id: read, action: handle_prefix, protocol: answer, on_answer: end, on_request: guard}
    - {id: guard, action: loop_guard, on_continue: ask, on_limit: end}
    - {id: end, action: persist_turn_and_finalize}
"""


def test_a_session_is_that_of_the_user_who_is_logged_in_unless_one_is_named(tmp_path: Path, address: str) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "say.md").write_text("{{history}}", encoding="utf-8")
    shorten = "{{question}} {{history}} {{max_tokens}} {{correction}}"
    (tmp_path / "prompts" / "translate.md").write_text("{{question}}", encoding="utf-8")
    (tmp_path / "prompts" / "shorten.md").write_text(shorten, encoding="utf-8")
    (tmp_path / "remembers.yaml").write_text(REMEMBERS, encoding="utf-8")
    talk = (tmp_path / "remembers.yaml", "what next?", "--session", "talk", "--history", tmp_path / "history.sqlite")
    runs = [("ann", ()), ("bob", ()), ("ann", ()), ("bob", ("--user", "ann")), ("bob", ("--user", ""))]
    with scripted_server([Reply(f"[Answer:] secret {number}") for number in range(len(runs))]) as server:
        for login, flags in runs:
            model = {"GROUNDWIRE_MODEL_URL": server.url, "GROUNDWIRE_MODEL_NAME": "scripted", "LOGNAME": login}
            result = run(*talk, *flags, address=address, **model)
            assert (result.exit_code, "warning: " in result.stderr) == (0, False)
        seen = [[number for number in range(5) if f"secret {number}" in prompt] for prompt in server.prompts]
    assert seen == [[], [], [0], [0, 2], [1]]
