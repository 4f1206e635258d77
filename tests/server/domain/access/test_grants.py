"""A request never sees more than its caller is granted, nor more than it asks for: against rules written out anew."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.nodes.node import NodeAccess
from groundwire_server.domain.access.access import BOUNDS, AccessContext, Bounds, may_see
from groundwire_server.domain.access.grants import UNLIMITED, Grant, Scopes, narrowed
from groundwire_server.domain.access.name_sets import Names
from groundwire_server.domain.errors import PermissionDeniedError, Reason

NAMES = ("a", "ab", "abc", "b", "ba", "c")
TENANTS = ("", *NAMES)
PATTERNS = (*NAMES, "*", "a*", "ab*", "b*")
some_names = st.lists(st.sampled_from(NAMES), max_size=3)
some_patterns = st.lists(st.sampled_from(PATTERNS), max_size=3)
levels = st.integers(0, 3)

nodes = st.builds(
    NodeAccess, st.sampled_from(TENANTS), some_names.map(tuple), some_names.map(tuple), clearance_level=levels
)
requests = st.builds(
    AccessContext, st.sampled_from(TENANTS), some_names.map(frozenset), some_names.map(frozenset), levels
)
Granted = tuple[list[str], list[str], list[str], int]
granted_lists = st.tuples(some_patterns, some_patterns, some_patterns, levels)


def grant_of(granted: Granted) -> Grant:
    tenants, tags, labels, level = granted
    return Grant(Names.parse(tenants), Names.parse(tags), Names.parse(labels), level)


def means(pattern: str, name: str) -> bool:
    """What a pattern of an operator means, letter by letter."""
    if pattern[-1] != "*":
        return pattern == name
    return len(name) >= len(pattern) - 1 and all(name[at] == pattern[at] for at in range(len(pattern) - 1))


def any_means(patterns: list[str], name: str) -> bool:
    return any(means(pattern, name) for pattern in patterns)


def identity_admits(node: NodeAccess, granted: Granted) -> bool:
    """The table of the rules for an identity that may hold any name that one of its patterns means."""
    tenants, tags, labels, level = granted
    if node.tenant_id != "" and not any_means(tenants, node.tenant_id):
        return False
    if node.acl_tags != () and not any(any_means(tags, tag) for tag in node.acl_tags):
        return False
    if not all(any_means(labels, label) for label in node.classification_labels):
        return False
    return node.clearance_level <= level


def request_admits(node: NodeAccess, request: AccessContext) -> bool:
    """The same table for what the request claims to hold."""
    return (
        (node.tenant_id == "" or node.tenant_id == request.tenant_id)
        and (node.acl_tags == () or any(tag in request.acl_tags_any for tag in node.acl_tags))
        and all(label in request.classification_labels_all for label in node.classification_labels)
        and node.clearance_level <= request.clearance_level
    )


def share_a_tag(node: NodeAccess, granted: Granted, request: AccessContext) -> bool:
    """Whether one and the same tag of the node is granted and asked for."""
    return node.acl_tags == () or any(
        any_means(granted[1], tag) and tag in request.acl_tags_any for tag in node.acl_tags
    )


@given(granted=granted_lists, request=requests, node=nodes)
def test_what_is_seen_is_what_identity_and_request_both_admit(
    granted: Granted, request: AccessContext, node: NodeAccess
) -> None:
    if request.tenant_id and not any_means(granted[0], request.tenant_id):
        with pytest.raises(PermissionDeniedError) as caught:
            narrowed(grant_of(granted), request)
        assert caught.value.reason is Reason.TENANT_NOT_GRANTED
        return
    seen = may_see(node, narrowed(grant_of(granted), request))
    both = identity_admits(node, granted) and request_admits(node, request)
    assert seen is (both and share_a_tag(node, granted, request))
    if all(any_means(granted[1], tag) for tag in request.acl_tags_any):
        assert seen is both


bound_patterns = st.none() | some_patterns
Patterns = list[str] | None


def bounds_of(patterns: tuple[Patterns, ...]) -> Bounds:
    return Bounds(*(None if names is None else Names.parse(names) for names in patterns))


@given(
    granted=st.tuples(*[bound_patterns] * len(BOUNDS)),
    requested=st.tuples(*[st.none() | some_names] * len(BOUNDS)),
    name=st.sampled_from(NAMES),
)
def test_a_value_is_within_a_bound_when_identity_and_request_both_leave_it(
    granted: tuple[Patterns, ...], requested: tuple[Patterns, ...], name: str
) -> None:
    grant = Grant(bounds=bounds_of(granted))
    held = narrowed(grant, AccessContext(bounds=bounds_of(requested))).bounds
    unasked = narrowed(grant, None).bounds
    assert unasked == narrowed(grant, AccessContext()).bounds == grant.bounds
    for field, patterns, requested_patterns in zip(BOUNDS, granted, requested, strict=True):
        names: Names | None = getattr(held, field)
        assert (names is None) is (patterns is None and requested_patterns is None)
        left = patterns is None or any_means(patterns, name)
        assert (names is None or name in names) is (left and (requested_patterns is None or name in requested_patterns))


def test_a_bound_binds_without_a_name() -> None:
    assert not Bounds().bind
    assert all(Bounds(**{name: Names()}).bind for name in BOUNDS)


@given(granted=granted_lists, node=nodes)
def test_without_an_access_context_no_more_is_seen_than_the_identity_admits(granted: Granted, node: NodeAccess) -> None:
    seen = may_see(node, narrowed(grant_of(granted), None))
    assert not seen or identity_admits(node, granted)
    open_ended = any("*" in pattern for patterns in granted[:3] for pattern in patterns)
    if not open_ended and len(set(granted[0])) <= 1:
        assert seen is identity_admits(node, granted)


@given(granted=granted_lists, node=nodes)
def test_an_empty_access_context_leaves_what_is_public(granted: Granted, node: NodeAccess) -> None:
    assert may_see(node, narrowed(grant_of(granted), AccessContext())) is (node == NodeAccess())


@given(request=requests)
def test_who_is_granted_everything_holds_what_the_request_says(request: AccessContext) -> None:
    assert narrowed(UNLIMITED, request) == request
    assert narrowed(UNLIMITED, None) == AccessContext()


@given(patterns=some_patterns, repository=st.sampled_from(NAMES))
def test_a_repository_is_named_when_some_branch_of_it_may_be_in_the_set(patterns: list[str], repository: str) -> None:
    names = [Names.parse([pattern]) for pattern in patterns]
    scopes = Scopes(
        listed=frozenset((name, "main") for name in patterns), patterns=tuple((name, Names()) for name in names)
    )
    assert scopes.names_repository(repository) == (repository in patterns or any(repository in name for name in names))


@given(patterns=some_patterns, more=some_patterns, name=st.sampled_from(NAMES))
def test_names_are_those_that_a_pattern_means(patterns: list[str], more: list[str], name: str) -> None:
    names = Names.parse(patterns)
    assert (name in names) is any_means(patterns, name)
    assert (name in names.united(Names.parse(more))) is any_means(patterns + more, name)


@pytest.mark.parametrize(
    "names", [Names(frozenset({"*"})), Names.parse(["a*b"])], ids=["from a token", "in the middle"]
)
def test_a_star_is_a_letter_unless_an_operator_ends_with_it(names: Names) -> None:
    assert "anything" not in names
    assert names.listed in ({"*"}, {"a*b"})


@pytest.mark.parametrize(
    ("patterns", "repository", "branch", "admitted"),
    [
        (["shop::main"], "shop", "main", True),
        (["shop::main"], "shop", "mainline", False),
        (["shop::main"], "shopping", "main", False),
        (["shop::feature/*"], "shop", "feature/tax", True),
        (["shop::feature/*"], "shop", "features", False),
        (["shop*::*"], "shop-web", "any", True),
        (["*::main"], "secret", "develop", False),
        (["a::b", "shop::*"], "shop", "b", True),
        ([], "shop", "main", False),
    ],
)
def test_scopes_are_pairs(patterns: list[str], repository: str, branch: str, admitted: bool) -> None:
    assert Scopes.parse(patterns).includes(repository, branch) is admitted


def test_scopes_of_a_token_are_taken_by_the_letter() -> None:
    scopes = Scopes(frozenset({("shop", "*")}))
    assert not scopes.includes("shop", "main")
    assert scopes.united(Scopes.parse(["shop::main"])).includes("shop", "main")


@pytest.mark.parametrize("pattern", ["shop", "shop:main", "::main", "shop::", "a::b::c", ""])
def test_what_is_no_scope_is_refused(pattern: str) -> None:
    parse: Callable[[list[str]], Scopes] = Scopes.parse
    with pytest.raises(ValueError, match="must be <repository>::<branch>"):
        parse([pattern])
