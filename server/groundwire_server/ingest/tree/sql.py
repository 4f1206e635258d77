"""SQL files as nodes and edges: tables, views, routines, and what reads, writes and calls them."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from groundwire_server.domain.scope import node_key
from groundwire_server.ingest.records import SkippedFile, SourceEdge, SourceNode
from groundwire_server.ingest.tree.chunking import Span, split_lines
from groundwire_server.ingest.tree.model import FileAnalysis, SourceFile
from groundwire_server.ingest.tree.sql_definitions import (
    Definition,
    ObjectType,
    altered_table,
    foreign_keys,
    signature,
)
from groundwire_server.ingest.tree.sql_dialect import detect_dialect
from groundwire_server.ingest.tree.sql_lexer import Dialect, Kind, Token
from groundwire_server.ingest.tree.sql_names import DEFAULT_SCHEMAS, SqlName, parse_name
from groundwire_server.ingest.tree.sql_objects import ADMITTED_TYPES, ObjectIndex, Resolved, SqlObject
from groundwire_server.ingest.tree.sql_reader import (
    Reading,
    Reference,
    dollar_body_tokens,
    read_definition_references,
    read_references,
)
from groundwire_server.ingest.tree.sql_statements import body_statements
from groundwire_server.ingest.tree.sql_tree import Relation
from groundwire_server.ingest.tree.sql_units import Statement, Unit, sql_units

_TRIGGER_TABLES = frozenset({"inserted", "deleted"})
