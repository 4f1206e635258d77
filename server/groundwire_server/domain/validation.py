"""The common part of all checks of requests: collecting broken rules, and the names of a scope.

The rules are those of the contract (protos/groundwire/v1), checked before anything is done.
Each action has its module: `search_validation`, `expansion_validation`, `texts_validation`, `query_validation`. Its
function raises InvalidRequestError with every broken rule of its request, the field's proto path first. The access that
a caller claims is not checked here: its source, and so its rules, depend on the server's configuration.
"""

import math
from collections.abc import Iterable, Sequence, Sized

from groundwire_index.scope import MAX_ID_LENGTH, Scope, name_problem, version_problem
from groundwire_server.domain.access.grants import is_pattern
from groundwire_server.domain.errors import FieldViolation, InvalidRequestError, Reason
from groundwire_server.domain.limits import MAX_SCOPES
from groundwire_server.domain.search.search import NodesRequest

MAX_VIOLATIONS = 10
MAX_FIELD_LENGTH = 100
MAX_DESCRIPTION_LENGTH = 300


class Violations:
    """Collects broken rules, so that a caller learns of several at once.

    Errors travel in HTTP/2 trailers, which peers limit to a few kilobytes. Therefore they have the first ten rules,
    each in at most 300 characters and its field in 100.
    """

    def __init__(self, violations: Iterable[FieldViolation] = ()) -> None:
        """`violations` were noted before, such as when the message was read."""
        self._noted: list[FieldViolation] = list(violations)

    @property
    def noted(self) -> tuple[FieldViolation, ...]:
        """What was noted."""
        return tuple(self._noted)

    def has(self, field: str) -> bool:
        """True if a rule of the field, or of a part of it, was broken: then no rule that reads it can be checked."""
        return any(
            violation.field == field or violation.field.startswith((f"{field}[", f"{field}."))
            for violation in self._noted
        )

    def add(self, field: str, reason: Reason, description: str) -> None:
        """Notes that `field` breaks a rule."""
        if len(self._noted) < MAX_VIOLATIONS:
            self._noted.append(FieldViolation(field[:MAX_FIELD_LENGTH], reason, description[:MAX_DESCRIPTION_LENGTH]))

    def require(self, field: str, what: str) -> None:
        """Notes that `field` is absent."""
        self.add(field, Reason.FIELD_REQUIRED, f"is required: {what}")

    def bound(self, field: str, value: int, lowest: int, highest: int) -> None:
        """Checks `lowest <= value <= highest`."""
        if not lowest <= value <= highest:
            self.add(field, Reason.VALUE_OUT_OF_RANGE, f"is {value}; give {lowest} to {highest}")

    def bound_required(self, field: str, value: int, lowest: int, highest: int) -> None:
        """Checks a number that is required and above 0, so that 0 is an absent one."""
        if value == 0:
            self.require(field, f"give {lowest} to {highest}")
        else:
            self.bound(field, value, lowest, highest)

    def bound_share(self, field: str, value: float) -> None:
        """Checks `0 <= value <= 1`; NaN is not."""
        if not 0.0 <= value <= 1.0:
            self.add(field, Reason.VALUE_OUT_OF_RANGE, f"is {exact(value)}; give 0 to 1")

    def bound_count(self, field: str, values: Sized, highest: int) -> None:
        """Checks that a list or map is not too long."""
        if len(values) > highest:
            self.add(field, Reason.VALUE_OUT_OF_RANGE, f"has {len(values)} entries; at most {highest} are allowed")

    def bound_length(self, field: str, value: str, highest: int) -> None:
        """Checks that a string is neither empty nor too long."""
        if not value:
            self.require(field, "an empty string is no value")
        elif len(value) > highest:
            self.add(field, Reason.VALUE_OUT_OF_RANGE, f"has {len(value)} characters; at most {highest} are allowed")

    def need_direction(self, field: str, vector: Sequence[float]) -> None:
        """Checks that a vector, if one is given, is finite and not all zero."""
        if not all(map(math.isfinite, vector)):
            self.add(field, Reason.VALUE_MALFORMED, "holds NaN or an infinity; give finite numbers")
        elif vector and not any(vector):
            self.add(field, Reason.VALUE_MALFORMED, "is all zero and so has no direction")

    def raise_any(self) -> None:
        """Raises InvalidRequestError when a rule was broken."""
        if self._noted:
            raise InvalidRequestError(tuple(self._noted))


def exact(value: float) -> str:
    """A number as short as it is the same one: 2 for 2.0, and 1.0000001 as it is."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def check_scope(
    scope: Scope, violations: Violations, *, version_required: bool = False, own_field: str = "scope"
) -> None:
    """Checks the names of a scope, which is in the field `own_field`."""
    for field, name in ((f"{own_field}.repository", scope.repository), (f"{own_field}.branch", scope.branch)):
        problem = name_problem(name)
        if not name:
            violations.require(field, "name the index to ask")
        elif problem:
            violations.add(field, Reason.VALUE_MALFORMED, f"{name!r} {problem}")
    if scope.active_index:
        problem = version_problem(scope.active_index)
        if problem:
            violations.add(f"{own_field}.active_index", Reason.VALUE_MALFORMED, f"{scope.active_index!r} {problem}")
    elif version_required:
        violations.require(f"{own_field}.active_index", "name the index version")


def check_scopes(request: NodesRequest, violations: Violations) -> None:
    """Checks the names of the scopes that a request may ask together, or of its one scope."""
    if not request.scopes and not violations.has("scope"):
        check_scope(request.scope, violations)
    violations.bound_count("scopes", request.scopes, MAX_SCOPES)
    named: set[tuple[str, str]] = set()
    for place, scope in enumerate(request.scopes[:MAX_SCOPES]):
        field = f"scopes[{place}]"
        check_scope(scope, violations, own_field=field)
        if scope.active_index and is_pattern(scope):
            rule = "is given with a pattern, which means versions that are active; name repository and branch"
            violations.add(f"{field}.active_index", Reason.FIELDS_CONFLICT, rule)
        if (scope.repository, scope.branch) in named:
            violations.add(field, Reason.FIELDS_CONFLICT, "repeats a repository and branch; name each once")
        named.add((scope.repository, scope.branch))


def check_ids(field: str, ids: Sequence[str], violations: Violations) -> None:
    """Checks the lengths of ids, each named by its place in `field`."""
    for position, value in enumerate(ids):
        if not 0 < len(value) <= MAX_ID_LENGTH:
            violations.bound_length(f"{field}[{position}]", value, MAX_ID_LENGTH)
