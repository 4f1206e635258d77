"""How a bundle names its nodes, and which node a name in an edge means.

A SQL object is `SQL:dbo.Invoice`, `dbo.Invoice|TABLE`, or both in one; its local id here is `dbo.Invoice|TABLE`. A key
that starts with `csharp:` names something in C# code (`csharp:ShopContext.Invoices|DBSET`) and is a node of kind `cs`.
SQL Server compares names without regard to case, so edges may spell a name in another case than its definition.
"""

from collections import defaultdict
from collections.abc import Iterable

from groundwire_index.scope import node_key
from groundwire_ingest.ingest_errors import IngestError

CODE_KIND = "cs"
SQL_KIND = "sql"

_SQL_PREFIX = "sql:"
_CODE_PREFIX = "csharp:"
_OBJECT_KINDS = {"PROCEDURE": "PROC", "STOREDPROCEDURE": "PROC", "FUNCTION": "FUNC"}
_UNDECIDED_KINDS = ("UNKNOWN", "TABLE_OR_VIEW")


def is_sql_key(key: str) -> bool:
    """True when a C# dependency names a SQL object."""
    return key.lower().startswith(_SQL_PREFIX)


def object_identity(key: str, object_kind: str, place: str) -> tuple[str, str]:
    """The node kind and local id of an entry of the SQL half; `object_kind` counts where the key names none.

    Raises IngestError when neither names the kind of a SQL object.
    """
    if key.lower().startswith(_CODE_PREFIX):
        return CODE_KIND, key[len(_CODE_PREFIX) :]
    name = _without_prefix(key)
    base, separator, own_kind = name.rpartition("|")
    if separator and base and own_kind:
        return SQL_KIND, f"{base}|{_canonical_kind(own_kind)}"
    if not object_kind.strip():
        raise IngestError(f"{place}: {key!r} has no kind; write the key as <name>|<kind>, or give the field 'kind'")
    return SQL_KIND, f"{name}|{_canonical_kind(object_kind)}"


class BundleKeys:
    """Finds the node that an edge of the SQL half, or a C# dependency on it, names."""

    def __init__(self, identities: Iterable[tuple[str, str]]) -> None:
        """`identities` are the node kinds and local ids of every node of the bundle."""
        self._exact: set[tuple[str, str]] = set(identities)
        self._by_spelling: dict[tuple[str, str], list[str]] = defaultdict(list)
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for kind, local_id in sorted(self._exact):
            self._by_spelling[kind, local_id.casefold()].append(local_id)
            if kind == SQL_KIND:
                self._by_name[local_id.rpartition("|")[0].casefold()].append(local_id)

    def find(self, key: str, place: str) -> str:
        """The node's key, `<kind>::<local id>`; one of no node when there is none.

        In order: the identity as spelled; the identity in another case; then, for a key without a definite kind, the
        only object of that name. A key without any prefix or kind may be the id of a C# chunk. Raises IngestError when
        the name alone could be several objects.
        """
        if key.lower().startswith(_CODE_PREFIX):
            return self._as_spelled(CODE_KIND, key[len(_CODE_PREFIX) :])
        name = _without_prefix(key)
        base, separator, object_kind = name.rpartition("|")
        if not separator:
            return self._by_bare_name(name, key, place)
        local_id = f"{base}|{_canonical_kind(object_kind)}"
        if object_kind.upper() in _UNDECIDED_KINDS and not self._by_spelling.get((SQL_KIND, local_id.casefold())):
            return self._by_bare_name(base, key, place)
        return self._as_spelled(SQL_KIND, local_id)

    def _as_spelled(self, kind: str, local_id: str) -> str:
        spellings = self._by_spelling.get((kind, local_id.casefold()), [])
        if (kind, local_id) not in self._exact and len(spellings) == 1:
            return node_key(kind, spellings[0])
        return node_key(kind, local_id)

    def _by_bare_name(self, name: str, key: str, place: str) -> str:
        candidates = self._by_name.get(name.casefold(), [])
        if len(candidates) > 1:
            raise IngestError(
                f"{place}: {key!r} may be any of {', '.join(candidates)}; add its kind, as in <name>|TABLE"
            )
        if candidates:
            return node_key(SQL_KIND, candidates[0])
        if (CODE_KIND, key) in self._exact:
            return node_key(CODE_KIND, key)
        return node_key(SQL_KIND, name)


def _without_prefix(key: str) -> str:
    return key[len(_SQL_PREFIX) :] if is_sql_key(key) else key


def _canonical_kind(object_kind: str) -> str:
    upper = object_kind.strip().upper()
    return _OBJECT_KINDS.get(upper.replace(" ", "").replace("_", ""), upper)
