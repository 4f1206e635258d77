"""What an index holds for each way of searching it, or the refusal when it lacks that."""

import numpy as np
from numpy.typing import NDArray

from groundwire_index.lexical.lexical import LexicalTable
from groundwire_index.store.loaded import LoadedIndex
from groundwire_index.store.manifest import LexicalSpace
from groundwire_index.text.code_tokenizer import TOKENIZER_FINGERPRINT
from groundwire_index.text.prose_tokenizer import PROSE_TOKENIZER_FINGERPRINT
from groundwire_index.vectors.vectors import VectorTable
from groundwire_server.domain.errors import PreconditionError, Reason


def vectors_of(index: LoadedIndex, query: NDArray[np.float64] | None) -> tuple[VectorTable, NDArray[np.float64]]:
    """The vectors, and the query's."""
    if index.vectors is None or query is None:
        raise AssertionError("vectors are searched where there are some, with one")
    return index.vectors, query


def code_words_of(index: LoadedIndex, advice: str) -> LexicalTable:
    """The BM25 artifacts over code tokens. Raises PreconditionError, also when another tokeniser made them."""
    return _words(index, index.manifest.code, index.lexical, TOKENIZER_FINGERPRINT, f"has no BM25 artifacts; {advice}")


def prose_words_of(index: LoadedIndex, advice: str) -> LexicalTable:
    """The BM25 artifacts over prose tokens. Raises PreconditionError, also when another tokeniser made them."""
    missing = f"has no BM25 artifacts of prose; {advice}"
    return _words(index, index.manifest.prose, index.prose, PROSE_TOKENIZER_FINGERPRINT, missing)


def _words(
    index: LoadedIndex, space: LexicalSpace | None, table: LexicalTable | None, tokenizer: str, missing: str
) -> LexicalTable:
    if space is None or table is None:
        raise _lacks(index, Reason.LEXICAL_MISSING, missing)
    if space.tokenizer != tokenizer:
        why = "was tokenised by other rules than this server's; build it anew"
        raise _lacks(index, Reason.LEXICAL_MISSING, why)
    return table


def _lacks(index: LoadedIndex, reason: Reason, what: str) -> PreconditionError:
    version = index.manifest.version
    return PreconditionError(reason, f"index {version!r} {what}", {"active_index": version})
