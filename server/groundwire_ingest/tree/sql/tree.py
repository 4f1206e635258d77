"""The objects that a parsed query reads, writes and calls: aliases resolved, common table expressions left out."""

from collections.abc import Iterator

from sqlglot import exp

from groundwire_ingest.tree.sql.object_names import Found, Relation, SqlName, name_from_parts


def tree_references(tree: exp.Expr) -> list[Found]:
    """The objects that `tree` names, in the order of the tree; a name may come more than once."""
    found: list[Found] = []
    targets = _targets(tree)
    for node in tree.dfs():
        if isinstance(node, exp.Anonymous):
            name = _function_name(node)
            if name is not None:
                found.append((Relation.CALLS, name))
        elif isinstance(node, exp.Table) and _common_expression(node) is None:
            name = _table_name(node)
            if name is not None:
                found.append((Relation.WRITES if id(node) in targets else Relation.READS, name))
    return found


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
    return name_from_parts(_parts(table, table.name))


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
    parts: list[str] = [call.name]
    if isinstance(holder, exp.Dot) and holder.expression is call:
        parts = [part.name for part in holder.this.find_all(exp.Identifier)][-2:] + parts
    elif isinstance(holder, exp.Table) and holder.this is call:
        parts = _parts(holder, call.name)
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
