import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from groundwire_ingest.files_below import scan_below
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.records import SkippedFile, SourceEdge, SourceNode
from groundwire_ingest.tree.ignore import Exclusions
from groundwire_ingest.tree.source import TreeSource
from groundwire_ingest.tree.walk import ListedFile, language_of, list_tree
from support.swaps import SWAPS, Swap, deep_folders

TreeMaker = Callable[[Mapping[str, str | bytes]], Path]


def listed_paths(root: Path) -> list[str]:
    return [item.path for item in list_tree(root) if isinstance(item, ListedFile)]


def skipped(root: Path) -> dict[str, str]:
    return {item.path: item.why for item in list_tree(root) if isinstance(item, SkippedFile)}


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a/b.py", "python"),
        ("b.pyi", "python"),
        ("A.cs", "csharp"),
        ("a.ts", "typescript"),
        ("a.tsx", "typescript"),
        ("a.mts", "typescript"),
        ("a.d.ts", "typescript"),
        ("a.js", "javascript"),
        ("a.jsx", "javascript"),
        ("a.cjs", "javascript"),
        ("A.java", "java"),
        ("a.go", "go"),
        ("go.mod", "gomod"),
        ("db/a.SQL", "sql"),
        ("README.md", "markdown"),
        ("a.yml", "yaml"),
        ("Dockerfile", "dockerfile"),
        ("Dockerfile.prod", "dockerfile"),
        ("web.Dockerfile", "dockerfile"),
        ("_helpers.tpl", "helm"),
        ("a.unknown", "text"),
        ("LICENSE", "text"),
        ("Makefile", "make"),
        ("src/appsettings.json", "json"),
        (".env.example", "ini"),
        ("Directory.Build.props", "msbuild"),
        ("Pages/Index.cshtml", "razor"),
    ],
)
def test_language_by_name(path: str, language: str) -> None:
    assert language_of(path) == language


def test_paths_are_sorted_as_whole_strings(make_tree: TreeMaker) -> None:
    root = make_tree({"b.py": "x", "a/z.py": "x", "a.py": "x", "a-b/c.py": "x", "A.py": "x"})
    assert listed_paths(root) == ["A.py", "a-b/c.py", "a.py", "a/z.py", "b.py"]


def test_gitignore_holds_at_every_level_and_inner_negations_win(make_tree: TreeMaker) -> None:
    root = make_tree(
        {
            ".gitignore": "*.gen.py\n/build/\n# comment\n!keep.gen.py\n",
            "a.gen.py": "x",
            "keep.gen.py": "x",
            "build/out.py": "x",
            "sub/build/kept.py": "x",
            "sub/.gitignore": "!b.gen.py\nlocal.py\n",
            "sub/b.gen.py": "x",
            "sub/c.gen.py": "x",
            "sub/local.py": "x",
            "local.py": "x",
        }
    )
    assert listed_paths(root) == ["keep.gen.py", "local.py", "sub/b.gen.py", "sub/build/kept.py"]


def test_nothing_is_re_included_below_an_ignored_folder(make_tree: TreeMaker) -> None:
    root = make_tree({".gitignore": "out/\n", "out/.gitignore": "!a.py\n", "out/a.py": "x", "b.py": "x"})
    assert listed_paths(root) == ["b.py"]


def test_line_of_gitignore_that_is_no_pattern_is_named_and_the_others_hold(make_tree: TreeMaker) -> None:
    root = make_tree({".gitignore": "!\na.py\n", "a.py": "x", "b.py": "x"})
    assert listed_paths(root) == ["b.py"]
    notes = [item.why for item in list_tree(root) if item.path == ".gitignore" and isinstance(item, SkippedFile)]
    assert "line 1 is not a pattern and is ignored: '!'" in notes


def test_version_control_folders_are_passed_over(make_tree: TreeMaker) -> None:
    root = make_tree({".git/a.py": "x", "sub/.hg/a.py": "x", ".svn/a.py": "x", ".github/a.py": "x"})
    assert [item.path for item in list_tree(root)] == [".github/a.py"]


def test_every_file_that_is_never_read_is_named_with_the_reason(make_tree: TreeMaker) -> None:
    names = [".env", ".env.local", "prod.env", "a.pem", "id_rsa", "a.PFX", "x.tfstate"]
    names += ["yarn.lock", "package-lock.json", "go.sum", "a.min.js", "a.js.map", "n.ipynb", "a.PNG", ".gitattributes"]
    read = [".env.example", "sample.env.dist", "environment.ts", "locksmith.json", "LICENSE", "minutes.txt"]
    root = make_tree(dict.fromkeys([*names, *read], "x"))
    reasons = skipped(root)
    assert sorted(reasons) == sorted(names)
    assert listed_paths(root) == sorted(read)
    assert reasons["a.pem"] == reasons["id_rsa"] == "a file of keys or passwords by its name; secrets are not read"
    assert reasons["yarn.lock"] == reasons["package-lock.json"] == reasons["go.sum"]
    assert reasons["a.PNG"] == "an image, a font, an archive or other data (.png)"


def test_symbolic_links_are_named_and_never_followed(make_tree: TreeMaker, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.py").write_text("x")
    root = make_tree({"a/b.py": "x"})
    (root / "out").symlink_to(outside)
    (root / "loop").symlink_to(root)
    (root / "c.py").symlink_to(outside / "secret.py")
    assert listed_paths(root) == ["a/b.py"]
    assert set(skipped(root)) == {"c.py", "loop", "out"}
    assert skipped(root)["c.py"] == "a symbolic link; links are not followed"


@pytest.mark.parametrize("swap", SWAPS, ids=lambda swap: swap.__name__)
@pytest.mark.parametrize("replaced", ["a/.gitignore", "a/b/c.py"])
def test_what_is_replaced_while_folders_are_listed_is_not_followed(
    make_tree: TreeMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swap: Swap, replaced: str
) -> None:
    root = make_tree({"a/.gitignore": "x.py\n", "a/b/c.py": "x = 1\n", "a/x.py": "x = 1\n", "d.py": "x = 1\n"})
    (tmp_path / "secret").write_text("c.py\n")

    @contextmanager
    def swapped(*place: Any) -> Iterator[Sequence[os.DirEntry[str]]]:
        with scan_below(*place) as entries:
            if place == (root, "a/"):
                swap(root / replaced, tmp_path / "secret")
            yield entries

    monkeypatch.setattr("groundwire_ingest.tree.walk.scan_below", swapped)
    paths = [item.path for item in list_tree(root)]
    assert "d.py" in paths
    assert "a/x.py" not in paths
    assert not [path for path in paths if "secret" in path or "outside" in path]


def test_a_folder_that_is_too_deep_is_named(make_tree: TreeMaker) -> None:
    root = make_tree({"a.py": "x = 1\n"})
    with deep_folders(root, 2_100):
        listed = list_tree(root)
    assert [item.path for item in listed] == ["a.py", "d/" * 258]


def test_what_is_neither_file_nor_folder_is_named(make_tree: TreeMaker) -> None:
    root = make_tree({"a.py": "x"})
    os.mkfifo(root / "pipe.py")
    assert skipped(root) == {"pipe.py": "neither a file nor a folder"}


UNUSABLE_NAME = "the file's name is not UTF-8, or has control characters"


def test_file_name_that_is_not_utf_8_is_named_with_escapes(make_tree: TreeMaker) -> None:
    root = make_tree({"a.py": "x"})
    Path(os.fsdecode(os.fsencode(root) + b"/caf\xe9.py")).write_text("x")
    assert skipped(root) == {"caf\\xe9.py": UNUSABLE_NAME}


def test_a_file_whose_name_would_steer_a_terminal_is_named_with_escapes(make_tree: TreeMaker) -> None:
    root = make_tree({"a.py": "x", "red\x1b[31m.py": "x", "b\n/c.py": "x", "csi\x9b31m.py": "x"})
    assert skipped(root) == dict.fromkeys(("red\\x1b[31m.py", "b\\n/c.py", "csi\\x9b31m.py"), UNUSABLE_NAME)
    assert listed_paths(root) == ["a.py"]


def test_a_gitignore_in_a_folder_that_is_not_utf_8_is_named_with_escapes(make_tree: TreeMaker) -> None:
    root = make_tree({"a.py": "x"})
    folder = Path(os.fsdecode(os.fsencode(root) + b"/caf\xe9"))
    folder.mkdir()
    (folder / ".gitignore").write_text("a[\n")
    notes = [item for item in list_tree(root) if isinstance(item, SkippedFile)]
    assert SkippedFile("caf\\xe9/.gitignore", "line 1 is not a pattern and is ignored: 'a['") in notes


def test_yaml_in_a_charts_templates_is_helm(make_tree: TreeMaker) -> None:
    root = make_tree(
        {
            "chart/Chart.yaml": "a: 1",
            "chart/values.yaml": "a: 1",
            "chart/templates/web/deployment.yaml": "a: 1",
            "other/templates/x.yaml": "a: 1",
        }
    )
    languages = {item.path: item.language for item in list_tree(root) if isinstance(item, ListedFile)}
    assert languages == {
        "chart/Chart.yaml": "yaml",
        "chart/templates/web/deployment.yaml": "helm",
        "chart/values.yaml": "yaml",
        "other/templates/x.yaml": "yaml",
    }


def test_a_chart_file_that_is_left_out_makes_no_chart(make_tree: TreeMaker) -> None:
    files = {"chart/Chart.yaml": "a: 1", "chart/templates/web.yaml": "a: 1"}
    excluded = list_tree(make_tree(files), Exclusions(["Chart.yaml"]))
    ignored = list_tree(make_tree({".gitignore": "Chart.yaml\n"}))
    for listed in (excluded, ignored):
        languages = {item.path: item.language for item in listed if isinstance(item, ListedFile)}
        assert "chart/Chart.yaml" not in languages
        assert languages["chart/templates/web.yaml"] == "yaml"


def test_a_root_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match="not a folder"):
        list_tree(tmp_path / "absent")


def test_the_file_of_a_worktree_or_submodule_in_place_of_a_folder_is_passed_over(make_tree: TreeMaker) -> None:
    root = make_tree({".git": "gitdir: ../a/.git/worktrees/b\n", "lib/.git": "gitdir: ../.git/lib\n", "a.py": "x"})
    assert [item.path for item in list_tree(root)] == ["a.py"]


@pytest.mark.parametrize(
    ("first_line", "language"),
    [
        ("#!/usr/bin/env python3", "python"),
        ("#!/usr/bin/python2.7 -u", "python"),
        ("#! /bin/sh", "shell"),
        ("#!/usr/bin/env -S node --no-warnings", "javascript"),
        ("#!/usr/bin/env LANG=C bash", "shell"),
        ("#!/usr/bin/env ts-node", "typescript"),
        ("#!ruby", "ruby"),
        ("#!/usr/bin/php\r", "php"),
        ("#!/usr/bin/make -f", "make"),
        ("#!/usr/bin/perl -w", "text"),
        ("#!/usr/bin/env pythonic", "text"),
        ("# not a script of python", "text"),
        ("#!", "text"),
    ],
)
def test_the_first_line_of_a_file_without_a_suffix_states_its_language(
    make_tree: TreeMaker, first_line: str, language: str
) -> None:
    root = make_tree({"bin/tool": f"{first_line}\nx = 1\n", "bin/tool.txt": f"{first_line}\n"})
    assert list_tree(root) == (ListedFile("bin/tool", language), ListedFile("bin/tool.txt", "text"))


def test_a_script_without_a_suffix_is_code(make_tree: TreeMaker) -> None:
    script = "#!/usr/bin/env python3\nfrom shop import run\n\n\ndef main():\n    run()\n    run()\n\n\nmain()\n"
    root = make_tree({"tool": script, "shop.py": "def run():\n    return 1\n"})
    records = list(TreeSource(root).read())
    assert "py::tool#main" in {record.key for record in records if isinstance(record, SourceNode)}
    calls = {(item.from_key, item.to_key) for item in records if isinstance(item, SourceEdge)}
    assert ("py::tool#main", "py::shop.py#run") in calls
