"""Which texts are SQL scripts, whatever their files are named."""

import re

_BEFORE = r"(?:\s|--[^\n]*+(?:\n|\Z)|GO[ \t]*+\r?\n|/\*(?:[^*]|\*(?!/))*+\*/)*+"
"""Blanks, comments, and the ends of batches."""
_OBJECT = (
    r"TABLE|VIEW|PROC|PROCEDURE|FUNCTION|TRIGGER|SEQUENCE|SCHEMA|TYPE|GENERATOR|EXCEPTION|DATABASE|ROLE|USER|EXTENSION"
)
_INDEX = r"(?:(?:UNIQUE|CLUSTERED|NONCLUSTERED)\s++)*+INDEX"
_NAME = r"[\w\"`\[]"
_SCRIPT = re.compile(
    rf"{_BEFORE}(?:"
    rf"(?:CREATE|ALTER|DROP)\s++(?:OR\s++(?:REPLACE|ALTER)\s++)?+(?:(?:{_OBJECT})|{_INDEX})\s++{_NAME}"
    rf"|INSERT\s++INTO\s++{_NAME}|DELETE\s++FROM\s++{_NAME}|UPDATE\s++[\w.\"`\[\]]++\s++SET\s"
    r"|SET\s++(?:ANSI_NULLS|QUOTED_IDENTIFIER|NOCOUNT|XACT_ABORT|TERM)\s"
    r"|IF\s++(?:NOT\s++)?+EXISTS\s*+\("
    r")",
    re.IGNORECASE,
)


def is_sql_script(text: str) -> bool:
    """True if the first statement of the text, after blanks and comments, is one of SQL that changes something."""
    return _SCRIPT.match(text) is not None
