"""The template that an index states: by the host of its repository, or as the operator gives it."""

import pytest

from groundwire_ingest.git_trees import is_address
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.repositories.link_templates import AUTO, NONE, given_problem, stored_template

COMMIT = "2579ce9f18e67ec3213c6eceb5240310ccd46af8"

GITHUB = f"https://github.com/pallets/flask/blob/{COMMIT}/{{path}}#L{{start_line}}-L{{end_line}}"
GITLAB = f"https://gitlab.com/acme/web/shop/-/blob/{COMMIT}/{{path}}#L{{start_line}}-{{end_line}}"
BITBUCKET = f"https://bitbucket.org/acme/shop/src/{COMMIT}/{{path}}#lines-{{start_line}}:{{end_line}}"
CODEBERG = f"https://codeberg.org/acme/shop/src/commit/{COMMIT}/{{path}}#L{{start_line}}-L{{end_line}}"
AZURE = (
    f"https://dev.azure.com/acme/web%20shop/_git/shop?path=/{{path}}&version=GC{COMMIT}"
    "&line={start_line}&lineEnd={end_line}&lineStartColumn=1&lineEndColumn=1000&lineStyle=plain"
)


@pytest.mark.parametrize(
    ("address", "template"),
    [
        ("https://github.com/pallets/flask", GITHUB),
        ("https://github.com/pallets/flask.git", GITHUB),
        ("https://GitHub.com/pallets/flask/", GITHUB),
        ("https://ann:secret@github.com/pallets/flask.git", GITHUB),
        ("ssh://git@github.com/pallets/flask.git", GITHUB),
        ("ssh://git@github.com:22/pallets/flask.git", GITHUB),
        ("git@github.com:pallets/flask.git", GITHUB),
        ("https://gitlab.com/acme/web/shop.git", GITLAB),
        ("git@gitlab.com:acme/web/shop.git", GITLAB),
        ("https://bitbucket.org/acme/shop.git", BITBUCKET),
        ("git@bitbucket.org:acme/shop.git", BITBUCKET),
        ("https://codeberg.org/acme/shop", CODEBERG),
        ("https://acme@dev.azure.com/acme/web%20shop/_git/shop", AZURE),
        ("git@ssh.dev.azure.com:v3/acme/web%20shop/shop", AZURE),
        ("https://dev.azure.com/acme/_git/shop", AZURE.replace("/web%20shop", "")),
    ],
)
def test_a_known_host_gives_the_template(address: str, template: str) -> None:
    assert is_address(address)
    assert stored_template(AUTO, address, COMMIT) == template
    assert stored_template(NONE, address, COMMIT) == ""


@pytest.mark.parametrize(
    "address",
    [
        "http://github.com/pallets/flask",
        "git://github.com/pallets/flask",
        "https://github.com:8443/pallets/flask",
        "https://github.com.evil.example/pallets/flask",
        "https://github.com@evil.example/pallets/flask",
        "https://evil.example/github.com/flask",
        "https://github.com/flask",
        "https://github.com/pallets/flask/tree/main",
        "https://github.com/pallets/../flask",
        "https://github.com/pallets/fl{path}ask",
        "https://github.com/pallets/flask?token=secret",
        'https://github.com/pallets/"><script>',
        "https://gitlab.com/shop",
        "https://gitlab.acme.example/web/shop",
        "https://dev.azure.com/acme/web/git/shop",
        "git@git.example:acme/shop.git",
        "file:///srv/github.com/pallets/flask",
        "/srv/git/shop.git",
        "",
    ],
)
def test_no_other_address_gives_a_template(address: str) -> None:
    assert stored_template(AUTO, address, COMMIT) == ""


def test_files_of_no_commit_have_no_links_by_themselves() -> None:
    assert stored_template(AUTO, "", "") == ""


@pytest.mark.parametrize(
    ("kind", "address", "start"),
    [
        ("gitlab", "https://git.acme.example/web/shop.git", "https://git.acme.example/web/shop/-/blob/"),
        ("gitlab", "ssh://git@git.acme.example:2222/web/a/shop.git", "https://git.acme.example/web/a/shop/-/blob/"),
        ("gitlab", "http://git.acme.example:8080/web/shop", "http://git.acme.example:8080/web/shop/-/blob/"),
        ("github", "https://ghe.acme.example/web/shop", "https://ghe.acme.example/web/shop/blob/"),
        ("gitea", "git@git.acme.example:web/shop.git", "https://git.acme.example/web/shop/src/commit/"),
    ],
)
def test_the_kind_of_an_own_host_is_said_by_its_name(kind: str, address: str, start: str) -> None:
    assert given_problem(kind) is None
    assert stored_template(kind, address, COMMIT).startswith(start + COMMIT + "/{path}#L")
    assert stored_template(AUTO, address, COMMIT) == ""


@pytest.mark.parametrize("address", ["", "/srv/git/shop.git", "https://ghe.acme.example/shop", "file:///srv/a/b"])
def test_a_kind_needs_the_address_of_a_repository(address: str) -> None:
    with pytest.raises(IngestError, match=r"^link_template 'github' is the form of a repository at such a host, and "):
        stored_template("github", address, COMMIT)


def test_a_given_template_has_the_commit() -> None:
    given = "https://git.example/shop/{commit}/{path}"
    assert given_problem(given) is None
    assert stored_template(given, "/srv/git/shop.git", COMMIT) == f"https://git.example/shop/{COMMIT}/{{path}}"
    assert stored_template("https://git.example/shop/main/{path}", "", "") == "https://git.example/shop/main/{path}"


def test_a_commit_that_is_not_known_cannot_be_in_a_template() -> None:
    given = "https://git.example/shop/{commit}/{path}"
    with pytest.raises(IngestError) as refused:
        stored_template(given, "", "")
    assert str(refused.value) == (
        f"link_template {given!r} names {{commit}}, and the files of this source are of no commit that is known: "
        "index a commit of a Git repository, such as with --ref, or write what stands for it instead of {commit}"
    )


def test_a_template_that_the_commit_makes_too_long_is_refused() -> None:
    given = f"https://git.example/{'{commit}' * 30}{'{path}' * 5}"
    assert given_problem(given) is None
    with pytest.raises(IngestError, match=r"has 1,250 characters; shorten it to 1,000$"):
        stored_template(given, "", COMMIT)


@pytest.mark.parametrize("given", ["", "yes", "off", "GitHub", "bitbucket", "azure"])
def test_an_unknown_word_is_refused(given: str) -> None:
    assert given_problem(given) == (
        "is none of auto, none, github, gitlab, gitea, and no template such as "
        "https://git.example/team/shop/blob/{commit}/{path}"
    )
