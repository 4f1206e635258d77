"""The baseline: BM25 over the unprocessed files, in chunks of 40 lines."""

from collections.abc import Callable, Sequence
from pathlib import Path

import bm25s

from bench.repositories.places import Piece

LINES = 40


def chunks_of(source: Path, size: int = LINES) -> list[Piece]:
    """Every file that is UTF-8 and not blank, cut into chunks of `size` lines, by path."""
    chunks = []
    for path in sorted(path for path in source.rglob("*") if path.is_file()):
        try:
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        except UnicodeDecodeError:
            continue
        name = path.relative_to(source).as_posix()
        texts = ("".join(lines[start : start + size]) for start in range(0, len(lines), size))
        chunks += [Piece(name, "", text) for text in texts if text.strip()]
    return chunks


def bm25_ranking(chunks: Sequence[Piece], depth: int) -> Callable[[str], list[Piece]]:
    """Ranks the chunks for a question, best first, with bm25s' default tokeniser and parameters."""
    index = bm25s.BM25()
    index.index(bm25s.tokenize([chunk.text for chunk in chunks], show_progress=False), show_progress=False)

    def ranking(text: str) -> list[Piece]:
        words = bm25s.tokenize([text], show_progress=False)
        numbers, _ = index.retrieve(words, k=min(depth, len(chunks)), show_progress=False)
        return [chunks[number] for number in numbers[0]]

    return ranking
