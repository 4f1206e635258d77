"""The file of an operator's routing rules, read when the server starts; `docs/routing.md` describes its form."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, get_type_hints

from pydantic import BaseModel, BeforeValidator, Field, GetPydanticSchema, create_model

from groundwire_configuration.yaml_model import StrictModel, read_model
from groundwire_index.scope import version_problem
from groundwire_server.domain.errors import InvalidRequestError
from groundwire_server.domain.limits import MAX_FILTER_VALUE_LENGTH, MAX_FILTER_VALUES, MAX_ROUTING_LENGTH
from groundwire_server.domain.query.query import FusionMode, HybridParameters
from groundwire_server.domain.query.query_parameters import given_limits
from groundwire_server.domain.query.query_validation import check_hybrid, check_max_candidates
from groundwire_server.domain.query.routing import RoutingRule
from groundwire_server.domain.validation import Violations

_ASKED = ("process", "doc_class", "workflow_id")


def _one_or_several(value: object) -> object:
    return [value] if isinstance(value, str) else value


_Values: TypeAlias = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=MAX_ROUTING_LENGTH)]],
    Field(min_length=1),
    BeforeValidator(_one_or_several),
]
_Collections: TypeAlias = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=MAX_FILTER_VALUE_LENGTH)]],
    Field(min_length=1, max_length=MAX_FILTER_VALUES),
    BeforeValidator(_one_or_several),
]


class _When(StrictModel):
    process: _Values | None = None
    doc_class: _Values | None = None
    workflow_id: _Values | None = None
    repository: _Values | None = None
    branch: _Values | None = None

    @property
    def given(self) -> Mapping[str, list[str]]:
        """The values of each field that is given."""
        return self.model_dump(exclude_none=True)


_FIELDS: dict[str, Any] = {name: (kind, None) for name, kind in get_type_hints(HybridParameters).items()}
_Parameters = create_model("_Parameters", __base__=StrictModel, **_FIELDS)
_NO_PARAMETERS = _Parameters()


class _Rule(StrictModel):
    name: Annotated[str, Field(min_length=1, max_length=MAX_ROUTING_LENGTH)]
    when: _When
    collections: _Collections | None = None
    parameters: Annotated[BaseModel, GetPydanticSchema(lambda _, schema_of: schema_of(_Parameters))] = _NO_PARAMETERS
    fusion: Literal["adaptive", "rrf", "weighted"] | None = None
    index: str | None = None

    @property
    def rule(self) -> RoutingRule:
        """The rule as the engine compares queries with it."""
        return RoutingRule(
            name=self.name,
            when={field: frozenset(values) for field, values in self.when.given.items()},
            collections=tuple(self.collections or ()),
            hybrid=HybridParameters(**self.parameters.model_dump()),
            fusion=None if self.fusion is None else FusionMode(self.fusion),
            index=self.index or "",
        )


class _File(StrictModel):
    rules: list[_Rule]


def load_routing(path: Path, max_top_k: int) -> tuple[RoutingRule, ...]:
    """Reads the rules, in their order.

    Raises OSError when the file cannot be read. Raises ValueError that names every problem: no YAML, an unknown or
    absent key, a wrong type, a parameter that breaks the rule of its field in `groundwire.v1`, a rule for every query,
    two rules of one name, an `index` without its one scope.
    """
    rules = read_model(path, _File, "docs/routing.md").rules
    problems = [
        f"rules[{place}].{problem}"
        for place, rule in enumerate(rules)
        for problem in _problems(rule, {earlier.name for earlier in rules[:place]}, max_top_k)
    ]
    if problems:
        raise ValueError("; ".join(problems))
    return tuple(rule.rule for rule in rules)


def _problems(rule: _Rule, earlier: set[str], max_top_k: int) -> Iterator[str]:
    if rule.name in earlier:
        yield f"name: {rule.name!r}: names an earlier rule; give each its own name"
    if not any(field in rule.when.given for field in _ASKED):
        yield f"when: must hold {', '.join(_ASKED[:-1])} or {_ASKED[-1]}, so that other queries stay as they are"
    if rule.index is not None:
        problem = version_problem(rule.index)
        if problem:
            yield f"index: {rule.index!r}: {problem}"
        for field in ("repository", "branch"):
            if len(rule.when.given.get(field, ())) != 1:
                yield f"when.{field}: must be one name where index is given, as a version belongs to one scope"
    yield from _parameter_problems(rule.rule, max_top_k)


def _parameter_problems(rule: RoutingRule, max_top_k: int) -> Iterator[str]:
    """The violations of a rule's parameters by the rules of a query's fields."""
    violations = Violations()
    check_hybrid(rule.hybrid, max_top_k, violations)
    check_max_candidates(rule.hybrid.max_candidates, given_limits(rule.hybrid), violations)
    try:
        violations.raise_any()
    except InvalidRequestError as error:
        for violation in error.violations:
            yield f"parameters.{violation.field.rpartition('.')[2]}: {violation.description}"
