"""An open index: its manifest and mapped tables.

Opening reads little. It compares the checksums of the files that decide access; `verify` compares the others. The
ends of edges to other repositories are read when a call over several indexes needs them.
"""

from functools import cached_property
from pathlib import Path

from groundwire_index.files.durable_files import sha256
from groundwire_index.graph.edges import Edges, ServiceEdges
from groundwire_index.index_errors import IndexDamagedError
from groundwire_index.lexical.lexical import CODE, PROSE, LexicalTable
from groundwire_index.lexical.name_table import NameTable
from groundwire_index.link_template import link_template
from groundwire_index.nodes.categories import CATEGORY_FILES
from groundwire_index.nodes.metadata_terms import METADATA_FILES, MetadataTerms
from groundwire_index.nodes.node_table import FLAGS_FILE, NodeTable
from groundwire_index.nodes.policies import POLICIES_FILE, POLICY_COLUMN, PolicyTable
from groundwire_index.nodes.reading_order import ReadingOrder
from groundwire_index.nodes.source_texts import open_source_texts
from groundwire_index.repository_edges.ends import ENDS_FILE, read_ends
from groundwire_index.repository_edges.stored_ends import NO_ENDS, StoredEnds
from groundwire_index.scope import Scope, id_prefix
from groundwire_index.store.manifest import FileEntry, LexicalSpace, Manifest, check_sizes
from groundwire_index.vectors.vector_file import VectorTable

ACCESS_FILES = (POLICIES_FILE, POLICY_COLUMN, FLAGS_FILE, *CATEGORY_FILES, *METADATA_FILES)
"""The files that visibility depends on: flags for deleted nodes, categories and metadata for bounds."""


class LoadedIndex:
    """One immutable index version, mapped. Safe to share between threads.

    `lexical` holds code tokens, `prose` prose tokens; either is None for an index without it, as are `vectors`.
    """

    def __init__(self, directory: Path) -> None:
        """Opens an index directory.

        Raises:
            IndexDamagedError: A file is missing, of another size or misshapen, or one of ACCESS_FILES has another
                content.
        """
        self.directory = directory
        self.manifest = Manifest.read(directory)
        check_sizes(directory, self.manifest)
        _check_access_files(directory, self.manifest)
        count = self.manifest.node_count
        self.nodes = NodeTable(directory, count, link_template(self.manifest.link_template))
        self.policies = PolicyTable(directory, count)
        self.edges = Edges(directory, self.manifest.edge_count)
        space = self.manifest.vector_space
        self.vectors = None if space is None else VectorTable(directory, count, space.dimension)
        self.lexical = _lexical_table(directory, CODE, count, self.manifest.code)
        self.prose = _lexical_table(directory, PROSE, count, self.manifest.prose)
        self.names = NameTable(directory)
        self.metadata_terms = MetadataTerms(directory)
        self.reading_order = ReadingOrder(directory, count)
        self.service_edges = ServiceEdges(directory)
        self.source_runs = open_source_texts(directory)

    @cached_property
    def ends(self) -> StoredEnds:
        """The ends of edges to other repositories. Raises IndexDamagedError."""
        entry = next((entry for entry in self.manifest.files if entry.name == ENDS_FILE), None)
        if entry is None:
            return NO_ENDS
        _check_content(self.directory, entry)
        prefix, ids = id_prefix(self.scope), self.nodes.ids
        return StoredEnds.of(read_ends(self.directory / ENDS_FILE), lambda key: ids.find(prefix + key))

    @property
    def scope(self) -> Scope:
        """The scope with this version pinned."""
        return Scope(self.manifest.repository, self.manifest.branch, self.manifest.version)


def open_version(directory: Path, scope: Scope) -> LoadedIndex:
    """Opens the version that `scope` pins. Raises IndexDamagedError, also when the directory holds another one."""
    index = LoadedIndex(directory)
    if index.scope != scope:
        built = f"{index.scope.active_index!r} of {index.scope.repository} {index.scope.branch}"
        raise IndexDamagedError(f"{directory}: holds version {built}; move it back, or build anew")
    return index


def verify(directory: Path) -> LoadedIndex:
    """Reads every file of an index, compares its checksum and opens it. Raises IndexDamagedError naming a bad file."""
    manifest = Manifest.read(directory)
    check_sizes(directory, manifest)
    for entry in manifest.files:
        _check_content(directory, entry)
    return LoadedIndex(directory)


def _check_access_files(directory: Path, manifest: Manifest) -> None:
    entries = {entry.name: entry for entry in manifest.files}
    for name in ACCESS_FILES:
        if name not in entries:
            raise IndexDamagedError(f"{name}: is not in the manifest")
        _check_content(directory, entries[name])


def _check_content(directory: Path, entry: FileEntry) -> None:
    try:
        digest = sha256(directory / entry.name)
    except OSError as error:
        raise IndexDamagedError(f"{entry.name}: {error}") from error
    if digest != entry.sha256:
        raise IndexDamagedError(f"{entry.name}: its content does not match the manifest's checksum")


def _lexical_table(directory: Path, name: str, node_count: int, space: LexicalSpace | None) -> LexicalTable | None:
    return None if space is None else LexicalTable(directory, name, node_count, space.term_count, space.posting_count)
