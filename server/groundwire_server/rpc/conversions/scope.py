"""Scopes, access contexts and enum values, which every service reads."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Protocol, TypeAlias, TypeVar

from google.protobuf.descriptor import EnumDescriptor

from groundwire.v1 import evidence_pb2, index_pb2, query_pb2, retrieval_pb2, scope_pb2
from groundwire_index.limits import MAX_ACCESS_VALUE_LENGTH
from groundwire_index.scope import MAX_NAME_LENGTH, SEPARATOR, Scope, id_prefix
from groundwire_server.domain import limits
from groundwire_server.domain.access.access import BOUNDS, AccessContext, Bounds
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.access.name_sets import Names
from groundwire_server.domain.errors import Reason
from groundwire_server.domain.validation import Violations

RequestForNodes: TypeAlias = (
    retrieval_pb2.SearchNodesRequest
    | evidence_pb2.GatherEvidenceRequest
    | retrieval_pb2.ResolveNodesRequest
    | retrieval_pb2.SearchTextRequest
    | retrieval_pb2.ExpandDependencyTreeRequest
    | retrieval_pb2.FindPathsRequest
    | retrieval_pb2.FetchNodeTextsRequest
    | query_pb2.QueryRequest
)
"""A request about one scope or about several."""
ReadingRequest: TypeAlias = RequestForNodes | index_pb2.GetIndexRequest
AdministrationRequest: TypeAlias = index_pb2.ActivateIndexRequest | index_pb2.DeleteIndexRequest
Request: TypeAlias = ReadingRequest | AdministrationRequest | index_pb2.ListIndexesRequest

Value = TypeVar("Value")
Decoder: TypeAlias = Callable[[int, str, Violations], Value]
Member = TypeVar("Member", bound=Enum)
Number = TypeVar("Number", covariant=True)


class WireEnum(Protocol[Number]):
    """An enum of the contract."""

    @property
    def DESCRIPTOR(self) -> EnumDescriptor:  # noqa: N802 - as protobuf names it
        """Its values."""
        ...

    def Value(self, name: str) -> Number:  # noqa: N802
        """A value by its name."""
        ...


def numbers_of(members: type[Member], wire: WireEnum[Number]) -> dict[Member, Number]:
    """The wire's values of the members of an enum, by their names without the prefix."""
    prefix = wire.DESCRIPTOR.values[0].name.removesuffix("UNSPECIFIED")
    return {member: wire.Value(prefix + member.name) for member in members}


def decoder_of(members: type[Member], wire: WireEnum[int], unspecified: Value) -> Decoder[Member | Value]:
    """Gives the member for a number in a field; `unspecified` for 0, and for an unknown one, which is a violation."""
    meanings: dict[int, Member | Value] = {number: member for member, number in numbers_of(members, wire).items()}
    known = ", ".join(value.name for value in wire.DESCRIPTOR.values[1:])

    def decode(number: int, field: str, violations: Violations) -> Member | Value:
        if number and number not in meanings:
            rule = f"is {number}, which this server does not know; give one of {known}"
            violations.add(field, Reason.VALUE_UNKNOWN, rule)
        return meanings.get(number, unspecified)

    return decode


LIFECYCLES = numbers_of(Lifecycle, scope_pb2.Lifecycle)
decode_lifecycle = decoder_of(Lifecycle, scope_pb2.Lifecycle, Lifecycle.ACTIVE)


def decode_scope(request: ReadingRequest | AdministrationRequest, violations: Violations) -> Scope:
    """The scope as given, with an absent one noted in `violations`."""
    if not request.HasField("scope"):
        violations.require("scope", "name the repository and branch to ask")
    return Scope(request.scope.repository, request.scope.branch, request.scope.active_index)


def decode_scopes(request: RequestForNodes, violations: Violations) -> tuple[Scope, tuple[Scope, ...]]:
    """The one scope and the several ones of a request that has either."""
    if not request.scopes:
        return decode_scope(request, violations), ()
    if request.HasField("scope"):
        violations.add("scope", Reason.FIELDS_CONFLICT, "is given together with `scopes`; drop one of them")
    return Scope("", ""), tuple(Scope(named.repository, named.branch, named.active_index) for named in request.scopes)


def encode_scopes(scopes: Iterable[Scope]) -> dict[str, scope_pb2.IndexScope]:
    """The scopes by what the ids of their nodes begin with."""
    return {id_prefix(scope): scope_pb2.IndexScope(**scope.names) for scope in scopes}


def scope_of(id_: str, scopes: Mapping[str, scope_pb2.IndexScope]) -> scope_pb2.IndexScope | None:
    """The scope of a node's id; None where there are none."""
    return scopes[id_prefix(Scope(*id_.split(SEPARATOR, 2)[:2]))] if scopes else None


def named_scopes(request: Request) -> tuple[Scope, ...]:
    """The scopes that a request of any method names, valid or not; names are cut to the length of a valid one."""
    several = request.scopes if isinstance(request, RequestForNodes) else ()
    single = request if isinstance(request, index_pb2.ListIndexesRequest) else request.scope
    return tuple(
        Scope(*(getattr(named, name, "")[:MAX_NAME_LENGTH] for name in ("repository", "branch", "active_index")))
        for named in several or (single,)
    )


def decode_access(access: scope_pb2.AccessContext) -> AccessContext:
    """The access that a caller claims. Raises InvalidRequestError when a rule of the contract is broken."""
    violations = Violations()
    if len(access.tenant_id) > MAX_ACCESS_VALUE_LENGTH:
        violations.bound_length("access.tenant_id", access.tenant_id, MAX_ACCESS_VALUE_LENGTH)
    if access.clearance_level < 0:
        violations.add(
            "access.clearance_level", Reason.VALUE_OUT_OF_RANGE, f"is {access.clearance_level}; give 0 or more"
        )
    _check_values("access.acl_tags_any", access.acl_tags_any, violations)
    _check_values("access.classification_labels_all", access.classification_labels_all, violations)
    bounds = Bounds(**{name: _decode_bound(access, name, violations) for name in BOUNDS})
    violations.raise_any()
    return AccessContext(
        tenant_id=access.tenant_id,
        acl_tags_any=frozenset(access.acl_tags_any),
        classification_labels_all=frozenset(access.classification_labels_all),
        clearance_level=access.clearance_level,
        bounds=bounds,
    )


def _decode_bound(access: scope_pb2.AccessContext, name: str, violations: Violations) -> Names | None:
    """The values by the letter; a `*` opens nothing."""
    if name not in (set_field.name for set_field, _ in access.ListFields()):
        return None
    bound: scope_pb2.Bound = getattr(access, name)
    _check_values(f"access.{name}.values", bound.values, violations)
    return Names(frozenset(bound.values))


def _check_values(field: str, values: Sequence[str], violations: Violations) -> None:
    violations.bound_count(field, values, limits.MAX_ACCESS_VALUES)
    for position, value in enumerate(values[: limits.MAX_ACCESS_VALUES]):
        violations.bound_length(f"{field}[{position}]", value, MAX_ACCESS_VALUE_LENGTH)
