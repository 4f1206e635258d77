"""The dependencies of one query or change, by its syntax tree: aliases resolved, common table expressions left out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from groundwire_ingest.tree.sql.lexer import Dialect, Kind, Token
from groundwire_ingest.tree.sql.object_names import (
    Found,
    Relation,
    SqlName,
    functions_of_sql,
    identifier,
    name_from_parts,
    read_name,
    unquoted,
)
from groundwire_ingest.tree.sql.parse import NotParsedError, broken_trees, parse_statement
from groundwire_ingest.tree.sql.tokens import closing_parenthesis, depth_change, keyword_at, keyword_set

_VIEW_OPTIONS = keyword_set("NO DATA CHECK CASCADED LOCAL READ")
_INSERTS_INTO = keyword_set("INSERT MERGE REPLACE IGNORE LOW_PRIORITY DELAYED HIGH_PRIORITY OVERWRITE")
_AFTER_INTO_LIST = keyword_set("FROM WHERE GROUP ORDER LIMIT UNION HAVING USING SELECT VALUES EXCEPT INTERSECT")
_CHANGES = keyword_set("INSERT UPDATE DELETE MERGE")
_VERBS_FOR_PARSER = {"PERFORM": "SELECT", "REPLACE": "INSERT"}
_ASSIGNMENT_OPERATORS = frozenset("+-*/%&|^")
_OF_A_SCHEMA = "__of_a_schema"
"""Ends the name of a function in a schema where sqlglot has a function of that name, with other parameters."""


@dataclass(frozen=True, slots=True)
class QueryReading:
    """The dependencies of a query: certain ones, and those of a broken tree when `why_unparsed` has an error."""

    certain: list[Found]
    guessed: list[Found]
    why_unparsed: str | None


def read_query(text: str, code: Sequence[Token], dialect: Dialect) -> QueryReading:
    """Reads the query or change that `code`, tokens of `text`, consists of."""
    kept, written = plain_query(text, code, dialect)
    certain: list[Found] = [(Relation.WRITES, name) for name in written]
    sql = _for_parser(text, kept, dialect)
    try:
        return QueryReading([*certain, *tree_references(parse_statement(sql, dialect))], [], None)
    except NotParsedError as error:
        # A parameter may replace any piece of SQL here, or nothing.
        sql = _for_parser(text, [token for token in kept if token.keyword != "?"], dialect)
        guessed = [reference for tree in broken_trees(sql, dialect) for reference in tree_references(tree)]
        return QueryReading(certain, guessed, str(error))


def plain_query(text: str, code: Sequence[Token], dialect: Dialect) -> tuple[list[Token], list[SqlName]]:
    """The query without what sqlglot does not know, and the tables named in what was taken out.

    Out go SELECT/RETURNING/OUTPUT ... INTO (a table in T-SQL, variables elsewhere), options at the end of a
    view, TOP (n) of a change, and T-SQL's table hints and the operators of its compound assignments.
    """
    kept: list[Token] = []
    written: list[SqlName] = []
    depth = index = 0
    while index < len(code):
        token = code[index]
        depth += depth_change(token)
        previous = keyword_at(code, index - 1)
        if token.keyword == "INTO" and depth == 0 and previous not in _INSERTS_INTO:
            index = _after_into(text, code, index + 1, dialect, written)
        elif token.keyword == "WITH" and depth == 0 and keyword_at(code, index + 1) in _VIEW_OPTIONS:
            break
        elif (token.keyword == "TOP" and previous in _CHANGES) or (
            dialect is Dialect.TSQL and token.keyword == "WITH" and keyword_at(code, index + 1) == "("
        ):
            index = closing_parenthesis(code, index + 1) + 1
        elif dialect is Dialect.TSQL and _is_compound_assignment(code, index):
            index += 1
        else:
            kept.append(token)
            index += 1
    return kept, written


def _after_into(text: str, code: Sequence[Token], index: int, dialect: Dialect, written: list[SqlName]) -> int:
    """The index after the INTO list at `index`; in T-SQL it names a table, which is added to `written`."""
    if dialect is Dialect.TSQL:
        name, index = read_name(text, code, index)
        if name is not None:
            written.append(name)
        return closing_parenthesis(code, index) + 1 if keyword_at(code, index) == "(" else index
    while index < len(code) and code[index].keyword not in _AFTER_INTO_LIST:
        index += 1
    return index


def _is_compound_assignment(code: Sequence[Token], index: int) -> bool:
    """True if the operator at `index` is the first half of `+=`, `-=` ..."""
    return (
        code[index].keyword in _ASSIGNMENT_OPERATORS
        and keyword_at(code, index + 1) == "="
        and code[index + 1].start == code[index].end
    )


def _for_parser(text: str, code: Sequence[Token], dialect: Dialect) -> str:
    """The source of `code` as sqlglot knows it.

    A name such as `dbo.Split` before a parenthesis gets an end that `_plain_name` takes off again.
    PERFORM and REPLACE become the verbs that they mean, and `$1` a column's name: in `$1,$2` sqlglot sees the start of
    a dollar-quoted string. Where any quotes are allowed around a name, it gets those of the standard.
    """
    pieces: list[str] = []
    for index, token in enumerate(code):
        if index and token.start > code[index - 1].end:
            pieces.append(" ")
        written = text[token.start : token.end]
        if token.kind is Kind.VARIABLE and written[0] == "$":
            written = f"parameter{written[1:]}"
        elif token.kind is Kind.QUOTED and dialect is Dialect.GENERIC:
            written = exp.to_identifier(unquoted(written), quoted=True).sql()
        if _is_qualified_call(text, code, index):
            written = (
                f"{written[:-1]}{_OF_A_SCHEMA}{written[-1]}" if token.kind is Kind.QUOTED else written + _OF_A_SCHEMA
            )
        pieces.append(written if index else _VERBS_FOR_PARSER.get(token.keyword, written))
    return "".join(pieces)


def _is_qualified_call(text: str, code: Sequence[Token], index: int) -> bool:
    """True if the token at `index` is the name of a function of SQL, but after a schema and before a parenthesis."""
    if code[index].kind not in {Kind.WORD, Kind.QUOTED}:
        return False
    is_between = keyword_at(code, index - 1) == "." and keyword_at(code, index + 1) == "("
    return is_between and identifier(text, code[index]).upper() in functions_of_sql()


def _plain_name(name: str) -> str:
    """A name of the tree as the source has it."""
    return name.removesuffix(_OF_A_SCHEMA)


def tree_references(tree: exp.Expr) -> list[Found]:
    """The objects that `tree` names, in the order of the tree; a name may come more than once."""
    references: list[Found] = []
    targets = _targets(tree)
    for node in tree.dfs():
        if isinstance(node, exp.Anonymous):
            name = _function_name(node)
            if name is not None:
                references.append((Relation.CALLS, name))
        elif isinstance(node, exp.Table) and _common_expression(node) is None:
            name = _table_name(node)
            if name is not None:
                references.append((Relation.WRITES if id(node) in targets else Relation.READS, name))
    return references


def _targets(tree: exp.Expr) -> set[int]:
    """Identities of the table nodes that the statement changes, found behind aliases and simple expressions."""
    targets: set[int] = set()
    for change in tree.find_all(exp.Insert, exp.Update, exp.Delete, exp.Merge):
        for written in _written_tables(change):
            targets.add(id(written))
            targets.update(id(table) for table in _meant_by(change, written))
    return targets


def _written_tables(change: exp.Expr) -> list[exp.Table]:
    listed = change.args.get("tables") if isinstance(change, exp.Delete) else None
    candidates = listed or [change.this.this if isinstance(change.this, exp.Schema) else change.this]
    return [candidate for candidate in candidates if isinstance(candidate, exp.Table)]


def _meant_by(change: exp.Expr, written: exp.Table) -> Iterator[exp.Table]:
    """The tables that an unqualified target means: the one of that alias or name, the one behind its CTE."""
    if written.db or isinstance(change, (exp.Insert, exp.Merge)):
        return
    wanted = written.name.casefold()
    expression = _common_expression(written)
    if expression is not None:
        sources = list(expression.find_all(exp.Table))
        yield from sources if len(sources) == 1 else ()
        return
    for table in change.find_all(exp.Table):
        if table is not written and table.alias_or_name.casefold() == wanted:
            yield table


def _table_name(table: exp.Table) -> SqlName | None:
    """The name of a table; None for functions in its place and for the bare alias of an UPDATE or DELETE target."""
    if not isinstance(table.this, exp.Identifier) or _is_alias_of_other(table):
        return None
    if table.this.args.get("temporary"):
        return None
    return name_from_parts(_parts(table, _plain_name(table.name)))


def _is_alias_of_other(table: exp.Table) -> bool:
    change = table.parent
    if table.db or not isinstance(change, (exp.Update, exp.Delete)):
        return False
    wanted = table.name.casefold()
    return any(
        other is not table and other.alias.casefold() == wanted for other in change.find_all(exp.Table) if other.alias
    )


def _function_name(call: exp.Anonymous) -> SqlName | None:
    """The name of a called function that sqlglot does not know, with the schema from around it."""
    holder = call.parent
    name = _plain_name(call.name)
    parts: list[str] = [name]
    if isinstance(holder, exp.Dot) and holder.expression is call:
        parts = [part.name for part in holder.this.find_all(exp.Identifier)][-2:] + parts
    elif isinstance(holder, exp.Table) and holder.this is call:
        parts = _parts(holder, name)
    return name_from_parts(parts)


def _parts(table: exp.Table, name: str) -> list[str]:
    """[database, schema, name] as far as written; the schema is "" in `Shop..Invoice`."""
    if table.catalog:
        return [table.catalog, table.db, name]
    return [table.db, name] if table.db else [name]


def _common_expression(table: exp.Table) -> exp.CTE | None:
    """The CTE in scope that an unqualified name means: of an enclosing WITH, and not written after the use."""
    if table.db or not isinstance(table.this, exp.Identifier):
        return None
    wanted = table.name.casefold()
    inside: exp.Expr = table
    while (outer := inside.parent) is not None:
        clause = outer if isinstance(outer, exp.With) else outer.args.get("with_") or outer.args.get("with")
        if isinstance(clause, exp.With) and clause is not inside:
            for expression in clause.expressions:
                if expression is inside and not (clause.recursive or isinstance(expression.this, exp.SetOperation)):
                    break
                if expression.alias.casefold() == wanted:
                    return expression if isinstance(expression, exp.CTE) else None
        inside = outer
    return None
