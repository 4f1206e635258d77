"""Finding one's way among SQL tokens: without comments, inside dollar quotes, around parentheses."""

from collections.abc import Sequence

from groundwire_ingest.tree.sql.lexer import Dialect, Kind, Token, tokenize

_DEPTH = {"(": 1, ")": -1}


def keyword_set(words: str) -> frozenset[str]:
    """The words of a space-separated list."""
    return frozenset(words.split())


def code_tokens(text: str, dialect: Dialect, start: int = 0, end: int | None = None) -> list[Token]:
    """The tokens of `text[start:end]` without its comments; their offsets count from the start of `text`."""
    return [
        Token(token.kind, token.keyword, token.start + start, token.end + start)
        for token in tokenize(text[start:end], dialect)
        if token.kind is not Kind.COMMENT
    ]


def dollar_body_tokens(text: str, body: Token, dialect: Dialect) -> list[Token]:
    """The tokens inside a dollar-quoted `body`, with the offsets that they have in `text`."""
    tag_length = text.index("$", body.start + 1) + 1 - body.start
    return code_tokens(text, dialect, body.start + tag_length, body.end - tag_length)


def depth_change(token: Token) -> int:
    """1 for an opening parenthesis, -1 for a closing one, 0 for every other token."""
    return _DEPTH.get(token.keyword, 0)


def closing_parenthesis(code: Sequence[Token], opening: int) -> int:
    """The index of the parenthesis that closes the one at `opening`; the length of `code` when none does."""
    depth = 0
    for index in range(opening, len(code)):
        depth += depth_change(code[index])
        if depth == 0:
            return index
    return len(code)


def keyword_outside(code: Sequence[Token], start: int, keywords: frozenset[str]) -> int:
    """The index of the first of `keywords` from `start` on, outside parentheses; the length of `code` without one."""
    depth = 0
    for index in range(start, len(code)):
        depth += depth_change(code[index])
        if depth <= 0 and code[index].keyword in keywords:
            return index
    return len(code)


def keyword_at(code: Sequence[Token], index: int) -> str:
    """The keyword of the token at `index`; "" before the first and after the last."""
    return code[index].keyword if 0 <= index < len(code) else ""
