"""An open version: its document, and what of its facts and files was read."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from groundwire_index.index_errors import IndexDamagedError
from groundwire_index.lexical.lexical import CODE, PROSE
from groundwire_index.repository_edges.ends import ENDS_FILE, ends_of_lines
from groundwire_index.repository_edges.stored_ends import NO_ENDS, StoredEnds
from groundwire_index.scope import Scope
from groundwire_milvus.document import VersionDocument
from groundwire_milvus.facts import CODE_TERM, PROSE_TERM, TRIGRAM, fact_key, read_facts
from groundwire_milvus.packing import TermFact, unpacked_term
from groundwire_milvus.schema import VersionCollections
from groundwire_milvus.serving.filter_expression import both, rows_from
from groundwire_milvus.store import MilvusStore
from groundwire_milvus.whole_files import CLASS_NUMBER, CLASSES_FILE, ENDS_ROWS_FILE, ROW_NUMBER, file_pieces

MAX_KEPT_FACTS = 100_000
"""Of one version; they take some 30 MB."""
FACTS_AT_A_TIME = 4_096
_KINDS = {CODE: CODE_TERM, PROSE: PROSE_TERM}


class OpenVersion:
    """A version that is ready, its manifest, and the scope that pins it. Thread-safe; what it reads never changes.

    Its methods raise StorageUnavailableError and CollectionMissingError.
    """

    def __init__(self, store: MilvusStore, collections: VersionCollections, document: VersionDocument) -> None:
        self.store = store
        self.collections = collections
        self.document = document
        self.manifest = document.manifest
        self.scope = Scope(self.manifest.repository, self.manifest.branch, self.manifest.version)
        self._facts: OrderedDict[str, str | None] = OrderedDict()
        self._classes: NDArray[np.int32] | None = None
        self._ends: StoredEnds | None = None
        self._lock = Lock()

    def within(self, allowed: str, first: int, end: int) -> str:
        """The expression of the allowed rows of a range."""
        is_all = first == 0 and end == self.manifest.node_count
        return allowed if is_all else both(allowed, rows_from(first, end))

    def read_words(self, words: Mapping[str, Iterable[str]], trigrams: Iterable[str]) -> None:
        """Reads what is known of the words of some lexical tables, and of trigrams, in one request."""
        keys = [fact_key(_KINDS[table], word) for table, table_words in words.items() for word in table_words]
        self._read([*keys, *(fact_key(TRIGRAM, trigram) for trigram in trigrams)])

    def term(self, table: str, word: str) -> TermFact | None:
        """The facts about a word of a lexical table; None when no node of the index has it."""
        packed = self._fact(fact_key(_KINDS[table], word))
        return None if packed is None else unpacked_term(packed)

    def trigram(self, trigram: str) -> int | None:
        """The number of a trigram in the sparse vectors; None when no name of the index holds it."""
        number = self._fact(fact_key(TRIGRAM, trigram))
        return None if number is None else int(number)

    @property
    def classes(self) -> NDArray[np.int32]:
        """The visibility class of each node [n], read once. Raises IndexDamagedError."""
        if self._classes is None:
            content = self._content_of(CLASSES_FILE)
            if len(content) != self.manifest.node_count * CLASS_NUMBER.itemsize:
                raise IndexDamagedError(
                    f"{CLASSES_FILE}: has {len(content)} bytes for {self.manifest.node_count} nodes"
                )
            self._classes = np.frombuffer(content, dtype=CLASS_NUMBER)
        return self._classes

    @property
    def ends(self) -> StoredEnds:
        """The ends of edges to other repositories, read once. Raises IndexDamagedError."""
        if self._ends is None:
            self._ends = NO_ENDS if self.document.file(ENDS_FILE) is None else self._read_ends()
        return self._ends

    def _read_ends(self) -> StoredEnds:
        ends = ends_of_lines(self._content_of(ENDS_FILE).splitlines())
        keys, rows = ends.keys, np.frombuffer(self._content_of(ENDS_ROWS_FILE), dtype=ROW_NUMBER).tolist()
        if len(keys) != len(rows):
            raise IndexDamagedError(f"{ENDS_ROWS_FILE}: has {len(rows)} rows for {len(keys)} keys")
        row_by_key = {key: row for key, row in zip(keys, rows, strict=True) if row >= 0}
        return StoredEnds.of(ends, row_by_key.get)

    def _content_of(self, name: str) -> bytes:
        entry = self.document.file(name)
        if entry is None:
            raise IndexDamagedError(f"{name}: is not in the document of the version")
        return b"".join(file_pieces(self.store, self.collections.facts, entry))

    def _fact(self, key: str) -> str | None:
        with self._lock:
            if key in self._facts:
                self._facts.move_to_end(key)
                return self._facts[key]
        return self._read([key])[key]

    def _read(self, keys: Sequence[str]) -> Mapping[str, str | None]:
        with self._lock:
            fresh = [key for key in dict.fromkeys(keys) if key not in self._facts]
        content_of_key: dict[str, str | None] = {}
        for first in range(0, len(fresh), FACTS_AT_A_TIME):
            some = fresh[first : first + FACTS_AT_A_TIME]
            content_of_key |= dict.fromkeys(some)
            content_of_key |= read_facts(self.store, self.collections.facts, some)
        with self._lock:
            self._facts.update(content_of_key)
            while len(self._facts) > MAX_KEPT_FACTS:
                self._facts.popitem(last=False)
        return content_of_key
