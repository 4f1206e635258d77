"""A file of repositories: what it says, and that everything else in it is refused with its line."""

from pathlib import Path

import pytest

from groundwire_configuration.yaml_model import YamlFileError
from groundwire_index.embedding.model_names import DEFAULT_MODEL
from groundwire_index.nodes.node import NodeAccess
from groundwire_index.scope import Scope
from groundwire_ingest.repositories.repositories_file import Repository, read_repositories
from groundwire_ingest.tree.access_rules import AccessRule


def written(folder: Path, text: str) -> Path:
    file = folder / "repositories.yaml"
    file.write_text(text)
    return file


def test_a_file_says_all_of_several_repositories(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        """\
repositories:
  - {path: shop, repository: shop, branch: main}
  - path: /srv/ledger
    repository: ledger
    branch: release
    embedder: none
    skip_dangling_edges: true
    exclude: ["generated/", "!generated/keep.py"]
    link_template: https://git.example/ledger/{commit}/{path}#L{start_line}
    acl:
      - {path: "payroll/**", tags: [finance]}
      - {path: legal/, tenant: acme, labels: [privileged], clearance_level: 2, allow_no_match: true}
""",
    )
    assert read_repositories(file) == (
        Repository(tmp_path / "shop", Scope("shop", "main"), DEFAULT_MODEL),
        Repository(
            path=Path("/srv/ledger"),
            scope=Scope("ledger", "release"),
            embedder="none",
            exclude=("generated/", "!generated/keep.py"),
            access=(
                AccessRule("payroll/**", NodeAccess(acl_tags=("finance",))),
                AccessRule("legal/", NodeAccess("acme", (), ("privileged",), 2), allow_no_match=True),
            ),
            skip_dangling_edges=True,
            link_template="https://git.example/ledger/{commit}/{path}#L{start_line}",
        ),
    )


HEAD = "repositories:\n  - path: shop\n    repository: shop\n    branch: main\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (HEAD + "    brnch: x\n", "repositories[0].brnch: is no key here; remove it or correct its name (line 5)"),
        ("repos: []\n", "repos: is no key here; remove it or correct its name (line 1)"),
        (
            "repositories:\n  - path: shop\n    branch: main\n",
            "repositories[0].repository: is required; give it (line 2)",
        ),
        (HEAD.replace("branch: main", "branch: 'a::b'"), "repositories[0].branch: is 'a::b'; must hold no control"),
        (HEAD.replace("branch: main", "branch: 7"), "repositories[0].branch: is 7; must be a text (line 4)"),
        (HEAD + "    exclude: ['a[']\n", "repositories[0].exclude[0]: is 'a['; 'a[' is not a pattern of .gitignore"),
        (HEAD + "    link_template: hub\n", "repositories[0].link_template: is 'hub'; is none of auto, none, github"),
        (
            HEAD + "    link_template: 'javascript://%0aalert(1)/{path}'\n",
            "repositories[0].link_template: is 'javascript://%0aalert(1)/{path}'; is no web address; begin it with",
        ),
        (HEAD + "    exclude: docs/\n", "repositories[0].exclude: is 'docs/'; must be a list"),
        (
            HEAD + "    acl: [{path: '!a', tags: [x]}]\n",
            "repositories[0].acl[0].path: is '!a'; the access rule '!a' starts",
        ),
        (
            HEAD + "    acl:\n    - path: a\n    - tag: x\n",
            "acl[1].tag: is no key here; remove it or correct its name (line 7)",
        ),
        (HEAD + "    acl:\n    - path: a\n", "the rule demands nothing; give tags, labels, clearance_level or tenant"),
        (HEAD + "    acl: [{path: a, tags: ['']}]\n", "acl[0].tags[0]: is ''; "),
        (HEAD + "    acl: [{path: a, clearance_level: -1}]\n", "acl[0].clearance_level: is -1; "),
        (HEAD + HEAD.partition("\n")[2], "repository 'shop' has branch 'main' twice; an index has one source"),
        (HEAD.replace("path: shop", 'path: "a\\0"'), "repositories[0].path: is 'a\\x00'; "),
        ("repositories: []\n", "repositories: is []; "),
        ("", "the file: must be a mapping of keys to values; see docs/indexing.md (line 1)"),
        ("- a\n", "the file: must be a mapping of keys to values; see docs/indexing.md (line 1)"),
    ],
)
def test_what_is_not_of_the_form_is_refused_with_its_line(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(YamlFileError) as caught:
        read_repositories(written(tmp_path, text))
    assert problem in str(caught.value)
    assert "(line " in str(caught.value)
