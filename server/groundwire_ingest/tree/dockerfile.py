"""The build stages of a Dockerfile: its FROM instructions, but no text that only looks like one."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MAX_NAME_CHARACTERS = 200

_INSTRUCTION = re.compile(r"\s*(?P<verb>[A-Za-z]+)(?P<rest>\s.*)?", re.DOTALL)
_STAGE = re.compile(r"\s*(?:--\S+\s+)*(?P<image>\S+)(?:\s+AS\s+(?P<name>\S+))?", re.IGNORECASE)
_HEREDOC = re.compile(r"<<-?\s*([\"']?)([A-Za-z_]\w*)\1")
_ESCAPE_DIRECTIVE = re.compile(r"\s*#\s*escape\s*=\s*`\s*", re.IGNORECASE)
_HEREDOC_VERBS = frozenset({"RUN", "COPY", "ADD"})


@dataclass(frozen=True, slots=True)
class Stage:
    """A build stage: the 1-based line of its FROM, the name after AS ("" without one), its base image.

    `instruction_lines` are the 1-based lines where its instructions begin.
    """

    line: int
    name: str
    image: str
    instruction_lines: tuple[int, ...]


def dockerfile_stages(lines: Sequence[str]) -> tuple[Stage, ...]:
    """The stages of a Dockerfile given as lines, in their order; none when it has no FROM."""
    instructions = list(_instructions(lines))
    froms = [index for index, (_, verb, _) in enumerate(instructions) if verb == "FROM"]
    stages: list[Stage] = []
    for first, end in zip(froms, [*froms[1:], len(instructions)], strict=False):
        line, _, rest = instructions[first]
        stage = _STAGE.match(rest)
        name, image = ((stage[group] or "")[:MAX_NAME_CHARACTERS] if stage else "" for group in ("name", "image"))
        stages.append(Stage(line, name, image, tuple(line for line, _, _ in instructions[first:end])))
    return tuple(stages)


def _instructions(lines: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """Line, verb and rest of each instruction, without comments, continued lines and the text of here-documents."""
    escape = "`" if any(_ESCAPE_DIRECTIVE.fullmatch(line) for line in lines[:1]) else "\\"
    is_continued = False
    open_documents: list[str] = []
    verb = ""
    for number, line in enumerate(lines, start=1):
        stripped = line.strip()
        if open_documents:
            if stripped == open_documents[0]:
                open_documents.pop(0)
            continue
        if stripped.startswith("#") or (is_continued and not stripped):
            continue
        match = _INSTRUCTION.match(line)
        if not is_continued and match is not None:
            verb = match.group("verb").upper()
            yield number, verb, match.group("rest") or ""
        if verb in _HEREDOC_VERBS:
            open_documents = [name for _, name in _HEREDOC.findall(line)]
        is_continued = stripped.endswith(escape)
