"""An access context arrives as it was given, within its bounds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.v1 import scope_pb2
from groundwire_server.domain.access.access import BOUNDS, AccessContext, Bounds
from groundwire_server.domain.access.name_sets import Names
from groundwire_server.domain.errors import InvalidRequestError, Reason
from groundwire_server.rpc.conversions.scope import decode_access
from support.conversions import broken_rules, counts, names, over_the_wire

some = st.frozensets(st.text("ab*", min_size=1), max_size=3)
bounds = st.builds(Bounds, *[st.none() | st.builds(Names, some)] * len(BOUNDS))


@given(st.builds(AccessContext, names, some, some, counts, bounds))
def test_an_access_context_arrives_as_it_was_given(access: AccessContext) -> None:
    message = scope_pb2.AccessContext(
        tenant_id=access.tenant_id,
        acl_tags_any=access.acl_tags_any,
        classification_labels_all=access.classification_labels_all,
        clearance_level=access.clearance_level,
        **{name: _bound(getattr(access.bounds, name)) for name in BOUNDS},
    )
    assert decode_access(over_the_wire(message)) == access


def _bound(names: Names | None) -> scope_pb2.Bound | None:
    return None if names is None else scope_pb2.Bound(values=sorted(names.listed))


def _bound_to(name: str, values: list[str]) -> scope_pb2.AccessContext:
    access = scope_pb2.AccessContext()
    getattr(access, name).values[:] = values
    return access


@pytest.mark.parametrize(
    ("access", "field", "reason"),
    [
        (scope_pb2.AccessContext(tenant_id="t" * 257), "access.tenant_id", Reason.VALUE_OUT_OF_RANGE),
        (scope_pb2.AccessContext(clearance_level=-1), "access.clearance_level", Reason.VALUE_OUT_OF_RANGE),
        (scope_pb2.AccessContext(acl_tags_any=["a"] * 1025), "access.acl_tags_any", Reason.VALUE_OUT_OF_RANGE),
        (scope_pb2.AccessContext(acl_tags_any=["a", "b", "c", ""]), "access.acl_tags_any[3]", Reason.FIELD_REQUIRED),
        (scope_pb2.AccessContext(acl_tags_any=["a", "b" * 257]), "access.acl_tags_any[1]", Reason.VALUE_OUT_OF_RANGE),
        (
            scope_pb2.AccessContext(classification_labels_all=["a"] * 1025),
            "access.classification_labels_all",
            Reason.VALUE_OUT_OF_RANGE,
        ),
        (
            scope_pb2.AccessContext(classification_labels_all=["a", ""]),
            "access.classification_labels_all[1]",
            Reason.FIELD_REQUIRED,
        ),
        *(
            (_bound_to(bound, values), f"access.{bound}.values{place}", reason)
            for bound in BOUNDS
            for values, place, reason in (
                (["a", ""], "[1]", Reason.FIELD_REQUIRED),
                (["a" * 257], "[0]", Reason.VALUE_OUT_OF_RANGE),
                (["a"] * 1025, "", Reason.VALUE_OUT_OF_RANGE),
            )
        ),
    ],
)
def test_an_access_context_out_of_bounds_is_refused(
    access: scope_pb2.AccessContext, field: str, reason: Reason
) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        decode_access(access)
    assert broken_rules(caught.value) == [(field, reason)]


def test_the_bounds_of_an_access_context_are_inside() -> None:
    access = scope_pb2.AccessContext(tenant_id="t" * 256, acl_tags_any=["a" * 256] * 1024)
    assert decode_access(access) == AccessContext("t" * 256, frozenset({"a" * 256}))
