"""Blocks of extension members in C#, `extension(string text) { ... }`, which the grammar does not know."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from groundwire_ingest.tree.code_facts import Parameter
from groundwire_ingest.tree.languages.types import type_text

_OPENING = re.compile(
    rb"(?<=[{};])((?:\s|//[^\n]*\n|/\*[^*]*\*/)*+)"
    rb"(extension\s*(?:<(?P<types>[^<>(){};]{1,200})>\s*)?\((?P<receiver>[^(){};]{1,300})\)"
    rb"(?:\s*where\s[^{};]{1,300})?\s*\{)"
)
# What holds no braces of the code, and the braces.
_PIECE = re.compile(
    rb'"""(?:[^"]|"(?!""))*+(?:"""|\Z)|@"(?:[^"]|"")*+"?|"(?:[^"\\\n]|\\.)*+"?|'
    + rb"'(?:[^'\\\n]|\\.)*+'?|//[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)|[{}]"
)
_TEXT = re.compile(rb"[^\r\n]")
_RECEIVER = re.compile(
    r"(?:\[[^\]]*\]\s*+)*+(?:(?:ref|in|scoped|readonly)\s++)*+"
    r"(?P<type>\S.*?)(?<=\S)(?:\s++(?P<name>@?[^\W\d]\w*))?\s*+",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class ExtensionBlock:
    """The bytes inside of a block, what its members extend, and its own type parameters.

    The name of the receiver is empty where the block has only static members for a type.
    """

    start: int
    end: int
    receiver: Parameter
    type_parameters: tuple[str, ...]

    def holds(self, node: Node) -> bool:
        """True if a node is inside of the block."""
        return self.start <= node.start_byte and node.end_byte <= self.end


def extension_blocks(source: bytes) -> tuple[bytes, list[ExtensionBlock]]:
    """The source with blanks for the heads and the last braces of extension blocks, and the blocks.

    Their members then are members of the class around, as compilers make them.
    """
    blocks: list[ExtensionBlock] = []
    pieces: list[bytes] = []
    copied = 0
    for match in _OPENING.finditer(source):
        if match.start() < copied:
            continue
        end = _closing(source, match.end())
        if end is None:
            break
        pieces += [source[copied : match.start(2)], _TEXT.sub(b" ", match[2]), source[match.end() : end], b" "]
        copied = end + 1
        receiver = _receiver(match["receiver"].decode(errors="replace"))
        blocks.append(ExtensionBlock(match.end(), end, receiver, tuple(_names(match["types"] or b""))))
    return b"".join([*pieces, source[copied:]]), blocks


def _closing(source: bytes, start: int) -> int | None:
    """The offset of the brace that closes the one before `start`."""
    depth = 1
    for piece in _PIECE.finditer(source, start):
        depth += {b"{": 1, b"}": -1}.get(piece[0], 0)
        if depth == 0:
            return piece.start()
    return None


def _receiver(written: str) -> Parameter:
    match = _RECEIVER.fullmatch(written)
    return Parameter((match["name"] or "") if match else "", type_text(match["type"]) if match else "")


def _names(types: bytes) -> Iterator[str]:
    for name in types.decode(errors="replace").split(","):
        yield name.split()[-1] if name.split() else ""
