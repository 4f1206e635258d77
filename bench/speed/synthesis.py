"""Synthetic corpora: clustered vectors, Zipfian texts, groups to filter by, policy classes, a power-law graph.

Everything follows from the shape and its seed. Vectors are near unit centres whose popularity is Zipfian; within a
cluster they vary in few directions, and a little in all, as embeddings of texts do. If they varied evenly in 384
dimensions, all neighbours of a query would be about equally far, and no graph or inverted-file index would find the
nearest.
"""

import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.speed.corpus import GROUPS, Corpus

DIRECTIONS = 48
"""The number of directions in which a cluster varies."""
SPREAD, NOISE = 0.8, 0.15
"""The distance of a vector from its centre, which has length 1, along those directions and in all."""
QUERY_NOISE = 0.6
VOCABULARY = 50_000
ZIPF_EXPONENT = 1.07
TOPICAL_SHARE = 0.3
"""The share of words that belong to a cluster."""
MEAN_WORDS, LEAST_WORDS, MOST_WORDS = 50, 6, 400
QUERY_WORDS = (2, 3, 4, 5, 6)
MEAN_DEGREE = 3.0
HUB_DEGREE = 100_000
_CONSONANTS, _VOWELS = "bcdfghjklmnprtvz", "aiou"
_BATCH = 65_536


@dataclass(frozen=True, slots=True)
class Shape:
    """The parameters of a corpus. Row 0 is the hub: it has edges to 100,000 rows, or to half of fewer."""

    nodes: int
    dimension: int = 384
    policy_classes: int = 1_000
    queries: int = 200
    seed: int = 5

    @property
    def clusters(self) -> int:
        """One for each thousand rows, 16 to 1,000."""
        return min(max(self.nodes // 1_000, 16), 1_000)


def write_corpus(folder: Path, shape: Shape) -> Corpus:
    """Writes and opens a corpus; an existing one of the same shape is kept."""
    done = folder / "shape.json"
    content = json.dumps(asdict(shape), indent=2) + "\n"
    if not done.exists() or done.read_text(encoding="utf-8") != content:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        _write(folder, shape)
        done.write_text(content, encoding="utf-8")
    return Corpus(folder)


def _write(folder: Path, shape: Shape) -> None:
    generator = np.random.default_rng(shape.seed)
    clusters = _zipf_choice(generator, shape.clusters, shape.nodes, 0.6)
    sources = _write_vectors(folder, shape, clusters, generator)
    np.save(folder / "random_group.npy", _groups(generator.permutation(shape.nodes)))
    # Rows sorted by cluster, clusters in random order: a group is several whole clusters and a part of one.
    order = np.lexsort((np.arange(shape.nodes), generator.permutation(shape.clusters)[clusters]))
    np.save(folder / "clustered_group.npy", _groups(order))
    _write_texts(folder, shape, clusters, sources, generator)
    classes = _zipf_choice(generator, shape.policy_classes, shape.nodes, 1.0)
    np.save(folder / "policy_classes.npy", classes.astype(np.int32))
    np.save(folder / "edges.npy", _edges(shape, generator))


def words(count: int) -> list[str]:
    """Distinct pronounceable words of two to four syllables, the short ones first."""
    syllables = [consonant + vowel for consonant in _CONSONANTS for vowel in _VOWELS]
    made = []
    for number in range(count):
        # An odd factor permutes the pairs of syllables, so that words of neighbouring ranks have nothing in common.
        low, high = (number * 1_637 + 7) % len(syllables) ** 2, number // len(syllables) ** 2
        word = syllables[low % len(syllables)] + syllables[low // len(syllables)]
        made.append(word + "".join(syllables[int(digit)] for digit in str(high)) if high else word)
    return made


def _write_vectors(
    folder: Path, shape: Shape, clusters: NDArray[np.int64], generator: np.random.Generator
) -> NDArray[np.int64]:
    """Writes the vectors of rows and queries; returns the rows that the queries are near to."""
    centres = _unit(generator.standard_normal((shape.clusters, shape.dimension)))
    basis = generator.standard_normal((DIRECTIONS, shape.dimension)) / np.sqrt(shape.dimension)
    basis *= np.sqrt(1.0 / np.arange(1, DIRECTIONS + 1))[:, np.newaxis]
    basis *= SPREAD / np.linalg.norm(basis)
    vectors = np.lib.format.open_memmap(
        folder / "vectors.npy", mode="w+", dtype=np.float32, shape=(shape.nodes, shape.dimension)
    )
    for start in range(0, shape.nodes, _BATCH):
        part = clusters[start : start + _BATCH]
        latent = generator.standard_normal((len(part), DIRECTIONS)) @ basis
        noise = NOISE / np.sqrt(shape.dimension) * generator.standard_normal((len(part), shape.dimension))
        vectors[start : start + len(part)] = _unit(centres[part] + latent + noise)
    vectors.flush()
    sources = generator.integers(0, shape.nodes, shape.queries)
    latent = generator.standard_normal((shape.queries, DIRECTIONS)) @ basis
    np.save(folder / "query_vectors.npy", _unit(vectors[sources] + QUERY_NOISE * latent).astype(np.float32))
    return sources


def _unit(rows: NDArray[np.floating]) -> NDArray[np.floating]:
    scaled: NDArray[np.floating] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return scaled


def _groups(order: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The group of each row: the first 0.1 % in this order, the next 1 %, the next 10 %, the rest; none is empty."""
    groups = np.full(len(order), len(GROUPS) - 1, dtype=np.uint8)
    start = 0
    for code, share in enumerate(list(GROUPS.values())[:-1]):
        size = max(round(share * len(order)), 1)
        groups[order[start : start + size]] = code
        start += size
    return groups


def _zipf_choice(generator: np.random.Generator, values: int, count: int, exponent: float) -> NDArray[np.int64]:
    """`count` of the numbers below `values`, number i as often as 1 / (i + 1) ** exponent."""
    cumulative = np.cumsum(1.0 / np.arange(1, values + 1) ** exponent)
    drawn: NDArray[np.int64] = np.searchsorted(cumulative, generator.random(count) * cumulative[-1])
    return drawn


def _write_texts(
    folder: Path, shape: Shape, clusters: NDArray[np.int64], sources: NDArray[np.int64], generator: np.random.Generator
) -> None:
    vocabulary = words(VOCABULARY)
    wanted = {int(row): "" for row in sources}
    ends = np.empty(shape.nodes, dtype=np.int64)
    end = 0
    with (folder / "texts.bin").open("wb") as file:
        for start in range(0, shape.nodes, _BATCH):
            part = clusters[start : start + _BATCH]
            for place, text in enumerate(_texts(part, vocabulary, generator), start=start):
                encoded = text.encode()
                file.write(encoded)
                end += len(encoded)
                ends[place] = end
                if place in wanted:
                    wanted[place] = text
    np.save(folder / "text_ends.npy", ends)
    queries = []
    for row in sources.tolist():
        wanted_words = wanted[row].split()
        queries.append(
            " ".join(generator.choice(wanted_words, size=min(int(generator.choice(QUERY_WORDS)), len(wanted_words))))
        )
    (folder / "query_texts.json").write_text(json.dumps(queries), encoding="utf-8")


def _texts(clusters: NDArray[np.int64], vocabulary: list[str], generator: np.random.Generator) -> list[str]:
    drawn = generator.lognormal(np.log(MEAN_WORDS) - 0.25, 0.7, len(clusters))
    lengths = np.clip(drawn, LEAST_WORDS, MOST_WORDS).astype(np.int64)
    ranks = _zipf_choice(generator, VOCABULARY, int(lengths.sum()), ZIPF_EXPONENT)
    topical = generator.random(len(ranks)) < TOPICAL_SHARE
    shift = 1_009 * (1 + np.repeat(clusters, lengths))
    ids = np.where(topical, (ranks + shift) % VOCABULARY, ranks).tolist()
    stops = np.cumsum(lengths).tolist()
    starts = [0, *stops[:-1]]
    return [" ".join(map(vocabulary.__getitem__, ids[start:stop])) for start, stop in zip(starts, stops, strict=True)]


def _edges(shape: Shape, generator: np.random.Generator) -> NDArray[np.int32]:
    """Distinct pairs of rows [m, 2], sorted: Zipfian numbers of edges out, popular targets, and the hub."""
    degrees = np.minimum(generator.zipf(1.9, shape.nodes), 500)
    degrees = generator.binomial(degrees, min(MEAN_DEGREE / float(degrees.mean()), 1.0))
    degrees[0] = 0
    origins = np.repeat(np.arange(shape.nodes), degrees)
    targets = (shape.nodes * generator.random(len(origins)) ** 2.0).astype(np.int64)
    hub = generator.choice(np.arange(1, shape.nodes), min(HUB_DEGREE, shape.nodes // 2), replace=False)
    pairs = np.concatenate(
        [np.stack([origins, targets], axis=1), np.stack([np.zeros(len(hub), dtype=np.int64), hub], axis=1)]
    )
    distinct: NDArray[np.int32] = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0).astype(np.int32)
    return distinct
