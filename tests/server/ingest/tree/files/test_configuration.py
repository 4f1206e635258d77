"""JSON, TOML, INI and YAML: keys as parts and settings."""

from collections.abc import Callable

import pytest

from groundwire_ingest.tree.files.facts_about_code import Setting
from groundwire_ingest.tree.files.json_file import MAX_DATA_CHARACTERS
from groundwire_ingest.tree.files.reading import FileReading

Read = Callable[[str, str], FileReading]
Chunks = Callable[[str, str], list[tuple[str, int, int]]]

PAD = "x" * 400

APPSETTINGS = f"""\
{{
  // who may log in
  "Identity": {{
    "Url": "http://identity", /* ours */
    "Audience": {{
      "Name": "{PAD}",
    }},
  }},
  "Name": "shop",
  "ConnectionStrings": {{ "Db": "Host=db;{PAD}" }},
  "Logging": {{
    "Levels": [
      {{ "Name": "a \\"}} b", "Text": "{PAD}" }},
      {{ "Name": "{PAD}" }}
    ]
  }}
}}
"""


def test_sections_of_json_with_comments_and_trailing_commas(chunks: Chunks) -> None:
    assert chunks("src/appsettings.json", APPSETTINGS) == [
        ("appsettings.json", 1, 17),
        ("Identity", 2, 8),
        ("Logging", 11, 16),
    ]


def test_settings_of_json(read: Read) -> None:
    settings = {item.path: (item.line, item.value) for item in read("appsettings.json", APPSETTINGS).settings}
    assert settings["Identity", "Url"] == (4, "http://identity")
    assert settings["Identity", "Audience", "Name"] == (6, PAD)
    assert settings["Name",] == (9, "shop")
    assert settings["ConnectionStrings", "Db"] == (10, f"Host=db;{PAD}")
    assert settings["Logging", "Levels", "Name"][0] in {13, 14}
    assert len(settings) == 6


def test_a_file_named_in_json_is_a_reference(read: Read) -> None:
    text = '{"extends": "./tsconfig.base.json", "main": "dist/index.js", "name": "a.json", "path": "not a file"}'
    references = read("tsconfig.json", text).references
    assert [(item.written, item.edge_type, item.line) for item in references] == [
        (("./tsconfig.base.json",), "References", 1),
        (("dist/index.js",), "References", 1),
    ]


def test_json_that_is_one_array_of_records_is_data(read: Read) -> None:
    records = ", ".join('{"name": "x", "price": 1}' for _ in range(MAX_DATA_CHARACTERS // 25))
    reading = read("setup/catalog.json", f'{{"items": [{records}]}}')
    (skipped,) = reading.analysis.skipped
    assert not reading.analysis.nodes
    assert skipped.why.startswith("data: more than half of its ")
    assert "one array of 2000 entries" in skipped.why


def test_long_json_of_objects_or_short_records_is_read(read: Read) -> None:
    paths = ",\n".join(f'"/users/{number}": {{\n"get": "{PAD}"\n}}' for number in range(200))
    assert len(read("openapi.json", f'{{"paths": {{\n{paths}\n}}\n}}').analysis.nodes) == 201
    assert len(read("a.json", '[{"a": 1}, {"b": 2}]').analysis.nodes) == 1


def test_tables_of_toml(chunks: Chunks, read: Read) -> None:
    text = f'''\
title = "a"
# tests
[tool.pytest.ini_options]
addopts = ["{PAD}",
[1, 2],
]
[[bin]]
name = """
[not.a.table]
{PAD}"""
[tool."a.b" . c]
key.sub = '{PAD}' # comment
[ other ]
x = "{PAD}"
'''
    assert chunks("pyproject.toml", text) == [
        ("pyproject.toml", 1, 14),
        ("tool.pytest.ini_options", 2, 6),
        ("bin", 7, 10),
        ("tool.a.b.c", 11, 12),
        ("other", 13, 14),
    ]
    assert [item.path for item in read("pyproject.toml", text).settings] == [
        ("title",),
        ("tool", "pytest", "ini_options", "addopts"),
        ("bin", "name"),
        ("tool", "a.b", "c", "key", "sub"),
        ("other", "x"),
    ]


@pytest.mark.parametrize("path", ["setup.cfg", "app.ini", ".env.example", "application.properties"])
def test_settings_of_ini(read: Read, path: str) -> None:
    reading = read(path, "# no = setting\nspring.url = http://a # b\nexport TOKEN='x'\n[mypy]\nstrict: true\n; c = d\n")
    assert reading.settings == (
        Setting(("spring.url",), 2, "http://a # b"),
        Setting(("TOKEN",), 3, "x"),
        Setting(("mypy", "strict"), 5, "true"),
    )


def test_sections_of_ini(chunks: Chunks) -> None:
    text = f"a = {PAD}\n; of mypy\n[mypy]\nb = {PAD}\nc = {PAD}\n[tool:x]\nd = {PAD}\n"
    assert chunks("setup.cfg", text) == [("setup.cfg", 1, 7), ("mypy", 2, 5), ("tool:x", 6, 7)]


WORKFLOW = f"""\
name: ci
on: [push]

jobs:
  # compiles
  build:
    runs-on: ubuntu
    steps:
      - name: Compile
        run: make {PAD}
      - uses: ./.github/actions/setup/action.yml

  # tests
  test:
    needs: build
    steps:
      - run: |
          echo {PAD}

          echo {PAD}{PAD}
"""


def test_jobs_of_a_pipeline(chunks: Chunks, read: Read) -> None:
    assert chunks(".github/workflows/ci.yml", WORKFLOW) == [
        ("ci.yml", 1, 20),
        ("jobs.build", 5, 11),
        ("jobs.test", 13, 20),
    ]
    reading = read(".github/workflows/ci.yml", WORKFLOW)
    assert {(node.data_type, node.corpus_type) for node in reading.analysis.nodes} == {("deploy", "CODE_DEPLOY")}
    assert [item.written for item in reading.references] == [("./.github/actions/setup/action.yml",)]


def test_other_yaml_is_configuration_with_settings(read: Read) -> None:
    text = "&a spring:\n  datasource: {url: 'jdbc:x', pool: [1, 2]}\n  empty:\n"
    text += "list:\n- name: web\n  port: 80\n- *a\n? [k]\n: v\n"
    reading = read("application.yml", text)
    assert {(node.data_type, node.corpus_type) for node in reading.analysis.nodes} == {("config", "CODE_CONFIG")}
    assert reading.settings == (
        Setting(("spring", "datasource", "url"), 2, "jdbc:x"),
        Setting(("spring", "empty"), 3, ""),
        Setting(("list", "web", "port"), 6, "80"),
    )


def test_the_last_key_goes_to_the_end_of_a_file_without_a_line_feed(chunks: Chunks) -> None:
    text = f"a: 1\nb:\n  c: {PAD}\n  d: {PAD}\ne:\n  - name: x\n    y: {PAD}\n  - name: z\n    y: {PAD}{PAD}"
    assert chunks("a.yaml", text) == [("a.yaml", 1, 9), ("b", 2, 4), ("e", 5, 9)]


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("a: b\nc: d: e\n", 2, "mapping values are not allowed"),
        ("a: é\nb: \x07\n", 2, "characters are not allowed"),
        ("a: [1\n", 3, "did not find expected"),
        ("a " + "[" * 300, 1, ""),
    ],
)
def test_invalid_yaml_is_plain_text_and_named(read: Read, text: str, line: int, reason: str) -> None:
    analysis = read("a.yaml", text).analysis
    if reason:
        assert [node.text for node in analysis.nodes] == [text.rstrip("\n")]
        (skipped,) = analysis.skipped
        assert skipped.why.startswith(f"not valid YAML at line {line}: ")
        assert reason in skipped.why
        assert skipped.why.endswith("; indexed as plain text")
    else:
        assert analysis.nodes
