""".proto files: their services, rpcs, messages and enums as nodes, and as a model for joining them with code."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from groundwire_ingest.records import SourceEdge
from groundwire_ingest.tree.file_analysis import SourceFile
from groundwire_ingest.tree.files.facts_about_code import ProtoFacts, ProtoService, ProtoType, Rpc
from groundwire_ingest.tree.files.lexer import DOUBLE_QUOTED, SINGLE_QUOTED, SLASH_COMMENTS, Lexicon, Token, unquoted
from groundwire_ingest.tree.files.parts import Part, write_parts
from groundwire_ingest.tree.files.reading import FileReading, PathReference

MAX_NESTING = 32

_LEXICON = Lexicon.of(SLASH_COMMENTS, rf"{DOUBLE_QUOTED}|{SINGLE_QUOTED}", r"\.?[^\W\d][\w.]*+")
_SCALARS = frozenset(
    "double float int32 int64 uint32 uint64 sint32 sint64 fixed32 fixed64 sfixed32 sfixed64 bool string bytes".split()
)
_LABELS = frozenset({"repeated", "optional", "required"})
_NO_FIELDS = frozenset({"option", "reserved", "extensions", "rpc", "returns", "syntax", "package", "import", "edition"})
_BLOCKS = frozenset({"message", "enum", "service", "oneof", "extend", "group", "rpc"})


@dataclass(slots=True)
class _Block:
    """An open block: its keyword, its name qualified by the messages around it, and what it holds."""

    keyword: str
    name: str
    line: int
    rpcs: list[Rpc] = field(default_factory=list)
    references: list[tuple[str, int]] = field(default_factory=list)
    end_line: int = 0
    is_outer: bool = False


@dataclass(slots=True)
class _Model:
    """The results of one pass over the tokens; keys are not known yet and are empty."""

    package: str = ""
    imports: list[tuple[str, int]] = field(default_factory=list)
    options: list[tuple[str, str]] = field(default_factory=list)
    blocks: list[_Block] = field(default_factory=list)
    rpc_ends: dict[int, int] = field(default_factory=dict)


def read_proto(file: SourceFile) -> FileReading:
    """A node for the file (its outline), each service (its outline), each rpc, and each outer message and enum.

    `Imports` leads to the files that are imported. The facts are ProtoFacts; `proto_edges` makes the edges between
    types from them. Parts nested deeper than MAX_NESTING are text of the part around them.
    """
    model = _model(file.text)
    parts = [Part((block.name,), block.line, block.end_line, is_own=True) for block in model.blocks if block.is_outer]
    parts += [
        Part((block.name, rpc.name), rpc.line, model.rpc_ends[rpc.line], is_own=True)
        for block in model.blocks
        for rpc in block.rpcs
    ]
    analysis = write_parts(file, parts, comments=("//",))
    keys = FileReading(analysis).keys_by_line(file)
    facts = _facts(file.path, model, keys)
    references = tuple(PathReference(file.path, (path,), "Imports", line) for path, line in model.imports)
    return FileReading(analysis, references, facts=facts)


def _model(text: str) -> _Model:
    model = _Model()
    open_blocks: list[_Block] = []
    statement: list[Token] = []
    depth_in_value = 0
    for token in _LEXICON.tokens(text):
        if token.kind == "comment":
            continue
        if depth_in_value or (token.text == "{" and statement and statement[0].text not in _BLOCKS):
            depth_in_value += (token.text == "{") - (token.text == "}")
        elif token.text == "{" and token.kind == "mark":
            open_blocks.append(_opened(statement, open_blocks, token))
            statement = []
        elif token.text == "}" and token.kind == "mark":
            statement = []
            if open_blocks:
                _close(model, open_blocks, token)
        elif token.text == ";" and token.kind == "mark":
            _statement(model, open_blocks, statement, token.line)
            statement = []
        else:
            statement.append(token)
    last_line = text.count("\n") + 1
    while open_blocks:
        _close(model, open_blocks, Token("mark", "}", len(text), last_line))
    return model


def _opened(statement: Sequence[Token], around: Sequence[_Block], brace: Token) -> _Block:
    words = [token.text for token in statement if token.kind == "word"]
    line = statement[0].line if statement else brace.line
    keyword = words[0] if words and words[0] in _BLOCKS else ""
    if len(around) >= MAX_NESTING:
        return _Block("", "", line)
    if keyword == "rpc" and around:
        around[-1].rpcs.extend(_rpcs(statement))
        return _Block("rpc", "", line)
    name = words[1] if len(words) > 1 else ""
    outer = next((block.name for block in reversed(around) if block.keyword == "message"), "")
    full = f"{outer}.{name}" if outer and keyword in {"message", "enum"} else name
    return _Block(keyword, full, line, is_outer=not around and keyword in {"message", "enum", "service"} and bool(name))


def _close(model: _Model, open_blocks: list[_Block], brace: Token) -> None:
    block = open_blocks.pop()
    block.end_line = brace.line
    if block.keyword == "rpc":
        model.rpc_ends[block.line] = brace.line
    elif block.keyword in {"message", "enum", "service"} and block.name:
        model.blocks.append(block)


def _statement(model: _Model, open_blocks: Sequence[_Block], statement: Sequence[Token], end_line: int) -> None:
    words = [token.text for token in statement if token.kind == "word"]
    strings = [unquoted(token.text) for token in statement if token.kind == "string"]
    if not words or len(open_blocks) > MAX_NESTING:
        return
    around = open_blocks[-1] if open_blocks else None
    if around is None:
        if words[0] == "package" and len(words) > 1:
            model.package = words[1]
        elif words[0] == "import" and strings:
            model.imports.append((strings[0], statement[0].line))
        elif words[0] == "option" and len(words) > 1 and (strings or len(words) > 2):
            model.options.append((words[1], strings[0] if strings else words[2]))
    elif words[0] == "rpc" and around.keyword == "service":
        for rpc in _rpcs(statement):
            around.rpcs.append(rpc)
            model.rpc_ends[rpc.line] = end_line
    elif around.keyword in {"message", "oneof", "extend", "group"} and words[0] not in _NO_FIELDS:
        owner = next((block for block in reversed(open_blocks) if block.keyword == "message"), None)
        if owner is not None:
            first = words[1] if words[0] in _LABELS and len(words) > 2 else words[0]
            # Of a map the type of its values.
            types = words[1:3][-1:] if first == "map" else [first]
            owner.references.extend((name, statement[0].line) for name in types if name not in _SCALARS)


def _rpcs(statement: Sequence[Token]) -> Iterator[Rpc]:
    """That of `rpc Name ( [stream] Request ) returns ( [stream] Response )`; none for anything else."""
    words = [token.text for token in statement if token.kind == "word"]
    if "returns" not in words or len(words) < 5:
        return
    at = words.index("returns")
    request, response = words[2:at], words[at + 1 : at + 3]
    if request and response:
        client, server = (len(types) > 1 and types[0] == "stream" for types in (request, response))
        yield Rpc(words[1], request[int(client)], response[int(server)], statement[0].line, "")


def _facts(path: str, model: _Model, keys: Sequence[str]) -> ProtoFacts:
    blocks = sorted(model.blocks, key=lambda block: (block.line, -block.end_line))
    services = tuple(
        ProtoService(
            block.name,
            block.line,
            keys[block.line - 1],
            tuple(replace(rpc, key=keys[rpc.line - 1]) for rpc in block.rpcs),
        )
        for block in blocks
        if block.keyword == "service"
    )
    types = tuple(
        ProtoType(block.name, block.line, keys[block.line - 1], tuple(block.references))
        for block in blocks
        if block.keyword != "service"
    )
    return ProtoFacts(path, model.package, tuple(model.imports), tuple(model.options), services, types)


class _Types:
    """The messages and enums of a tree by their names with the package before them."""

    def __init__(self, files: Iterable[ProtoFacts]) -> None:
        self._by_name: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
        for facts in files:
            for item in facts.types:
                self._by_name[_joined(facts.package, item.name)].append((facts.path, item.key))

    def find(self, facts: ProtoFacts, scope: str, name: str) -> str | None:
        """The node of the type that `name` means in the message `scope` of a file, None where that is not just one.

        A name is looked for in the innermost message first, then outwards to the package and beyond. Of types that are
        called the same, the file's own counts, else those of the files that it imports.
        """
        around = "" if name.startswith(".") else _joined(facts.package, scope)
        while True:
            keys_by_path = self._by_name.get(_joined(around, name.removeprefix(".")), [])
            if keys_by_path or not around:
                break
            around = around.rpartition(".")[0]
        own_keys = [key for path, key in keys_by_path if path == facts.path]
        imported = [
            key for path, key in keys_by_path if any(f"/{path}".endswith(f"/{item}") for item, _ in facts.imports)
        ]
        for keys in (own_keys, imported, [key for _, key in keys_by_path]):
            if keys:
                return keys[0] if len(keys) == 1 else None
        return None


def proto_edges(files: Iterable[ProtoFacts]) -> Iterator[SourceEdge]:
    """`References` from each rpc to its messages, and from each message to the types of its fields."""
    by_path = sorted(files, key=lambda facts: facts.path)
    types = _Types(by_path)
    for facts in by_path:
        for service in facts.services:
            for rpc in service.rpcs:
                for name in (rpc.request, rpc.response):
                    yield from _edge(types, facts, rpc.key, "", name, rpc.line)
        for item in facts.types:
            for name, line in item.references:
                yield from _edge(types, facts, item.key, item.name, name, line)


def _edge(types: _Types, facts: ProtoFacts, key: str, scope: str, name: str, line: int) -> Iterator[SourceEdge]:
    type_key = types.find(facts, scope, name)
    if type_key is not None and type_key != key:
        yield SourceEdge(key, type_key, "References", f"{facts.path}:{line}", line=line)


def _joined(first: str, second: str) -> str:
    return f"{first}.{second}" if first and second else first or second
