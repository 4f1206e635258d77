"""From a source to a published index version: collect, embed, count and tokenise, write, publish, activate.

Nodes wait on disk and pass through memory a block at a time. So the memory of a build does not grow with the source,
except for its keys, its edges as numbers and the vocabularies (docs/adr/0016).
"""

import gc
import shutil
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from groundwire.tokens import TokenCounter
from groundwire_index.embedding.embedder import Embedder, ProbedEmbedder, TextEmbedder
from groundwire_index.embedding.model_names import LOOPBACK, PACKAGED_MODELS
from groundwire_index.nodes.categories import open_categories
from groundwire_index.progress import Progress, ProgressCallback
from groundwire_index.scope import Scope
from groundwire_index.storage import Storage
from groundwire_index.store.manifest import VectorSpace
from groundwire_index.store.store import SEGMENTS_FOLDER, IndexStore
from groundwire_index.store.writer import Job as TableJob
from groundwire_index.store.writer import LexicalSize, Origin, seal_index, write_tables
from groundwire_ingest.build.collect import Collected, collect
from groundwire_ingest.build.kept_collection import COLLECTION_FOLDER, KeptCollection
from groundwire_ingest.build.other_branches import OtherBranches
from groundwire_ingest.build.segments import TOKENIZERS, SegmentMaker
from groundwire_ingest.build.vectors import embed_nodes, own_vectors_refused, write_own_vectors
from groundwire_ingest.embedding.cache import EmbeddingCache
from groundwire_ingest.embedding.index_texts import check_same_model, vector_space
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.processes import Advance, processor_count, runner
from groundwire_ingest.records import ComparableSource, FileContents, SkippedFile, Source, SourceOfFiles, SourceRecord
from groundwire_ingest.software import software

EMBEDDING_CACHE_FILE = ".embeddings.sqlite3"
BYTES_WORTH_PROCESSES = 16 << 20
BYTES_A_SEGMENT = 16 << 20
_MERGING = 16
"""Merging segments takes less time than making them, by about this factor."""
_RECORDS_BETWEEN_REPORTS = 256


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """The parameters of a build, and its most processes.

    `scope.active_index` names the version; `embedder` None means that texts are not embedded. Nodes that take less than
    `bytes_worth_processes` on disk are done before other processes would have started. A segment's nodes take at most
    about `bytes_a_segment` there. `inputs` is the value of `Manifest.inputs`. `are_inputs_unchanged` is called once the
    source has been read: a file that changed meanwhile may have been read before or after its change. `send_texts_to`
    is the host of an embedding service that may get texts with access rules. `spaces` has the results of `vector_space`
    for models in this process, of earlier builds and then of this one. `link_template` is that of the manifest.
    """

    data: Path
    scope: Scope
    embedder: Embedder | None
    activate: bool = True
    skip_dangling_edges: bool = False
    processes: int = field(default_factory=processor_count)
    bytes_worth_processes: int = BYTES_WORTH_PROCESSES
    bytes_a_segment: int = BYTES_A_SEGMENT
    inputs: str = ""
    are_inputs_unchanged: Callable[[], bool] = lambda: True
    send_texts_to: str = ""
    link_template: str = ""
    spaces: dict[Embedder, tuple[VectorSpace, TextEmbedder]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BuildReport:
    """The result of a build: counts, edges by type, files left out, and the numbers of texts embedded and reused."""

    scope: Scope
    source: str
    node_count: int
    kinds: tuple[tuple[str, int], ...]
    edge_types: tuple[tuple[str, int], ...]
    skipped: tuple[SkippedFile, ...]
    unused_patterns: tuple[str, ...]
    dropped_edges: int
    embedded: int
    reused: int
    activated: bool


def build_index(
    source: Source, options: BuildOptions, progress: Progress, storage: Storage | None = None
) -> BuildReport:
    """Builds and publishes a version in `storage`, which is the data folder unless given.

    Raises IngestError and BuildRefusedError; then, and when interrupted, nothing was published.
    """
    storage = storage or IndexStore(options.data)
    storage.check_free(options.scope)
    counter = TokenCounter()
    with storage.build(options.scope, progress) as directory:
        with TemporaryDirectory(prefix=".", dir=directory) as name:
            scratch = Path(name)
            # What a deletion of another branch's version would not reach is not shared.
            others = OtherBranches.beside(directory.parent) if storage.keeps_collections else OtherBranches()
            kept = _kept_collection(source, directory, options, storage, others)
            collected, contents, was_read = _collect(source, options, scratch, kept, others, progress)
            inputs = "" if was_read and not options.are_inputs_unchanged() else options.inputs
            space, embedded, reused = _write_vectors(directory, collected, options, progress, counter)
            keeps_nodes = kept is not None
            lexical = _write_tables(directory, collected, options, scratch, others, progress, keeps_nodes=keeps_nodes)
            collected.ends.copy_to(directory)
            if kept is not None:
                # Of files that changed while they were read it is not known what was collected of them.
                kept.save(collected, contents if inputs else ())
        origin = Origin(
            scope=options.scope,
            created=datetime.now(UTC),
            source=source.description,
            token_counter=counter.name,
            token_counter_fingerprint=counter.fingerprint,
            vector_space=space,
            tokenizers=TOKENIZERS,
            skipped=[(skipped.path, skipped.why) for skipped in collected.skipped],
            inputs=inputs,
            link_template=options.link_template,
        )
        with progress.stage("Saving", "files") as report_files:
            seal_index(directory, origin, len(collected.nodes), collected.edges, lexical, report_files)
        kinds = open_categories(directory, len(collected.nodes))["kind"]
        report = BuildReport(
            scope=options.scope,
            source=source.description,
            node_count=len(collected.nodes),
            kinds=_counts([kinds.values[code] for code in range(len(kinds.values))], kinds.codes),
            edge_types=_counts(collected.edges.edge_types, collected.edges.types),
            skipped=collected.skipped,
            unused_patterns=source.unused_patterns() if isinstance(source, ComparableSource) else (),
            dropped_edges=collected.dropped_edges,
            embedded=embedded,
            reused=reused,
            activated=options.activate,
        )
    if options.activate:
        with progress.stage("Activating", "versions") as report_versions:
            storage.activate(options.scope)
            report_versions(1, 1)
    return report


def _kept_collection(
    source: Source, directory: Path, options: BuildOptions, storage: Storage, others: OtherBranches
) -> KeptCollection | None:
    """What the last builds of the branch and of others have collected; None where a source or storage keeps nothing."""
    folder = directory.parent / SEGMENTS_FOLDER / COLLECTION_FOLDER
    if not isinstance(source, ComparableSource) or not storage.keeps_collections:
        shutil.rmtree(folder, ignore_errors=True)  # of a build of another source
        return None
    settings = (*software(), source.settings, options.skip_dangling_edges, options.scope.repository)
    return KeptCollection(folder, repr(settings), options.scope, others.collections)


def _collect(
    source: Source,
    options: BuildOptions,
    scratch: Path,
    kept: KeptCollection | None,
    others: OtherBranches,
    progress: Progress,
) -> tuple[Collected, FileContents, bool]:
    """What the source holds, the contents of its files, as far as it tells them, and whether it was read."""
    if kept is None or not isinstance(source, ComparableSource):
        return _collected_anew(source, options, scratch, progress), (), True
    with source.readings_in(kept.readings_file, "\n".join(software()), others.readings):
        with progress.stage("Comparing", "files") as report:
            contents = source.contents()
            renewed = kept.renewed(source, contents, scratch)
            report(len(contents), len(contents))
        if renewed is not None:
            return renewed, contents, False
        return _collected_anew(source, options, scratch, progress), contents, True


def _collected_anew(source: Source, options: BuildOptions, scratch: Path, progress: Progress) -> Collected:
    with _without_garbage_collection(), closing(_counted(source, progress)) as records:
        return collect(records, options.scope, scratch, skip_dangling_edges=options.skip_dangling_edges)


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Stops the search for cycles: the facts of a source have none, and the search takes a sixth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _counted(source: Source, progress: Progress) -> Generator[SourceRecord]:
    """The records of a source, while its progress is shown: by files, where it has files, and then by edges."""
    records = source.read()
    if not isinstance(source, SourceOfFiles):
        with progress.stage("Reading", "records") as report:
            yield from _reported(records, report)
        return
    with progress.stage("Reading", "files") as report:
        for record in records:
            report(source.files_read, source.file_count)
            yield record
            if 0 < source.file_count == source.files_read:
                report(source.files_read, source.file_count)
                break
    with progress.stage("Linking", "edges") as report:
        yield from _reported(records, report)


def _reported(records: Iterator[SourceRecord], report: ProgressCallback) -> Iterator[SourceRecord]:
    count = 0
    for count, record in enumerate(records, start=1):
        if count % _RECORDS_BETWEEN_REPORTS == 0:
            report(count, 0)
        yield record
    report(count, 0)


def _write_vectors(
    directory: Path, collected: Collected, options: BuildOptions, progress: Progress, counter: TokenCounter
) -> tuple[VectorSpace | None, int, int]:
    """The space of the vectors, None without any; how many distinct texts were embedded, and had been before."""
    nodes, dimension, embedder = collected.nodes, collected.dimension, options.embedder
    if embedder is None:
        return None if dimension is None else write_own_vectors(directory, nodes, dimension), 0, 0
    if dimension is not None:
        raise own_vectors_refused(nodes)
    if isinstance(embedder, ProbedEmbedder) and embedder.host not in (*LOOPBACK, options.send_texts_to):
        restricted = next((node for node in nodes if any(astuple(node.access))), None)
        if restricted is not None:
            raise IngestError(
                f"{restricted.origin}: has access rules, and its text would be sent to {embedder.host}: "
                f"confirm with --send-texts-to {embedder.host}, or give a model that runs here"
            )
    with progress.stage("Preparing model", "models") as report:
        if isinstance(embedder, ProbedEmbedder) or embedder not in options.spaces:
            options.spaces[embedder] = vector_space(embedder, options.data, options.processes)
        space, texts = options.spaces[embedder]
        report(1, 1)
    with EmbeddingCache(options.data / EMBEDDING_CACHE_FILE) as cache:
        if isinstance(embedder, ProbedEmbedder):
            check_same_model(embedder, cache)
        with_paths = embedder.name in PACKAGED_MODELS
        embedded, reused = embed_nodes(directory, nodes, texts, cache, progress, counter, with_paths=with_paths)
    return space, embedded, reused


def _write_tables(
    directory: Path,
    collected: Collected,
    options: BuildOptions,
    scratch: Path,
    others: OtherBranches,
    progress: Progress,
    *,
    keeps_nodes: bool,
) -> dict[str, LexicalSize]:
    nodes = collected.nodes
    kept = directory.parent / SEGMENTS_FOLDER
    kept.mkdir(exist_ok=True)
    before = {path.stem: path for path in kept.iterdir() if path.is_file()}
    maker = SegmentMaker(nodes, options.scope, scratch, kept, "\n".join(software()))
    spans = nodes.spans(options.bytes_a_segment)
    segments = {span: segment for span in spans if (segment := maker.known(span, before)) is not None}
    if len(segments) < len(spans):
        shared = others.segments()
        missing = [span for span in spans if span not in segments]
        segments |= {span: segment for span in missing if (segment := maker.shared(span, shared)) is not None}
    new = [span for span in spans if span not in segments]
    work = sum(map(nodes.byte_count, new)) + nodes.byte_count(range(len(nodes))) // _MERGING
    with runner(options.processes if work >= options.bytes_worth_processes else 1) as runs:
        with progress.stage("Tokenising", "nodes") as report:
            known = sum(map(len, segments))
            made = runs.run([partial(maker.made, span) for span in new], lambda done: report(known + done, len(nodes)))
            segments.update(zip(new, made, strict=True))
        if not keeps_nodes:
            nodes.discard()
        with progress.stage("Writing tables", "tables") as report:

            def run_jobs(jobs: Sequence[TableJob]) -> Sequence[LexicalSize | None]:
                return runs.run([partial(_run_table_job, job) for job in jobs], lambda done: report(done, len(jobs)))

            in_order = [segments[span] for span in spans]
            sizes = write_tables(
                directory,
                options.scope,
                in_order,
                collected.edges,
                collected.texts,
                tuple(TOKENIZERS),
                scratch,
                run_jobs,
            )
    for path in {*before.values()} - {segment.path for segment in in_order}:
        path.unlink()
    return sizes


def _run_table_job(job: TableJob, advance: Advance) -> LexicalSize | None:
    result = job()
    advance(1)
    return result


def _counts(names: Sequence[str], codes: NDArray[np.int32]) -> tuple[tuple[str, int], ...]:
    """How many of the codes name each of the names."""
    return tuple(zip(names, np.bincount(codes, minlength=len(names)).tolist(), strict=True))
