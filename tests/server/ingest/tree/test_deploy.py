"""YAML, Compose files, Helm templates and Dockerfiles as chunks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_ingest.records import SkippedFile
from groundwire_ingest.tree.deploy import deploy_analysis
from groundwire_ingest.tree.file_analysis import FileAnalysis, SourceFile
from support.growth import check_linear


def _analysis(text: str, path: str = "k8s/web.yaml", language: str = "yaml") -> FileAnalysis:
    analysis = deploy_analysis(SourceFile(path, text, language))
    assert analysis is not None
    return analysis.file


def _chunks(analysis: FileAnalysis) -> list[tuple[str, str, int, int]]:
    return [(node.local_id, node.symbol, node.start_line, node.end_line) for node in analysis.nodes]


MANIFESTS = """\
# licence
---
apiVersion: v1
kind: Service
metadata:
  labels: {a: b}
  name: web
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: &spec
  a: [1, {kind: inner}]
---
plain: *spec
kind: of value
--- # the last
apiVersion: v1
kind: Service
metadata: {name: web}
"""


def test_each_document_is_a_chunk_named_after_its_manifest() -> None:
    assert _chunks(_analysis(MANIFESTS)) == [
        ("k8s/web.yaml#Service/web", "Service/web", 1, 7),
        ("k8s/web.yaml#Deployment/web", "Deployment/web", 9, 13),
        ("k8s/web.yaml#document-3", "web.yaml", 15, 16),
        ("k8s/web.yaml#Service/web~2", "Service/web", 17, 20),
    ]


def test_lines_end_at_line_feeds_alone() -> None:
    assert _chunks(_analysis("# a\u2028# b\n---\nx: 1\n---\n{kind: A, apiVersion: b}\n")) == [
        ("k8s/web.yaml#document-1", "web.yaml", 1, 3),
        ("k8s/web.yaml#A", "A", 5, 5),
    ]


def test_a_chunk_says_what_it_is() -> None:
    (node,) = _analysis("apiVersion: v1\nkind: A\n").nodes
    assert (node.key, node.language, node.data_type, node.corpus_type) == (
        "yaml::k8s/web.yaml",
        "yaml",
        "deploy",
        "CODE_DEPLOY",
    )
    assert (node.text, node.origin, node.symbol) == ("apiVersion: v1\nkind: A", "k8s/web.yaml:1", "A")


@pytest.mark.parametrize(
    ("path", "text"),
    [("values.yaml", "a: 1\n"), ("k8s/web.yaml", "kind: A\n"), ("compose.yaml", "a: [1\n"), ("a.yml", "")],
)
def test_yaml_that_deploys_nothing_is_none(path: str, text: str) -> None:
    assert deploy_analysis(SourceFile(path, text, "yaml")) is None


def test_compose_services_are_chunks_of_their_file() -> None:
    text = """\
version: '3'
x-base: &base
  restart: always
services:
  # what customers see
  web:
    <<: *base
    image: shop
  db:
    image: postgres
volumes:
  data: {}
"""
    analysis = _analysis(text, "docker-compose.prod.yml")
    assert _chunks(analysis) == [
        ("docker-compose.prod.yml", "docker-compose.prod.yml", 1, 4),
        ("docker-compose.prod.yml#web", "web", 5, 8),
        ("docker-compose.prod.yml#db", "db", 9, 10),
        ("docker-compose.prod.yml#after-services", "docker-compose.prod.yml", 11, 12),
    ]
    assert {(edge.from_key, edge.edge_type, edge.to_key) for edge in analysis.edges} == {
        ("yaml::docker-compose.prod.yml", "Contains", f"yaml::docker-compose.prod.yml#{name}")
        for name in ("web", "db", "after-services")
    }


@pytest.mark.parametrize(
    "text", ["services: {a: {image: x}, b: {image: y}}\n", "services:\n", "a: 1\n", "- services\n"]
)
def test_a_compose_file_without_services_on_lines_of_their_own_is_one_chunk(text: str) -> None:
    assert _chunks(_analysis(text, "compose.yaml")) == [("compose.yaml", "compose.yaml", 1, 1)]


def test_a_long_manifest_is_cut_at_its_keys() -> None:
    data = "".join(f"  key{n}: |\n\n    {'x' * 1500}\n" for n in range(8))
    analysis = _analysis(f"apiVersion: v1\nkind: ConfigMap\ndata:\n{data}")
    assert [node.local_id.partition("@")[2] for node in analysis.nodes] == ["", "2", "3"]
    assert [node.text.partition("\n")[0] for node in analysis.nodes[1:]] == ["  key3: |", "  key6: |"]
    assert [edge.edge_type for edge in analysis.edges] == ["Contains", "Contains"]


def test_the_time_of_aliases_that_multiply_grows_with_what_is_written() -> None:
    def read(depth: int) -> None:
        levels = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, depth)]
        assert len(_analysis("\n".join(levels), "compose.yaml").nodes) == 1

    check_linear(read, 10)


def test_helm_templates_are_cut_by_documents_without_being_parsed() -> None:
    text = """\
{{- if .Values.enabled }}
apiVersion: v1
kind: ConfigMap
metadata:
  labels:
    {{- include "labels" . | nindent 4 }}
  name: settings
data: {}
---
kind: "Service"
metadata:
  name: {{ include "fullname" . }}
---
{{- end }}
"""
    analysis = _analysis(text, "chart/templates/all.yaml", "helm")
    assert _chunks(analysis) == [
        ("chart/templates/all.yaml#ConfigMap/settings", "ConfigMap/settings", 1, 8),
        ("chart/templates/all.yaml#Service", "Service", 10, 12),
        ("chart/templates/all.yaml#document-3", "all.yaml", 14, 14),
    ]
    assert {node.kind for node in analysis.nodes} == {"helm"}
    assert not analysis.skipped


def test_the_time_of_a_template_without_a_name_grows_with_its_lines() -> None:
    def read(lines: int) -> None:
        labels = "".join(f"{' ' * 12}label{number}: {{{{ .Values.label }}}}\n" for number in range(lines))
        analysis = _analysis(f"kind: Service\nmetadata:\n{labels}spec: {{}}\n", "chart/templates/a.yaml", "helm")
        assert {symbol for _, symbol, _, _ in _chunks(analysis)} == {"Service"}

    check_linear(read, 200)


def test_docker_stages_are_chunks() -> None:
    text = """\
# syntax=docker/dockerfile:1
ARG VERSION=1
FROM --platform=linux/amd64 python:${VERSION} AS build
RUN <<EOF
FROM nowhere
EOF
RUN echo a \\
  # a comment
FROM nothing
# what runs
from build
COPY --from=build /x /y
"""
    assert _chunks(_analysis(text, "Dockerfile", "dockerfile")) == [
        ("Dockerfile#build", "build", 1, 9),
        ("Dockerfile#stage-1", "build", 10, 12),
    ]


def test_a_dockerfile_of_one_stage_or_none_is_one_chunk() -> None:
    assert _chunks(_analysis("FROM alpine\nRUN x\n", "Dockerfile", "dockerfile")) == [("Dockerfile", "alpine", 1, 2)]
    assert _chunks(_analysis("RUN x\n", "Dockerfile", "dockerfile")) == [("Dockerfile", "Dockerfile", 1, 1)]


def test_a_blank_file_has_no_chunk() -> None:
    assert _analysis("\n \n", "Dockerfile", "dockerfile") == FileAnalysis()


_lines = st.sampled_from(["b:\n  c: 1\n", "- x\n", "---\n", "...\n", "services:\n", "  web:\n", "    image: x\n"])
_names = st.sampled_from(["apiVersion: v1\n", "kind: A\n", "metadata:\n  name: n\n", "{{ a }}\n", "%Y 1\n", "# c\n"])
_docker = st.sampled_from(["FROM a AS b\n", "RUN <<E\n", "E\n", "\\\n", "\n", "\t", "\r", "\u2028", "\ufeff", "\x00"])
_marks = st.sampled_from(["a: ", "[", "]", "{", "}", "&x ", "*x", "? ", "'", '"', "|\n"])
_soups = st.lists(_lines | _names | _docker | _marks, max_size=30).map("".join)


@given(st.text() | _soups, st.sampled_from(["yaml", "helm", "dockerfile"]))
def test_any_text_is_read_into_exact_slices_and_nothing_is_lost(text: str, language: str) -> None:
    read = deploy_analysis(SourceFile("docker-compose.yml", text, language))
    if read is None:
        return
    analysis = read.file
    lines = text.split("\n")
    covered: set[int] = set()
    for node in analysis.nodes:
        assert node.text == "\n".join(lines[node.start_line - 1 : node.end_line]).removesuffix("\r")
        covered.update(range(node.start_line, node.end_line + 1))
    uncovered = [line for number, line in enumerate(lines, start=1) if number not in covered]
    assert all(line.strip() in {"", "---"} for line in uncovered)
    keys = [node.key for node in analysis.nodes]
    assert len(keys) == len(set(keys))
    assert all(edge.from_key in keys and edge.to_key in keys for edge in analysis.edges)
    assert all(isinstance(skipped, SkippedFile) for skipped in analysis.skipped)
