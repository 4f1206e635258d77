"""Deployment files as chunks, with what they state about services.

YAML is cut by document, a Compose file by service, a Dockerfile by stage, and a Helm template by its document marks.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from groundwire_ingest.records import SkippedFile, SourceNode
from groundwire_ingest.tree.chunk_writer import ChunkClass, ChunkWriter
from groundwire_ingest.tree.chunking import lines_of, split_lines
from groundwire_ingest.tree.dockerfile import Stage, dockerfile_stages
from groundwire_ingest.tree.file_analysis import FileAnalysis, SourceFile
from groundwire_ingest.tree.files.commands import command_references
from groundwire_ingest.tree.files.reading import PathReference, keys_by_line
from groundwire_ingest.tree.services.compose_files import compose_services
from groundwire_ingest.tree.services.manifests import manifest_statements, template_statements
from groundwire_ingest.tree.services.statements import DeployedPart, Statement
from groundwire_ingest.tree.services.yaml_values import yaml_values
from groundwire_ingest.tree.yaml_tree import YamlDocument, YamlError, YamlNode, yaml_documents

MAX_NAME_CHARACTERS = 200

_COMPOSE_FILE = re.compile(r"(?:docker-)?compose(?:[.-].*)?\.ya?ml", re.IGNORECASE)
_FROM = re.compile(r"[ \t]*FROM[ \t]", re.IGNORECASE)
_DOCUMENT_MARK = re.compile(r"---(?:\s.*)?", re.DOTALL)
_HELM_KIND = re.compile(r"^kind:[ \t]*[\"']?([A-Za-z][\w.]*)[\"']?[ \t]*\r?$", re.MULTILINE)
_HELM_NAME = re.compile(
    r"^metadata:[ \t]*\r?\n(?:[ \t].*\n)*?[ \t]+name:[ \t]*[\"']?([\w.-]+)[\"']?[ \t]*\r?$", re.MULTILINE
)
_HELM_DEFINE = re.compile(r"\s*\{\{-?\s*define\b")


@dataclass(frozen=True, slots=True)
class _Part:
    """The lines of one chunk, 1-based, `end_line` included; an empty `name` means the file itself.

    `boundaries` are lines before which a long chunk is cut. `is_inside`: the chunk of the file itself contains this
    one. `statements` are what the part states about services.
    """

    name: str
    symbol: str
    start_line: int
    end_line: int
    boundaries: tuple[int, ...] = ()
    is_inside: bool = False
    statements: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class DeployAnalysis:
    """One deployment file: its nodes and Contains edges, and its parts that state something about services.

    `references` are the files that a Dockerfile or a Compose file names, `keys` the node at each of its lines.
    """

    file: FileAnalysis
    parts: tuple[DeployedPart, ...] = ()
    references: tuple[PathReference, ...] = ()
    keys: tuple[str, ...] = ()


def deploy_analysis(file: SourceFile) -> DeployAnalysis | None:
    """The chunks of a YAML file, Helm template or Dockerfile, by the file's `language`, which is also their kind.

    None for YAML that deploys nothing: it is no Compose file by name and holds no Kubernetes manifest. The node of a
    file has the local id `<path>`, those of several documents, services or stages `<path>#<name>`. Kubernetes manifests
    have `Kind/name` as symbol and name. YAML whose aliases expand to too much to be read for services is named in
    `skipped` with line and reason.
    """
    lines = lines_of(file.text)
    if file.language == "dockerfile":
        return _referring(file, _written(file, lines, _stage_parts(lines, file.path)))
    if file.language == "helm":
        return _written(file, lines, _helm_parts(lines, file.path))
    try:
        documents = yaml_documents(file.text)
    except YamlError:
        return None
    if not _is_compose(file.path, documents) and not any(_manifest_name(document) for document in documents):
        return None
    parts = _yaml_parts(lines, file.path, documents)
    try:
        written = _written(file, lines, _with_statements(file, parts, documents))
        return _referring(file, written, documents[0].root) if _is_compose(file.path, documents) else written
    except YamlError as error:
        why = f"not read for services, for at line {error.line}: {error}"
        return _written(file, lines, parts, (SkippedFile(file.path, why),))


def _referring(file: SourceFile, analysis: DeployAnalysis, root: YamlNode | None = None) -> DeployAnalysis:
    """The analysis with the files that the lines name, and with those that the services of a Compose file build."""
    lines = ((line, text) for line, text in enumerate(lines_of(file.text), start=1) if not _FROM.match(text))
    built = () if root is None else _built_from(file.path, root)
    references = (*command_references(file.path, lines), *built)
    return replace(analysis, references=references, keys=keys_by_line(analysis.file.nodes, file))


def _built_from(path: str, root: YamlNode) -> Iterator[PathReference]:
    """The Dockerfile of each service with a `build`."""
    for service in _values(root, "services"):
        for _, settings in service.pairs():
            for build in _values(settings, "build"):
                folder = next((value.text for value in _values(build, "context")), build.text or ".")
                file = next((value.text for value in _values(build, "dockerfile")), "Dockerfile")
                yield PathReference(path, (f"{folder}/{file}",), "References", build.line)


def _values(mapping: YamlNode, name: str) -> Iterator[YamlNode]:
    return (value for key, value in mapping.pairs() if key.text == name)


def _written(
    file: SourceFile, lines: Sequence[str], parts: Sequence[_Part], skipped: tuple[SkippedFile, ...] = ()
) -> DeployAnalysis:
    writer = ChunkWriter(ChunkClass(file.path, file.language, file.language, "deploy", "CODE_DEPLOY"))
    whole: SourceNode | None = None
    deployed: list[DeployedPart] = []
    for part in parts:
        before = len(writer.nodes)
        text = "".join(lines[part.start_line - 1 : part.end_line])
        spans = split_lines(text, part.start_line, part.boundaries)
        node = writer.write(f"{file.path}#{part.name}" if part.name else file.path, part.symbol, spans, {})
        if part.is_inside and whole is not None and node is not None:
            writer.contain(whole, node)
        whole = whole or node
        if node is not None and part.statements:
            keys = tuple(piece.key for piece in writer.nodes[before:])
            deployed.append(DeployedPart(file.path, node.origin, keys, part.statements))
    return DeployAnalysis(writer.analysis(skipped), tuple(deployed))


def _yaml_parts(lines: Sequence[str], path: str, documents: Sequence[YamlDocument]) -> list[_Part]:
    if _is_compose(path, documents):
        services = _service_parts(lines, path, documents[0])
        if services:
            return services
    starts = [1, *(document.start_line for document in documents[1:])]
    named = [(_manifest_name(document), tuple(key.line for key in document.keys)) for document in documents]
    return list(_document_parts(lines, path, starts, named or [("", ())]))


def _is_compose(path: str, documents: Sequence[YamlDocument]) -> bool:
    return len(documents) == 1 and _COMPOSE_FILE.fullmatch(PurePosixPath(path).name) is not None


def _with_statements(file: SourceFile, parts: Sequence[_Part], documents: Sequence[YamlDocument]) -> list[_Part]:
    """The parts of a YAML file with what they state about services. Raises YamlError if its values cannot be built."""
    if _is_compose(file.path, documents):
        services = compose_services(yaml_values(documents)[0], file.path)
        by_name = {service.name: service for service in services}
        named = ((part, by_name.pop(part.name, None)) for part in parts[1:])
        inside = [replace(part, statements=(service,)) if service else part for part, service in named]
        return [replace(parts[0], statements=tuple(by_name.values())), *inside]
    manifests = [number for number, document in enumerate(documents) if _manifest_name(document)]
    values = dict(zip(manifests, yaml_values(documents[number] for number in manifests), strict=True))
    return [
        replace(part, statements=manifest_statements(values[number])) if number in values else part
        for number, part in enumerate(parts)
    ]


def _document_parts(
    lines: Sequence[str], path: str, starts: Sequence[int], named: Sequence[tuple[str, tuple[int, ...]]]
) -> Iterator[_Part]:
    """One part for each document, by its first line, its name ("" without one) and its boundaries."""
    ranges = zip(starts, _ends(starts, lines), named, strict=True)
    for number, (start, end, (name, boundaries)) in enumerate(ranges, start=1):
        symbol = name or PurePosixPath(path).name
        first = start + ((start <= len(lines) and lines[start - 1].strip() == "---") and end > start)
        own_name = "" if len(starts) == 1 else name or f"document-{number}"
        yield _Part(own_name, symbol, first, end, boundaries)


def _ends(starts: Sequence[int], lines: Sequence[str]) -> list[int]:
    """The last lines of parts that begin at the lines `starts`."""
    return [*(start - 1 for start in starts[1:]), len(lines)]


def _manifest_name(document: YamlDocument) -> str:
    """`Kind/name` of a Kubernetes manifest, `Kind` when its name is not plain; "" for other YAML."""
    scalars = {key.path: key.scalar for key in document.keys}
    kind = scalars.get(("kind",), "")
    if not kind or ("apiVersion",) not in scalars:
        return ""
    name = scalars.get(("metadata", "name"), "")
    return (f"{kind}/{name}" if name else kind)[:MAX_NAME_CHARACTERS]


def _service_parts(lines: Sequence[str], path: str, document: YamlDocument) -> list[_Part]:
    """The lines before the services, each service, and the lines after them; none unless each has lines of its own."""
    services = [key for key in document.keys if len(key.path) == 2 and key.path[0] == "services"]
    after = [key.line for key in document.keys if len(key.path) == 1 and services and key.line > services[-1].line]
    starts = [_with_comments(lines, line) for line in [*(key.line for key in services), *after[:1]]]
    if not services or any(later <= earlier for earlier, later in zip([1, *starts], starts, strict=False)):
        return []
    symbol = PurePosixPath(path).name
    parts = [_Part("", symbol, 1, starts[0] - 1)]
    for key, start, end in zip(services, starts, _ends(starts, lines), strict=False):
        name = key.path[1][:MAX_NAME_CHARACTERS]
        parts.append(_Part(name, name, start, end, is_inside=True))
    if after:
        parts.append(_Part("after-services", symbol, starts[-1], len(lines), tuple(after), is_inside=True))
    return parts


def _with_comments(lines: Sequence[str], line: int) -> int:
    """The line of the first of the comments directly above `line`; `line` without any."""
    while line > 1 and lines[line - 2].lstrip().startswith("#"):
        line -= 1
    return line


def _helm_parts(lines: Sequence[str], path: str) -> list[_Part]:
    """The documents of a template, cut at their `---` marks: with its directives it cannot be parsed as YAML."""
    marks = [number for number, line in enumerate(lines, start=1) if _DOCUMENT_MARK.fullmatch(line)]
    first_text = next((number for number, line in enumerate(lines, start=1) if line.strip()), 1)
    starts = [1, *(mark for mark in marks if mark > first_text)]
    defines = tuple(number for number, line in enumerate(lines, start=1) if _HELM_DEFINE.match(line))
    texts = ["".join(lines[start - 1 : end]) for start, end in zip(starts, _ends(starts, lines), strict=True)]
    names = [_helm_name(text) for text in texts]
    parts = _document_parts(lines, path, starts, [(name, defines) for name in names])
    return [
        replace(part, statements=template_statements(text, name))
        for part, text, name in zip(parts, texts, names, strict=True)
    ]


def _helm_name(text: str) -> str:
    kind = _HELM_KIND.search(text)
    if kind is None:
        return ""
    name = _HELM_NAME.search(text)
    return (f"{kind.group(1)}/{name.group(1)}" if name else kind.group(1))[:MAX_NAME_CHARACTERS]


def _stage_parts(lines: Sequence[str], path: str) -> list[_Part]:
    stages = dockerfile_stages(lines) or (Stage(1, "", "", ()),)
    starts = [1, *(_with_comments(lines, stage.line) for stage in stages[1:])]
    parts: list[_Part] = []
    for number, (stage, start, end) in enumerate(zip(stages, starts, _ends(starts, lines), strict=True)):
        symbol = stage.name or stage.image or PurePosixPath(path).name
        name = "" if len(stages) == 1 else stage.name or f"stage-{number}"
        parts.append(_Part(name, symbol, start, end, stage.instruction_lines))
    return parts
