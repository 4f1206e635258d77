"""The SQL dialect of a text: by syntax that only one dialect has, else by the dialect that parses it best."""

import re

from groundwire_ingest.tree.sql.lexer import Dialect, Kind, tokenize

EVIDENCE_CHARACTERS = 200_000
TRIED_STATEMENTS = 20
TRIED_CHARACTERS = 2_000

_FLAGS = re.IGNORECASE | re.MULTILINE
_EVIDENCE: dict[Dialect, tuple[tuple[int, re.Pattern[str]], ...]] = {
    dialect: tuple((weight, re.compile(pattern, _FLAGS)) for weight, pattern in patterns)
    for dialect, patterns in {
        Dialect.TSQL: (
            (4, r"^[ \t]*GO[ \t]*+\d*+[ \t]*+;?[ \t]*+\r?$"),
            (3, r"\[\w[\w ]*\]\.\[|(?:FROM|JOIN|INTO|TABLE|PROC|PROCEDURE|VIEW)\s+\[\w"),
            (2, r"\bdbo\."),
            (2, r"\bNVARCHAR\b|\bUNIQUEIDENTIFIER\b|\bDATETIME2\b|\bDATETIMEOFFSET\b"),
            (2, r"\bIDENTITY\s*\(\s*\d|\bNONCLUSTERED\b|\bPRIMARY\s+KEY\s+CLUSTERED\b"),
            (3, r"\bDECLARE\s+@\w|\bSET\s+NOCOUNT\b|\bWITH\s*\(\s*NOLOCK\b|@@\w"),
            (
                2,
                r"\bGETDATE\s*\(|\bSCOPE_IDENTITY\s*\(|\bsp_\w+|\bRAISERROR\b|\bOBJECT_ID\s*\(|\bISNULL\s*\([^,\n]{0,200},",
            ),
            (1, r"\bTOP\s*+(?:\(\s*)?\d|\bN'|\bCREATE\s+PROC\b|\bEXEC\s|[\s(,=]@\w"),
        ),
        Dialect.POSTGRES: (
            (3, r"\$\w*\$"),
            (3, r"\bLANGUAGE\s+'?(?:plpgsql|sql)\b|\bRETURNS\s+(?:SETOF|TRIGGER|VOID)\b"),
            (
                2,
                r"\b(?:BIG|SMALL)?SERIAL\b|\w::\w|\)::\w|'::\w|\bcharacter\s+varying\b|\bGENERATED\s+(?:ALWAYS|BY\s+DEFAULT)\s+AS\s+IDENTITY",
            ),
            (2, r"\bTIMESTAMPTZ\b|\bJSONB\b|\bBYTEA\b|\bTEXT\s*\[\]|\bnextval\s*\(|\bwith(?:out)?\s+time\s+zone\b"),
            (2, r"\bOWNER\s+TO\b|\bCREATE\s+EXTENSION\b|\bpg_\w+|^\\\w"),
            (3, r"^COPY\s.*\bFROM\s+stdin\b"),
            (1, r"\bILIKE\b|\bRETURNING\b|\bpublic\.|\bON\s+CONFLICT\b|\$\d"),
        ),
        Dialect.MYSQL: (
            (6, r"^[ \t]*DELIMITER[ \t]+\S"),
            (3, r"`\w[^`\n]*`"),
            (3, r"\bENGINE\s*=|\bAUTO_INCREMENT\b|/\*!\d"),
            (2, r"^\#(?:\s|$)"),
            (2, r"\bON\s+DUPLICATE\s+KEY\b|\b(?:TINY|SMALL|MEDIUM|BIG)?INT\s*\(\d+\)|\bUNSIGNED\b"),
        ),
        Dialect.GENERIC: (
            (4, r"\bAUTOINCREMENT\b|^[ \t]*PRAGMA\s|\bsqlite_\w"),
            (4, r"\bN?VARCHAR2\s*\(|\bSYSDATE\b|\bNVL\s*\(|\w\.NEXTVAL\b|^/[ \t]*\r?$"),
        ),
    }.items()
}
_LITERALS = re.compile(r"'[^']*(?:'|\Z)|--[^\n]*|/\*(?!!).*?(?:\*/|\Z)", re.DOTALL)
MINIMUM_EVIDENCE = 2


def detect_dialect(text: str) -> Dialect:
    """The dialect that `text` gives evidence of, else the one in which sqlglot parses most of its first statements.

    GENERIC when no dialect parses more of the first TRIED_STATEMENTS than the others.
    """
    head = text[:EVIDENCE_CHARACTERS]
    evident = evident_dialect(head)
    if evident is not None:
        return evident
    statements = _first_statements(head)
    parsed = {dialect: sum(_parses(statement, dialect) for statement in statements) for dialect in Dialect}
    return _only_best(parsed) or Dialect.GENERIC


def evident_dialect(text: str) -> Dialect | None:
    """The dialect with the most evidence in `text`, its comments and strings left out; GENERIC for SQLite and Oracle.

    None with less than MINIMUM_EVIDENCE, or when two dialects have the same.
    """
    searched = _LITERALS.sub("''", text)
    scores = {
        dialect: sum(weight for weight, pattern in patterns if pattern.search(searched))
        for dialect, patterns in _EVIDENCE.items()
    }
    best = _only_best(scores)
    return best if best is not None and scores[best] >= MINIMUM_EVIDENCE else None


def _only_best(scores: dict[Dialect, int]) -> Dialect | None:
    """The dialect whose score is greater than every other's; None when there is no such one."""
    best = max(scores.values())
    leaders = [dialect for dialect, score in scores.items() if score == best]
    return leaders[0] if len(leaders) == 1 and best > 0 else None


def _first_statements(head: str) -> list[str]:
    """The first statements as `;` ends them, the overlong ones left out."""
    ends = [token.start for token in tokenize(head, Dialect.GENERIC) if token.kind is Kind.TERMINATOR] or [len(head)]
    pieces = [head[start:end].strip() for start, end in zip([0, *(end + 1 for end in ends)], ends, strict=False)]
    return [piece for piece in pieces[:TRIED_STATEMENTS] if 0 < len(piece) <= TRIED_CHARACTERS]


def _parses(statement: str, dialect: Dialect) -> bool:
    from groundwire_ingest.tree.sql.parse import NotParsedError, parse_statement

    try:
        parse_statement(statement, dialect)
    except NotParsedError:
        return False
    return True
