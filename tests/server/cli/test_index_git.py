"""`groundwire index` reads a commit of a Git repository, by address or folder, without a checkout."""

import os
import shutil
import socket
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from groundwire_index.addresses import without_credentials
from groundwire_index.scope import Scope
from groundwire_index.store.store import SEGMENTS_FOLDER, IndexStore
from groundwire_ingest import git_trees
from groundwire_ingest.git_trees import git_tree, is_git_repository, repository_name
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.tree.decoding import MAX_FILE_BYTES
from support.builds import index_of
from support.program import run, run_ok

_IDENTITY = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false")


def git(folder: Path, *arguments: str) -> str:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-C", str(folder), *_IDENTITY, *arguments]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository whose default branch is `trunk`, with a tag of its first commit, and changes that are no commit."""
    folder = tmp_path / "shop"
    (folder / "src").mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=trunk")
    (folder / "src" / "tax.py").write_text("def rate():\n    return 19\n")
    (folder / ".gitattributes").write_text("src/* export-ignore text eol=crlf filter=evil\n")
    (folder / "link.py").symlink_to("/etc/passwd")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "first")
    git(folder, "tag", "v1")
    (folder / "src" / "tax.py").write_text("def rate():\n    return 20\n")
    (folder / "src" / "large.txt").write_bytes(b"x" * (MAX_FILE_BYTES + 1))
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "second")
    (folder / "src" / "tax.py").write_text("def rate():\n    return 21\n")
    return folder


def indexed(data: Path, repository: str, branch: str) -> tuple[str, str]:
    """The text of the only function, and the source of the manifest."""
    scope = Scope(repository, branch)
    index = index_of(data, replace(scope, active_index=IndexStore(data).active(scope)))
    texts = [index.nodes.texts[row] for row in range(index.manifest.node_count)]
    (function,) = (text for text in texts if "return" in text)
    return function, index.manifest.source


def test_an_address_is_indexed_under_its_names(shop: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    commit = git(shop, "rev-parse", "HEAD")
    run_ok("index", f"file://{shop}", "--embedder", "none", "--data", data)
    text, source = indexed(data, "shop", "trunk")
    assert text.rstrip() == "def rate():\n    return 20", "the commit, without filters and line ends"
    assert source == f"source tree shop (file://{shop} at {commit[:12]})"
    again = run_ok("index", f"file://{shop}", "--embedder", "none", "--data", data)
    assert "unchanged" in again


@pytest.mark.parametrize("kind", ["tag", "commit"])
def test_a_ref_of_a_folder_is_read_from_its_objects(shop: Path, tmp_path: Path, kind: str) -> None:
    ref = "v1" if kind == "tag" else git(shop, "rev-parse", "v1")
    run_ok("index", shop, "--ref", ref, "-r", "books", "-b", "old", "--embedder", "none", "--data", tmp_path / "data")
    text, _ = indexed(tmp_path / "data", "books", "old")
    assert text.rstrip() == "def rate():\n    return 19"


def test_refs_of_a_bare_repository_share_what_was_read(shop: Path, tmp_path: Path) -> None:
    bare, data = tmp_path / "mirror.git", tmp_path / "data"
    git(shop, "branch", "same", "trunk")
    git(shop, "clone", "--quiet", "--bare", str(shop), str(bare))
    files = {}
    for ref in ("trunk", "v1", "same"):
        for folder in (data, tmp_path / f"nothing before {ref}"):
            run_ok("index", bare, "--ref", ref, "-r", "shop", "-b", ref, "--embedder", "none", "--data", folder)
            scope = Scope("shop", ref)
            store = IndexStore(folder)
            manifest = store.manifest(replace(scope, active_index=store.active(scope)))
            files[folder.name, ref] = {entry.name: entry.sha256 for entry in manifest.files}
        assert files["data", ref] == files[f"nothing before {ref}", ref]
    segments = {ref: [*(data / "shop" / ref / SEGMENTS_FOLDER).glob("*.*")] for ref in ("trunk", "v1", "same")}
    assert {path.stat().st_ino for path in segments["trunk"]} == {path.stat().st_ino for path in segments["same"]}
    assert {path.stat().st_nlink for path in segments["v1"]} == {1}


def test_a_file_of_repositories_names_addresses_and_refs(shop: Path, tmp_path: Path) -> None:
    data, listed = tmp_path / "data", tmp_path / "repositories.yaml"
    address = f"file://{shop}"
    entries = (
        f"  - {{path: {address!r}, repository: shop, branch: trunk, embedder: none}}\n"
        "  - {path: shop, ref: v1, repository: shop, branch: old, embedder: none}\n"
        "  - {path: shop, repository: shop, branch: work, embedder: none}\n"
    )
    listed.write_text(f"repositories:\n{entries}")
    run_ok("index", listed, "--data", data)
    rates = {branch: indexed(data, "shop", branch)[0].split()[-1] for branch in ("trunk", "old", "work")}
    assert rates == {"trunk": "20", "old": "19", "work": "21"}
    commits = [git(shop, "rev-parse", name)[:12] for name in ("HEAD", "v1")]
    sources = [indexed(data, "shop", branch)[1] for branch in ("trunk", "old", "work")]
    assert sources[0] == f"source tree shop ({address} at {commits[0]})"
    assert sources[1].endswith(f" at {commits[1]})")
    assert sources[2] == "source tree shop"
    assert run_ok("index", listed, "--data", data).count("unchanged") == 3


def test_an_entry_that_git_cannot_read_fails_alone(shop: Path, tmp_path: Path) -> None:
    data, listed = tmp_path / "data", tmp_path / "repositories.yaml"
    (tmp_path / "plain").mkdir()
    listed.write_text(
        "repositories:\n"
        "  - {path: plain, ref: v1, repository: plain, branch: main, embedder: none}\n"
        "  - {path: shop, ref: absent, repository: shop, branch: absent, embedder: none}\n"
        "  - {path: shop, ref: v1, repository: shop, branch: old, embedder: none}\n"
    )
    failed = run("index", listed, "--data", data)
    assert failed.returncode == 1
    assert "plain: is no Git repository; leave out `ref`, or name one" in failed.stderr
    assert "2 of 3 repositories failed: plain main, shop absent" in failed.stderr
    assert indexed(data, "shop", "old")[0].rstrip().endswith("19")
    watched = run("index", listed, "--data", data, "--watch")
    assert watched.returncode == 2
    assert (
        "--watch needs folders of files, and no Git repositories: plain main, shop absent, shop old" in watched.stderr
    )


def test_a_bare_repository_is_read_without_a_ref(shop: Path, tmp_path: Path) -> None:
    bare = tmp_path / "mirror.git"
    git(shop, "clone", "--quiet", "--bare", str(shop), str(bare))
    with git_tree(str(bare), "") as tree:
        names = sorted(path.relative_to(tree.folder).as_posix() for path in tree.folder.rglob("*") if path.is_file())
        assert names == [".gitattributes", "src/large.txt", "src/tax.py"], "no link"
        assert (tree.folder / "src" / "large.txt").stat().st_size == MAX_FILE_BYTES + 1
        assert (tree.branch, repository_name(str(bare))) == ("trunk", "mirror")
        folder = tree.folder
    assert not folder.exists()


def template_of(data: Path, repository: str, branch: str) -> str:
    """The template of the links of the active version."""
    entries = IndexStore(data).listed()
    (template,) = (e.link_template for e in entries if (e.repository, e.branch, e.active) == (repository, branch, True))
    return template


def test_the_address_of_a_known_host_gives_links_to_the_commit(shop: Path, tmp_path: Path) -> None:
    data, commit = tmp_path / "data", git(shop, "rev-parse", "v1")
    here = {  # so that git fetches from the folder what it is to fetch from the host
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.file://{shop}/.git.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://ann:secret@github.com/acme/shop",
    }
    address = ("index", "https://ann:secret@github.com/acme/shop", "--ref", "v1", "--embedder", "none", "--data", data)
    template = f"https://github.com/acme/shop/blob/{commit}/{{path}}#L{{start_line}}-L{{end_line}}"
    run_ok(*address, environment=here)
    assert template_of(data, "shop", "v1") == template
    assert "unchanged" in run_ok(*address, "--link-template", "github", environment=here), "it makes the same links"
    assert "unchanged" not in run_ok(*address, "--link-template", "none", environment=here)
    assert template_of(data, "shop", "v1") == ""
    listed = tmp_path / "repositories.yaml"
    entry = f"{{path: {address[1]!r}, ref: v1, repository: shop, branch: v1, embedder: none}}"
    listed.write_text(f"repositories:\n  - {entry}\n")
    run_ok("index", listed, "--data", data, environment=here)
    assert template_of(data, "shop", "v1") == template
    index = index_of(data, Scope("shop", "v1", IndexStore(data).active(Scope("shop", "v1"))))
    (row,) = (row for row in range(index.manifest.node_count) if "return" in index.nodes.texts[row])
    assert index.nodes.location(row).url == f"https://github.com/acme/shop/blob/{commit}/src/tax.py#L1-L2"


def test_a_template_is_given_for_other_sources(shop: Path, tmp_path: Path) -> None:
    data, commit = tmp_path / "data", git(shop, "rev-parse", "HEAD")
    common = ("-r", "shop", "-b", "trunk", "--embedder", "none", "--data", data)
    given = "https://git.example/acme/shop/{commit}/{path}#{start_line}"
    run_ok("index", shop, "--ref", "trunk", *common)
    assert template_of(data, "shop", "trunk") == "", "a folder names no host, even if it was cloned from one"
    run_ok("index", shop, "--ref", "trunk", "--link-template", given, *common)
    assert template_of(data, "shop", "trunk") == f"https://git.example/acme/shop/{commit}/{{path}}#{{start_line}}"
    plain = run("index", shop, "--link-template", given, *common)
    assert plain.returncode == 1
    assert "names {commit}, and the files of this source are of no commit that is known" in plain.stderr
    of_folder = run("index", shop, "--ref", "trunk", "--link-template", "gitlab", *common)
    assert of_folder.returncode == 1
    assert "link_template 'gitlab' is the form of a repository at such a host" in of_folder.stderr
    run_ok("index", shop, "--link-template", "https://git.example/acme/shop/trunk/{path}", *common)
    assert template_of(data, "shop", "trunk") == "https://git.example/acme/shop/trunk/{path}"


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ("", "'' is none of auto, none, github, gitlab, gitea, and no template"),
        ("javascript:alert(1)//{path}", "is no web address; begin it with https:// or http://"),
        ("https://ann:secret@git.example/{path}", "'https://git.example/{path}' names a user or password"),
        ("https://git.example/{branch}/{path}", "has the placeholder {branch}, which is unknown; use {path}, "),
    ],
)
def test_a_template_that_cannot_be_used_is_a_mistake_of_the_command(tmp_path: Path, given: str, rule: str) -> None:
    refused = run("index", tmp_path, "-r", "shop", "-b", "main", "--data", tmp_path / "data", "--link-template", given)
    assert refused.returncode == 2
    assert refused.stderr.startswith("error: --link-template: ")
    assert rule in refused.stderr
    assert "secret" not in refused.stderr


def test_a_file_of_repositories_says_templates_itself(tmp_path: Path) -> None:
    listed = tmp_path / "repositories.yaml"
    listed.write_text("repositories:\n  - {path: a, repository: a, branch: b}\n")
    refused = run("index", listed, "--link-template", "none", "--data", tmp_path / "data")
    assert refused.returncode == 2
    assert "--skip-dangling-edges and --link-template" in refused.stderr


def test_what_is_no_repository_or_ref_is_said(shop: Path, tmp_path: Path) -> None:
    data = ("--embedder", "none", "--data", tmp_path / "data")
    absent = run("index", f"file://{shop}", "--ref", "absent", *data)
    assert absent.returncode == 1
    assert f"file://{shop}: git failed: fatal: couldn't find remote ref absent" in absent.stderr
    none = run("index", tmp_path, "--ref", "main", "-r", "a", "-b", "b", *data)
    assert (none.returncode, "is no Git repository" in none.stderr) == (2, True)
    watched = run("index", f"file://{shop}", "--watch", *data)
    assert (watched.returncode, "--watch needs a folder of files" in watched.stderr) == (2, True)
    option = run("index", f"file://{shop}", "--ref", "--upload-pack=touch /tmp/owned", *data)
    assert option.returncode == 1


def test_a_folder_has_its_own_name_however_it_is_written(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shop / "src")
    for written in ("..", "../", str(shop), f"{shop}/"):
        with git_tree(written, "v1") as tree:
            assert (repository_name(written), tree.folder.name) == ("shop", "shop")


def test_addresses() -> None:
    assert is_git_repository("https://example.org/team/shop.git", "")
    assert is_git_repository("git@example.org:team/shop.git", "")
    assert not is_git_repository("ext::sh -c whoami", "")
    assert repository_name("https://example.org/team/shop.git/") == "shop"
    assert repository_name("git@example.org:shop") == "shop"
    assert without_credentials("https://ann:secret@example.org/shop") == "https://example.org/shop"
    assert without_credentials("s3://key:secret@bucket/team?token=secret") == "s3://bucket/team"
    assert without_credentials("https://[2001:db8::1]:8443/shop@v1") == "https://[2001:db8::1]:8443/shop@v1"


@pytest.mark.parametrize(
    "address",
    [
        "https://ann:secret@127.0.0.1:9/shop",
        "https://ann:sec/secret@127.0.0.1:9/shop",
        "https://ann:secret#secret@127.0.0.1:9/shop",
        "https://ann:secret?secret@127.0.0.1:9/shop",
        "https://ann:secret@[127.0.0.1/shop",
        "https://ann:secret@127.0.0.1\u2100:9/shop",
    ],
)
def test_an_address_that_fails_is_named_without_its_password(address: str, tmp_path: Path) -> None:
    failed = run("index", address, "-r", "a", "-b", "b", "--embedder", "none", "--data", tmp_path / "data")
    assert failed.returncode == 1
    assert "git failed" in failed.stderr
    assert "secret" not in failed.stderr


def test_a_server_that_says_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_trees, "_SECONDS_OF_SILENCE", 1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/shop"
        with pytest.raises(IngestError, match="git failed"), git_tree(address, ""):
            pass


def test_no_name_of_an_address_is_in_the_way(shop: Path, tmp_path: Path) -> None:
    objects = tmp_path / "objects"
    git(shop, "clone", "--quiet", "--bare", str(shop), str(objects))
    with git_tree(f"file://{objects}", "") as tree:
        assert (tree.folder.name, (tree.folder / "src" / "tax.py").exists()) == ("objects", True)
    assert repository_name("https://example.org/..") == "repository"


@pytest.mark.parametrize("ref", ["trunk:refs/heads/other", "+trunk", "^trunk"])
def test_a_ref_is_one_name(shop: Path, ref: str) -> None:
    with pytest.raises(IngestError, match="is no name of a branch"), git_tree(f"file://{shop}", ref):
        pass


def test_the_folder_of_a_repository_starts_no_program(shop: Path, tmp_path: Path) -> None:
    """A repository that lacks objects can name a program by which git fetches them."""
    hostile, started = tmp_path / "hostile.git", tmp_path / "started"
    git(tmp_path, "init", "--quiet", "--bare", str(hostile))
    commit = git(shop, "rev-parse", "HEAD")
    held = f"{commit}\n{git(shop, 'rev-parse', 'HEAD^{tree}')}\n{git(shop, 'rev-parse', 'HEAD:src')}\n"
    subprocess.run(
        ["git", "-C", str(shop), "pack-objects", "--quiet", str(hostile / "objects" / "pack" / "pack")],
        input=held.encode(), check=True, capture_output=True,
    )  # fmt: skip
    (pack,) = (hostile / "objects" / "pack").glob("*.pack")
    pack.with_suffix(".promisor").touch()
    (hostile / "refs" / "heads" / "trunk").write_text(f"{commit}\n")
    (hostile / "HEAD").write_text("ref: refs/heads/trunk\n")
    for name, value in (
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", str(shop)),
        ("remote.origin.uploadPack", f"touch {started}; git-upload-pack"),
    ):
        git(hostile, "config", name, value)
    with pytest.raises(IngestError, match="is the repository complete"), git_tree(str(hostile), ""):
        pass
    assert not started.exists()


def test_variables_of_another_repository_change_nothing(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git sets them for the programs that it starts, such as a hook that builds an index."""
    other = tmp_path / "other.git"
    git(tmp_path, "init", "--quiet", "--bare", str(other))
    before = sorted(path for path in other.rglob("*") if path.is_file())
    for name in ("GIT_DIR", "GIT_COMMON_DIR"):
        monkeypatch.setenv(name, str(other))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(other / "objects"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / "index"))
    for source in (f"file://{shop}", str(shop)):
        with git_tree(source, "v1") as tree:
            assert (tree.folder / "src" / "tax.py").exists()
    assert sorted(path for path in other.rglob("*") if path.is_file()) == before


def test_a_replaced_object_does_not_count(shop: Path) -> None:
    git(shop, "replace", git(shop, "rev-parse", "HEAD"), git(shop, "rev-parse", "v1"))
    with git_tree(str(shop), "trunk") as tree:
        assert (tree.folder / "src" / "tax.py").read_text() == "def rate():\n    return 20\n"


def test_a_small_commit_of_very_many_files_is_refused(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees within trees: each holds the one before ten times, and the commit has a million files."""
    tree = git(shop, "rev-parse", "HEAD:src")
    for _ in range(6):
        made = subprocess.run(
            ["git", "-C", str(shop), "mktree"],
            input="".join(f"040000 tree {tree}\t{number}\n" for number in range(10)).encode(),
            check=True, capture_output=True,
        )  # fmt: skip
        tree = made.stdout.decode().strip()
    commit = git(shop, "commit-tree", tree, "-m", "evil")
    for limit in ("MOST_FILES", "MOST_BYTES"):
        with monkeypatch.context() as lower:
            lower.setattr(git_trees, limit, 20)
            with pytest.raises(IngestError, match="index a part of it"), git_tree(str(shop), commit):
                pass


@pytest.mark.parametrize("reply", ["", "printf '%s blob 100\\nshort' \"$object\""])
def test_a_git_that_dies_while_it_reads_ends_the_build(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reply: str
) -> None:
    """Otherwise a part of a file would be indexed as the whole."""
    git = shutil.which("git")
    programs = tmp_path / "programs"
    programs.mkdir()
    dies = f'case "$*" in *cat-file*) read -r object; {reply or ":"}; exit 1;; esac'
    (programs / "git").write_text(f'#!/bin/sh\n{dies}\nexec {git} "$@"\n')
    (programs / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    with pytest.raises(IngestError, match="git cannot read the object"), git_tree(str(shop), ""):
        pass


@pytest.mark.parametrize("path", ["a/" * 1_400 + "b.py", "a" * 256, ("a" * 100 + "/") * 1_000 + "b.py"])
def test_a_commit_of_very_long_paths_is_refused(shop: Path, path: str) -> None:
    """As objects, they take a few kilobytes."""
    change = f"commit refs/heads/deep\ncommitter A <a@b> 0 +0000\ndata 0\nM 100644 inline {path}\ndata 0\n"
    subprocess.run(["git", "-C", str(shop), "fast-import", "--quiet"], input=change.encode(), check=True)
    with pytest.raises(IngestError, match="take it out of the commit"), git_tree(str(shop), "deep"):
        pass


@pytest.mark.parametrize("name", ["../out.py", ".git/config", "a/../../out.py"])
def test_a_commit_cannot_lead_out_of_the_folder(shop: Path, name: str) -> None:
    """Git refuses to make such a tree, but a server may send one."""
    blob = git(shop, "hash-object", "-w", "src/tax.py")
    entry = b"100644 " + name.encode() + b"\0" + bytes.fromhex(blob)
    made = subprocess.run(
        ["git", "-C", str(shop), "hash-object", "-t", "tree", "--literally", "-w", "--stdin"],
        input=entry, check=True, capture_output=True,
    )  # fmt: skip
    commit = git(shop, "commit-tree", made.stdout.decode().strip(), "-m", "evil")
    with pytest.raises(IngestError, match="no path in a folder"), git_tree(str(shop), commit):
        pass
