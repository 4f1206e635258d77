"""The system-wide token counter: how many tokens of a budget a text takes.

The vocabularies are part of the package and are checked by hash; nothing is ever downloaded, and nothing outside the
package is read or written.
"""

import functools
import hashlib
from binascii import a2b_base64
from dataclasses import dataclass
from pathlib import Path

import tiktoken

DEFAULT_ENCODING = "o200k_base"

PIECE_LENGTH = 100_000
"""Characters that are tokenised at once; a longer text is counted as the sum over such pieces.

The pattern matcher behind tiktoken overflows its stack on very long runs (a million spaces, for one). Texts of up to
this length are counted exactly; each further piece may add a token or two at its border.
"""

VOCABULARIES = Path(__file__).parent / "vocabularies"


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    """A vocabulary file, its hash, and the pattern that cuts text into words before the merges apply.

    File names and patterns are those of tiktoken; see `vocabularies/README.md`.
    """

    file_name: str
    sha256: str
    pattern: str


_KNOWN = {
    "o200k_base": _Vocabulary(
        file_name="fb374d419588a4632f3f557e76b4b70aebbca790",
        sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        pattern="|".join(
            (
                r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
                r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
                r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                r"\p{N}{1,3}",
                r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
                r"\s*[\r\n]+",
                r"\s+(?!\S)",
                r"\s+",
            )
        ),
    ),
    "cl100k_base": _Vocabulary(
        file_name="9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        pattern=r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    ),
}


class TokenCounterError(Exception):
    """The encoding is unknown, or its vocabulary file is missing or not the one expected; says what to do."""


class TokenCounter:
    """Counts the tokens of texts in one encoding. Deterministic, and safe to share between threads.

    `name` is the encoding, `o200k_base` (the default) or `cl100k_base`. `fingerprint` changes whenever a count may
    change: it names the encoding, the vocabulary's SHA-256 and the piece length. The folder of vocabularies is that of
    the package.

    Raises TokenCounterError when the name is unknown or the vocabulary is missing or damaged.
    """

    def __init__(self, name: str = DEFAULT_ENCODING, vocabularies: Path = VOCABULARIES) -> None:
        if name not in _KNOWN:
            raise TokenCounterError(f"unknown token encoding {name!r}: use one of {', '.join(sorted(_KNOWN))}")
        self.name = name
        self.fingerprint = f"{name}:{_KNOWN[name].sha256}:{PIECE_LENGTH}"
        self._encoding = _encoding(name, vocabularies)

    def count(self, text: str) -> int:
        """The number of tokens of `text`. Markers such as `<|endoftext|>` are counted as ordinary text.

        A text longer than PIECE_LENGTH characters is counted piece by piece.
        """
        return sum(
            len(self._encoding.encode_ordinary(text[start : start + PIECE_LENGTH]))
            for start in range(0, len(text), PIECE_LENGTH)
        )


@functools.cache
def _encoding(name: str, vocabularies: Path) -> tiktoken.Encoding:
    """The encoding over a vocabulary in a folder; built once a process, since it takes a third of a second."""
    vocabulary = _KNOWN[name]
    content = _verified_content(vocabularies / vocabulary.file_name, vocabulary.sha256)
    # Tokens and ranks by turns.
    fields = content.split()
    ranks = dict(zip(map(a2b_base64, fields[::2]), map(int, fields[1::2]), strict=True))
    return tiktoken.Encoding(name, pat_str=vocabulary.pattern, mergeable_ranks=ranks, special_tokens={})


def _verified_content(path: Path, sha256: str) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise TokenCounterError(
            f"the token vocabulary {path} cannot be read ({error.strerror}): reinstall groundwire"
        ) from error
    actual = hashlib.sha256(content).hexdigest()
    if actual != sha256:
        raise TokenCounterError(
            f"the token vocabulary {path} is damaged (SHA-256 {actual}, expected {sha256}): reinstall groundwire"
        )
    return content
