"""From nodes of a source to rows of an index: tokens counted, texts cut into tokens, a span of rows at a time."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import repeat
from pathlib import Path

from groundwire.tokens import TokenCounter
from groundwire_index.files.durable_files import make_durable, sha256
from groundwire_index.files.segment import SpilledSegment
from groundwire_index.lexical.lexical import CODE, PROSE
from groundwire_index.nodes.node import Location, Node, content_hash
from groundwire_index.scope import Scope, canonical_id
from groundwire_index.store.rows import Rows
from groundwire_index.text.code_tokenizer import TOKENIZER_FINGERPRINT, tokenize
from groundwire_index.text.prose_tokenizer import PROSE_TOKENIZER_FINGERPRINT, tokenize_prose
from groundwire_ingest.build.collect import node_access
from groundwire_ingest.build.second_name import give_second_name
from groundwire_ingest.build.spool import SpooledNodes
from groundwire_ingest.processes import Advance
from groundwire_ingest.records import SourceNode, stored_fields

SYMBOL_WEIGHT = 3
"""How often BM25 counts a symbol's words: a name says more of a node than a word of its text (docs/quality.md)."""
TOKENIZERS = {CODE: TOKENIZER_FINGERPRINT, PROSE: PROSE_TOKENIZER_FINGERPRINT}
"""The makers of the lexical tables of a build."""

_ROWS_BETWEEN_REPORTS = 64


@dataclass(frozen=True, slots=True)
class SegmentMaker:
    """Makes segments of spooled nodes; may be sent to another process.

    The segments stay in the folder `kept`, for later builds, named by their nodes and content; `software` makes them.
    They do not depend on the branch.
    """

    nodes: SpooledNodes
    scope: Scope
    scratch: Path
    kept: Path
    software: str

    def known(self, rows: range, kept: Mapping[str, Path]) -> SpilledSegment | None:
        """The segment that an earlier build has made of equal nodes; None where there is none, or it was damaged.

        `kept` has the files of the folder by their stems.
        """
        path = kept.get(self._name(rows))
        is_sound = path is not None and sha256(path) == path.suffix[1:]
        return SpilledSegment.at(path, rows.start, len(rows)) if path and is_sound else None

    def shared(self, rows: range, others: Mapping[str, Path]) -> SpilledSegment | None:
        """The same of another branch, under a second name in the folder; `others` has the files by their stems."""
        file = others.get(self._name(rows))
        if file is None:
            return None
        target = self.kept / file.name
        # A file of this branch that has the name is damaged, or it would be known.
        if target.exists() or not give_second_name(file, target):
            return None
        segment = self.known(rows, {target.stem: target})
        if segment is None:
            target.unlink()
        return segment

    def made(self, rows: range, advance: Advance) -> SpilledSegment:
        """The segment of some rows; `advance` gets the number of rows as they are done."""
        collected = Rows(rows.start, TOKENIZERS)
        counter = TokenCounter()
        waiting = 0
        for source in self.nodes.read(rows):
            node = _node(source, self.scope, counter.count(source.text))
            collected.add(node, _tokens(node))
            waiting += 1
            if waiting == _ROWS_BETWEEN_REPORTS:
                advance(waiting)
                waiting = 0
        advance(waiting)
        spilled = collected.segment().spill(self.scratch / f"rows.{rows.start}")
        make_durable(spilled.path)
        name = f"{self._name(rows)}.{sha256(spilled.path)}"
        return replace(spilled, path=spilled.path.rename(self.kept / name))

    def _name(self, rows: range) -> str:
        of_all = f"{self.software}\0{self.scope.repository}".encode()
        return hashlib.blake2b(of_all + self.nodes.digest(rows), digest_size=16).hexdigest()


def _node(source: SourceNode, scope: Scope, token_count: int) -> Node:
    return Node(
        **stored_fields(source, source.repo_name or scope.repository),
        id=canonical_id(scope, source.kind, source.local_id),
        token_count=token_count,
        location=Location(source.path, source.start_line, source.end_line, content_hash(source.text)),
        access=node_access(source),
    )


def _tokens(node: Node) -> dict[str, list[str]]:
    """The tokens of all that is searched for words, by lexical table."""
    fields = (*repeat(node.symbol, SYMBOL_WEIGHT), node.location.path, node.context_prefix, node.text)
    searched = " ".join(field for field in fields if field)
    return {CODE: tokenize(searched), PROSE: tokenize_prose(searched)}
