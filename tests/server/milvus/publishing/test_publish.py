"""What a build puts into Milvus says the same as the files of the same index."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from groundwire_index.index_errors import BuildRefusedError, IndexDamagedError
from groundwire_index.lexical.lexical import LexicalTable
from groundwire_index.nodes.metadata_terms import metadata_terms
from groundwire_index.nodes.reading_order import NO_DOCUMENT
from groundwire_index.store.loaded import LoadedIndex
from groundwire_index.store.manifest import FORMAT_VERSION
from groundwire_index.text.trigram_names import node_names, trigrams
from groundwire_ingest.build.build import BuildOptions, build_index
from groundwire_ingest.records import SourceRecord, StatedAccess
from groundwire_milvus import packing
from groundwire_milvus.catalogue import Catalogue
from groundwire_milvus.document import VersionDocument
from groundwire_milvus.facts import CODE_TERM, DOCUMENT, PROSE_TERM, SERVICE, TRIGRAM, fact_key, read_facts, unspilled
from groundwire_milvus.rows import Rows
from groundwire_milvus.schema import (
    EDGES_SCHEMA,
    FILTERED_STRINGS,
    NO_DIMENSION,
    PACKED,
    VersionCollections,
    nodes_schema,
)
from groundwire_milvus.store import among
from support.builds import V1, HashEmbedder, Records, Stages, edge, index_of, node
from support.milvus_builds import build_in_milvus, new_catalogue
from support.milvus_server import MilvusServer
from support.varied_records import varied_records

HUB_EDGES = 1_500
PUBLIC = StatedAccess("", (), (), 0)
LONG_TEXT = "größer als ein Feld " * 5_000
RECORDS: list[SourceRecord] = [
    *varied_records(120),
    node("hub", "all of them", access=PUBLIC),
    *(
        node(f"leaf/{number}", "", access=PUBLIC, metadata={"workflow_id": ["w1", f"x{number % 3}", 4]})
        for number in range(HUB_EDGES)
    ),
    *(edge("hub", f"leaf/{number}") for number in range(HUB_EDGES)),
    node("long", LONG_TEXT, path="docs/long.md", access=PUBLIC),
]


@dataclass(frozen=True)
class Published:
    """An index in files and in Milvus."""

    index: LoadedIndex
    catalogue: Catalogue
    collections: VersionCollections
    document: VersionDocument
    rows: Rows


@pytest.fixture(scope="module")
def published(milvus: MilvusServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Published]:
    data = tmp_path_factory.mktemp("data")
    catalogue = new_catalogue(milvus)
    build_index(Records(RECORDS), BuildOptions(data, V1, HashEmbedder()), Stages())
    build_in_milvus(data, catalogue, RECORDS)
    entry = catalogue.require(V1)
    index, document = index_of(data), catalogue.document(entry)
    names = nodes_schema(HashEmbedder.dimension).names
    count = index.manifest.node_count
    rows = catalogue.store.query(entry.collections.nodes, "row >= 0", names).in_order("row", range(count))
    yield Published(index, catalogue, entry.collections, document, rows)
    catalogue.store.close()


def test_every_node_comes_back_whole(published: Published) -> None:
    index, document = published.index, published.document
    packed = unspilled(published.catalogue.store, published.collections.facts, published.rows, PACKED)
    assert len(published.rows) == index.manifest.node_count
    assert any(value.startswith(packing.SPILL_MARK) for value in published.rows.strings("text"))
    for row, class_ in enumerate(published.rows.integers("class").tolist()):
        node_class = document.classes[class_]
        expected = index.nodes.node(row, index.policies.of(row))
        unpacked = packing.unpacked_node(
            packed["label"][row],
            packed["rest"][row],
            packed["text"][row],
            document.policies[node_class.policy],
            deleted=node_class.deleted,
        )
        assert unpacked == expected
        assert packing.unpacked_names(packed["names"][row]) == sorted(
            set(node_names(expected.symbol, expected.location.path))
        )


def test_columns_and_what_expressions_compare_are_those_of_the_node(published: Published) -> None:
    index, rows = published.index, published.rows
    table, order = index.nodes, index.reading_order
    assert index.vectors is not None
    assert rows.strings("id") == [packing.hexed(id_.decode()) for id_ in table.ids.encoded()]
    for name in FILTERED_STRINGS:
        assert [*map(packing.unhexed, rows.strings(name))] == table.categories[name].of_rows(np.arange(len(rows)))
    for name, expected in (
        ("is_latest", table.flags["is_latest"]),
        ("is_test", table.flags["is_test"]),
        ("is_generated", table.flags["is_generated"]),
        ("has_vector", index.vectors.present),
    ):
        np.testing.assert_array_equal(rows.flags(name), expected)
    for name, numbers in (
        ("document", order.document),
        ("place", order.place),
        ("token_count", table.numbers["token_count"]),
        ("char_count", table.numbers["char_count"]),
        ("timestamp", table.timestamps),
    ):
        np.testing.assert_array_equal(rows.integers(name), numbers)
    for row, terms in enumerate(rows.digests("metadata")):
        assert terms == sorted(map(packing.digest, metadata_terms(table.metadata(row))))
    workflows = dict(zip(map(packing.unhexed, rows.strings("id")), rows.strings("workflows"), strict=True))
    assert workflows["shop::main::cs::leaf/4"] == packing.packed_workflows(["w1", "x1"])
    assert workflows["shop::main::cs::hub"] == ""


def test_vectors_are_those_of_the_index(published: Published) -> None:
    assert published.index.vectors is not None
    vectors = published.rows.dense("vector", HashEmbedder.dimension)
    np.testing.assert_array_equal(vectors, published.index.vectors.rows)


@pytest.mark.parametrize(("name", "kind"), [("code", CODE_TERM), ("prose", PROSE_TERM)])
def test_words_are_counted_and_weighed(published: Published, name: str, kind: str) -> None:
    index, store = published.index, published.catalogue.store
    packed = unspilled(store, published.collections.facts, published.rows, [f"{name}_terms"])[f"{name}_terms"]
    documents = _documents(index.lexical if name == "code" else index.prose)
    terms = sorted(set().union(*documents))
    facts = read_facts(store, published.collections.facts, [fact_key(kind, term) for term in terms])
    numbers = {term: packing.unpacked_term(facts[fact_key(kind, term)]) for term in terms}
    lengths = np.asarray([document.total() for document in documents])
    np.testing.assert_array_equal(published.rows.integers(f"{name}_length"), lengths)
    reference = lengths.mean()
    vectors = [row[name] for row in published.rows]
    holders: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for row, document in enumerate(documents):
        document_terms = packing.unpacked_terms(packed[row])
        counts = dict(zip(document_terms.terms.tolist(), document_terms.frequencies.tolist(), strict=True))
        assert counts == {numbers[term].number: count for term, count in document.items()}
        assert list(counts) == sorted(counts)
        weights = {
            numbers[term].number: count / (count + 1.5 * (0.25 + 0.75 * lengths[row] / reference))
            for term, count in document.items()
        } or {NO_DIMENSION: 1.0}
        assert dict(vectors[row]) == pytest.approx(weights, rel=1e-6)
        for term in document:
            holders[term][int(published.rows.integers("class")[row])] += 1
    assert {term: fact.holders for term, fact in numbers.items()} == {
        term: dict(by_class) for term, by_class in holders.items()
    }


def _documents(table: LexicalTable | None) -> list[Counter[str]]:
    """How often each node holds each term."""
    assert table is not None
    documents: list[Counter[str]] = [Counter() for _ in table.lengths]
    for term in (encoded.decode() for encoded in table.by_term.terms.encoded()):
        postings = table.postings(term)
        for row, frequency in zip(postings.rows.tolist(), postings.frequencies.tolist(), strict=True):
            documents[row][term] = frequency
    return documents


def test_trigrams_of_names_are_numbered(published: Published) -> None:
    index, store = published.index, published.catalogue.store
    names = [node_names(index.nodes.symbols[row], index.nodes.location(row).path) for row in range(len(published.rows))]
    held = [
        {
            trigram: min(len(trigrams(name)) for name in of_node if trigram in trigrams(name))
            for trigram in set().union(*map(trigrams, of_node))
        }
        for of_node in names
    ]
    every = sorted(set().union(*held))
    facts = read_facts(store, published.collections.facts, [fact_key(TRIGRAM, trigram) for trigram in every])
    numbers = {trigram: int(facts[fact_key(TRIGRAM, trigram)]) for trigram in every}
    assert sorted(numbers.values()) == list(range(len(every)))
    for sizes, vector in zip(held, [row["trigrams"] for row in published.rows], strict=True):
        weights = {numbers[trigram]: float(np.float32(1.0 / math.sqrt(size))) for trigram, size in sizes.items()}
        assert dict(vector) == (weights or {NO_DIMENSION: 1.0})


def test_edges_stand_in_both_directions_in_chunks(published: Published) -> None:
    index, store = published.index, published.catalogue.store
    classes = published.rows.integers("class")
    near_keys = [2 * row + direction for row in range(len(published.rows)) for direction in (0, 1)]
    stored = store.query(published.collections.edges, among("near", near_keys), EDGES_SCHEMA.names)
    chunks: defaultdict[int, list[tuple[int, str]]] = defaultdict(list)
    for key, near, content in zip(
        stored.integers("key").tolist(), stored.integers("near").tolist(), stored.strings("content"), strict=True
    ):
        assert key % 2**41 == near
        chunks[near].append((key // 2**41, content))
    assert max(map(len, chunks.values())) == 2
    for near in near_keys:
        contents = [chunk for _, chunk in sorted(chunks[near])]
        edges = np.concatenate([np.empty(0, packing.EDGE), *map(packing.unpacked_edges, contents)])
        row, incoming = divmod(near, 2)
        here, there = index.edges.from_rows, index.edges.to_rows
        positions = np.flatnonzero((there if incoming else here) == row)
        positions = positions[np.lexsort(((here if incoming else there)[positions], index.edges.types[positions]))]
        np.testing.assert_array_equal(edges["position"], positions)
        np.testing.assert_array_equal(edges["far"], (here if incoming else there)[positions])
        np.testing.assert_array_equal(edges["type"], index.edges.types[positions])
        np.testing.assert_array_equal(edges["confidence"], index.edges.confidences[positions])
        np.testing.assert_array_equal(edges["line"], index.edges.lines[positions])
        np.testing.assert_array_equal(edges["far_class"], classes[edges["far"]])


def test_documents_say_what_their_nodes_hold_by_class(published: Published) -> None:
    index, store = published.index, published.catalogue.store
    assert index.lexical is not None
    classes = published.rows.integers("class")
    document = index.reading_order.document
    keys = [fact_key(DOCUMENT, str(number)) for number in range(int(document.max()) + 1)]
    facts = read_facts(store, published.collections.facts, keys)
    assert facts.keys() == {key for number, key in enumerate(keys) if np.count_nonzero(document == number) > 1}
    packed = [
        packing.unpacked_terms(content)
        for content in unspilled(store, published.collections.facts, published.rows, ["code_terms"])["code_terms"]
    ]
    for number, key in enumerate(keys):
        if key not in facts:
            continue
        parts = packing.unpacked_document(facts[key])
        assert [part.class_ for part in parts] == np.unique(classes[document == number]).tolist()
        for part in parts:
            rows = np.flatnonzero((document == number) & (classes == part.class_))
            expected: Counter[int] = Counter()
            for row in rows.tolist():
                expected.update(dict(zip(packed[row].terms.tolist(), packed[row].frequencies.tolist(), strict=True)))
            assert part.nodes == len(rows)
            assert part.length == index.lexical.lengths[rows].sum()
            assert dict(zip(part.counts.terms.tolist(), part.counts.frequencies.tolist(), strict=True)) == expected


def test_services_have_the_edges_from_and_to_them(published: Published) -> None:
    index, store = published.index, published.catalogue.store
    services, edges = index.nodes.categories["service_name"], index.service_edges
    classes = published.rows.integers("class")
    for place in range(len(services.values)):
        key = fact_key(SERVICE, services.values[place])
        facts = read_facts(store, published.collections.facts, [key])
        positions = edges.touching([place])
        assert (key in facts) == bool(len(positions))
        if not len(positions):
            continue
        names, packed = packing.unpacked_service_edges(facts[key])
        np.testing.assert_array_equal(packed["position"], positions)
        np.testing.assert_array_equal(packed["type"], edges.types[positions])
        for end, rows in (("from", edges.from_rows), ("to", edges.to_rows)):
            np.testing.assert_array_equal(packed[f"{end}_row"], rows[positions])
            np.testing.assert_array_equal(packed[f"{end}_class"], classes[rows[positions]])
            assert [names[name] for name in packed[f"{end}_service"]] == services.of_rows(rows[positions])


def test_the_document_counts_by_class(published: Published) -> None:
    index, document = published.index, published.document
    assert index.vectors is not None
    assert index.lexical is not None
    assert index.prose is not None
    classes = published.rows.integers("class")
    assert document.manifest == replace(index.manifest, files=(), created=document.manifest.created)
    assert document.policies == index.policies.classes
    assert [(node_class.policy, node_class.deleted) for node_class in document.classes] == sorted(
        {
            (index.policies.classes.index(index.policies.of(row)), bool(index.nodes.flags["deleted"][row]))
            for row in range(len(classes))
        }
    )
    in_documents = index.reading_order.document != NO_DOCUMENT
    for place, node_class in enumerate(document.classes):
        mask = classes == place
        assert node_class.nodes == mask.sum()
        assert node_class.code_length == index.lexical.lengths[mask].sum()
        assert node_class.prose_length == index.prose.lengths[mask].sum()
        assert node_class.code_length_in_documents == index.lexical.lengths[mask & in_documents].sum()
    assert document.code_reference_length == index.lexical.lengths.mean()
    pairs = Counter(zip(classes[index.edges.from_rows].tolist(), classes[index.edges.to_rows].tolist(), strict=True))
    assert {(class_pair.from_class, class_pair.to_class): class_pair.edges for class_pair in document.edges} == pairs
    sets: defaultdict[int, set[int]] = defaultdict(set)
    for number, class_ in zip(index.reading_order.document.tolist(), classes.tolist(), strict=True):
        if number != NO_DOCUMENT:
            sets[number].add(class_)
    assert {class_set.classes: class_set.documents for class_set in document.documents} == Counter(
        tuple(sorted(class_set)) for class_set in sets.values()
    )


def test_an_index_without_vectors_and_edges_can_be_published(milvus: MilvusServer, tmp_path: Path) -> None:
    catalogue = new_catalogue(milvus)
    build_in_milvus(tmp_path, catalogue, [node("a", "")], embedder=None)
    document = catalogue.document(catalogue.require(V1))
    assert (document.manifest.vector_space, document.nodes_state.rows, document.edges_state.rows) == (None, 1, 0)
    assert catalogue.active(V1) == "v1"


def test_a_document_of_another_format_is_refused_for_it(published: Published) -> None:
    document = published.document
    assert VersionDocument.from_content(document.to_content()) == document
    newer = FORMAT_VERSION + 1
    content = replace(document, manifest=replace(document.manifest, format_version=newer)).to_content()
    with pytest.raises(IndexDamagedError, match=rf"document: format groundwire-index {newer}; .* build the index anew"):
        VersionDocument.from_content(content)


def test_a_node_that_milvus_cannot_hold_is_refused_and_nothing_is_left(milvus: MilvusServer, tmp_path: Path) -> None:
    catalogue = new_catalogue(milvus)
    with pytest.raises(BuildRefusedError, match="metadata has 4,097 values"):
        build_in_milvus(tmp_path, catalogue, [node("a", metadata={"k": list(range(4_097))})])
    assert catalogue.entry(V1) is None
    assert catalogue.store.collections() == ["groundwire_catalogue"]
