"""From a file's declarations and chunks to definitions, nodes and Contains edges."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace

from groundwire_index.nodes.node import CONTAINS
from groundwire_index.scope import node_key
from groundwire_ingest.records import SourceEdge, SourceNode
from groundwire_ingest.tree.code_facts import Definition, Trait
from groundwire_ingest.tree.languages.chunks import Chunk, signature
from groundwire_ingest.tree.languages.nodes import end_row
from groundwire_ingest.tree.languages.outline import Declared, ParsedFile
from groundwire_ingest.tree.languages.syntax import DefinitionRange, Places, Syntax


def row_places(parsed: ParsedFile, chunks: Sequence[Chunk]) -> Places:
    """The places of definitions and chunks in the file. `chunks` are in the order in which the cutter yields them.

    Facts of a file outside of all chunks belong to its first chunk.
    """
    kind, declared, row_count = parsed.syntax.kind, parsed.declared, len(parsed.lines)
    first = node_key(kind, chunks[0].local_id)
    keys, scopes = [first] * row_count, [0] * row_count
    first_keys: dict[int, str] = {}
    for chunk in chunks:
        key, place = node_key(kind, chunk.local_id), chunk.place
        first_row, end = chunk.span.start_line - 1, chunk.span.end_line
        if place.index not in first_keys:
            first_keys[place.index] = key
            first_row, end = place.first_row, place.last_row + 1
            if not place.is_short_variable:  # whose value means what it means around it
                scopes[first_row:end] = [place.index] * (end - first_row)
        keys[first_row:end] = [key] * (end - first_row)
    _narrow_scopes(scopes, declared, first_keys)
    first_keys.setdefault(0, first)
    definitions = _definitions(parsed, first_keys, keys)
    index_of = {(item.node.start_byte, item.node.end_byte): index for index, item in enumerate(declared, 1)}
    return Places(parsed.file.path, keys, scopes, definitions, _inner_ranges(declared, first_keys), index_of)


def _inner_ranges(declared: Sequence[Declared], with_place: Container[int]) -> list[DefinitionRange]:
    """The callables and types without a place, in document order."""
    ranges: list[DefinitionRange] = []
    for index, item in enumerate(declared, 1):
        if index in with_place or item.shape.construct == "value":
            continue
        outer = len(ranges) - 1
        while outer >= 0 and ranges[outer].end < item.node.end_byte:
            outer = ranges[outer].outer
        ranges.append(DefinitionRange(item.node.start_byte, item.node.end_byte, index, outer))
    return ranges


def _narrow_scopes(scopes: list[int], declared: Sequence[Declared], placed: Mapping[int, str]) -> None:
    """Gives the rows of callables that are no chunk to them, unless something else starts on the same row."""
    free_row = 0
    for index, item in enumerate(declared, 1):
        row, end = item.node.start_point.row, end_row(item.node) + 1
        if index not in placed and item.shape.construct == "callable" and row >= free_row:
            scopes[item.first_row : end] = [index] * (end - item.first_row)
        free_row = row + 1


def _definitions(parsed: ParsedFile, first_keys: dict[int, str], keys: Sequence[str]) -> tuple[Definition, ...]:
    syntax, module = parsed.syntax, parsed.syntax.module_symbol(parsed.file.path)
    name, traits = module.rpartition(".")[2], syntax.module_traits(parsed.root)
    definitions = [Definition(first_keys[0], module, name, "module", -1, 1, traits=traits)]
    index_of = {item: index for index, item in enumerate(parsed.declared, 1)}
    owners = {item.symbol: index for item, index in reversed(index_of.items()) if item.parent is None}
    for item, index in index_of.items():
        shape, row = item.shape, item.node.start_point.row
        owner = owners.get(shape.owner, 0) if shape.owner else 0
        parent = index_of[item.parent] if item.parent else owner
        definitions.append(
            Definition(
                key=first_keys.get(index, keys[row]),
                symbol=item.symbol,
                name=shape.name,
                construct=shape.construct,
                parent=parent,
                line=row + 1,
                bases=syntax.bases(item.node) if shape.construct == "type" else (),
                parameters=syntax.parameters(item.node),
                result=syntax.result(item.node) if shape.construct != "type" else "",
                owner="" if parent else shape.owner,
                type_parameters=syntax.type_parameters(item.node) if shape.construct != "value" else (),
                type_bounds=syntax.type_bounds(item.node) if shape.construct != "value" else (),
                traits=_traits(syntax, item),
            )
        )
    for item, index in index_of.items():
        for name in syntax.generated_names(item.node):
            around = definitions[index].symbol.rpartition(".")[0]
            symbol = f"{around}.{name}" if around else name
            definitions.append(replace(definitions[index], symbol=symbol, name=name, stands_for=index))
    return tuple(definitions)


def _traits(syntax: Syntax, item: Declared) -> frozenset[Trait]:
    """The flags of a declaration; a member of an interface without a body is abstract."""
    traits = set(syntax.traits(item.node, item.parent.node if item.parent else None))
    if item.is_local:
        traits.add("local")
    is_bare = item.shape.body is None and item.shape.construct == "callable"
    if item.parent is not None and is_bare and "interface" in syntax.traits(item.parent.node, None):
        traits.add("abstract")
    return frozenset(traits)


def nodes_of(parsed: ParsedFile, chunks: Sequence[Chunk], definitions: Sequence[Definition]) -> Iterator[SourceNode]:
    """A node for each chunk, in order; its `context_prefix` are the declarations around it, one on a line."""
    file, kind = parsed.file, parsed.syntax.kind
    for chunk in chunks:
        declared, definition = chunk.place.declared, definitions[chunk.place.index]
        around = declared.parent if declared and definition.key == node_key(kind, chunk.local_id) else declared
        signatures: list[str] = []
        while around is not None:
            signatures.insert(0, signature(parsed, around))
            around = around.parent
        yield SourceNode(
            kind=kind,
            local_id=chunk.local_id,
            text=chunk.span.text,
            origin=f"{file.path}:{chunk.span.start_line}",
            path=file.path,
            start_line=chunk.span.start_line,
            end_line=chunk.span.end_line,
            symbol=definition.symbol,
            signature=signature(parsed, declared) if declared else "",
            language=file.language,
            data_type="regular_code",
            corpus_type="CODE_LOGIC",
            context_prefix="\n".join(signatures),
        )


def contains_edges(
    nodes: Sequence[SourceNode], chunks: Sequence[Chunk], definitions: Sequence[Definition]
) -> Iterator[SourceEdge]:
    """From a file to its types and functions, from a type to its members, and from a first part to the others.

    A file that has no node of its own contains nothing.
    """
    has_file = chunks[0].place.declared is None
    for node, chunk in zip(nodes, chunks, strict=True):
        definition = definitions[chunk.place.index]
        from_key = definition.key
        if node.key == definition.key and (definition.parent > 0 or (definition.parent == 0 and has_file)):
            from_key = definitions[definition.parent].key
        if from_key != node.key:
            yield SourceEdge(from_key, node.key, CONTAINS, node.origin, line=node.start_line)
