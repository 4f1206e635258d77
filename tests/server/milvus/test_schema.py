from groundwire_index.scope import Scope
from groundwire_milvus.schema import (
    VersionCollections,
    active_alias,
    building_alias,
    nodes_schema,
    scope_key,
    version_key,
)

V1 = Scope("shop", "main", "v1")


def test_keys_tell_apart_what_only_together_reads_the_same() -> None:
    scopes = [V1, Scope("shopm", "ain", "v1"), Scope("shop", "mainv", "1"), Scope("shop", "main", "v2"), Scope("", "")]
    assert len({version_key(scope) for scope in scopes}) == len(scopes)
    assert scope_key(V1) == scope_key(Scope("shop", "main", "v2"))
    assert active_alias(V1) == active_alias(Scope("shop", "main"))
    assert building_alias(V1) != building_alias(Scope("shop", "main", "v2"))


def test_the_collections_of_a_version_are_known_by_that_of_its_nodes() -> None:
    collections = VersionCollections(version_key(V1), "0123abcd")
    assert VersionCollections.of_nodes(collections.nodes) == collections
    for name in (collections.edges, "groundwire_catalogue", active_alias(V1), "nodes"):
        assert VersionCollections.of_nodes(name) is None


def test_an_index_without_vectors_has_the_field_that_milvus_demands() -> None:
    assert "vector" not in nodes_schema(None).names
    assert "unused" in nodes_schema(None).names
    assert "vector" in nodes_schema(384).names
    assert "unused" not in nodes_schema(384).names
