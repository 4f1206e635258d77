"""The rules of SearchText (see `groundwire.v1`)."""

from groundwire_server.domain.errors import Reason
from groundwire_server.domain.limits import MAX_CONTEXT_LINES, MAX_PATTERN_CHARS, MAX_TEXT_MATCHES
from groundwire_server.domain.search.validation import check_filter
from groundwire_server.domain.text_search.text_search import TextSearchRequest
from groundwire_server.domain.validation import Violations, check_scopes


def check_text_search(request: TextSearchRequest) -> None:
    """Checks all but the syntax of the pattern. Raises InvalidRequestError."""
    violations = Violations(request.broken)
    check_scopes(request, violations)
    check_filter(request.filter, violations)
    if not request.pattern:
        violations.require("pattern", "give the text or the regular expression to look for")
    elif len(request.pattern) > MAX_PATTERN_CHARS:
        violations.bound_length("pattern", request.pattern, MAX_PATTERN_CHARS)
    elif "\0" in request.pattern:
        violations.add("pattern", Reason.VALUE_MALFORMED, "holds a NUL character, which no text has; drop it")
    elif "\n" in request.pattern and not request.multiline:
        rule = "has a line break, and lines are searched one by one; set `multiline`"
        violations.add("pattern", Reason.VALUE_MALFORMED, rule)
    violations.bound_required("max_matches", request.max_matches, 1, MAX_TEXT_MATCHES)
    violations.bound("context_lines", request.context_lines, 0, MAX_CONTEXT_LINES)
    violations.raise_any()
