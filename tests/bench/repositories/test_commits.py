"""Sets of commit subjects: what is a question, which files answer it, and which commits are taken."""

import os
import subprocess
import tarfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bench.repositories.commits import app, changes_of, is_source, spread
from bench.repositories.history import Commit, read_commits
from bench.repositories.subjects import question_of
from bench.repositories.tables import Change

PERSON = "Ada <ada@example.org>"
_SETTINGS = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgSign=false")
FILES = {
    "src/basket.py",
    "src/cart.py",
    "src/order.py",
    "src/till.py",
    "src/shop.py",
    "README.md",
    "tests/test_cart.py",
}


@pytest.mark.parametrize(
    ("subject", "question"),
    [
        ("Add a second address to orders", "Add a second address to orders"),
        ("feat(orders)!: add a second address", "add a second address"),
        ("Fix: keep the cart after a login (#123)", "keep the cart after a login"),
        ("Fix #12: keep the cart after login", "keep the cart after login"),
        ("Keep the cart for a day, fixes #12 and #13", "Keep the cart for a day"),
        ("[orders] :sparkles: Add a second address", "Add a second address"),
        ("✨ Add a  second\taddress", "Add a second address"),
        ("`Basket.add` takes a number too", "`Basket.add` takes a number too"),
        ("cart: keep it after a login", "cart: keep it after a login"),
        ("Format prices by the customer's locale", "Format prices by the customer's locale"),
        ("Use dependency injection for the mailer", "Use dependency injection for the mailer"),
        ("Merge two carts when a guest logs in", "Merge two carts when a guest logs in"),
        ("Update the version of a stored document", "Update the version of a stored document"),
        ("Release the lock when a payment fails", "Release the lock when a payment fails"),
    ],
)
def test_a_subject_gives_its_prose(subject: str, question: str) -> None:
    assert question_of(subject) == question


@pytest.mark.parametrize(
    "subject",
    [
        "",
        "Fix the cart",
        "Fix the cart (#12, #13)",
        "Add " + "very " * 40 + "long text",
        "docs: say how the cart is kept",
        "style(cart): sort the imports of modules",
        "chore(deps-dev): let the mailer come second",
        'Revert "Keep the cart after a login"',
        "Merge branch 'main' into orders of today",
        "fixup! Keep the cart after a login",
        "Bump django from 4.1 to 4.2",
        "Bumped the mailer to its latest",
        "Release of the second candidate today",
        "v1.2.3 with the new cart page",
        "Prepare for the next release now",
        "Update version number in setup script",
        "Upgrade to Django 4 at last",
        "Updating mailer 1.2.3-preview of the shop",
        "Moved the shop to version 4",
        "Update all dependencies of the shop",
        "Fix a typo in the cart",
        "Fix lint warnings in the cart",
        "Fix the warnings that ruff found",
        "Formatting changes in the whole shop",
        "Reformat all files of the cart",
        "Add the change to the changelog",
        "Improve the docs of the cart",
        "Add more tests for the cart",
        "Code cleanup in the cart module",
        "Address review comments about the cart",
    ],
)
def test_a_subject_that_names_no_place_in_code_is_no_question(subject: str) -> None:
    assert question_of(subject) == ""


@pytest.mark.parametrize("unit", ["#1 ", "fix #", ":", ":+", "[", "(", "update ", "version ", "1.", "a(", "v1 "])
def test_a_long_subject_costs_no_more_than_its_length(unit: str) -> None:
    assert question_of(unit * 50_000) == ""


@pytest.mark.parametrize(
    ("path", "is_one"),
    [
        ("src/cart.py", True),
        ("src/Shop.Core/Cart.cs", True),
        ("templates/cart.html", True),
        ("src/testing.py", True),
        ("src/contest/latest.py", True),
        ("README.md", False),
        ("package.json", False),
        ("tests/cart.py", False),
        ("src/__tests__/cart.ts", False),
        ("test/Shop.Core.UnitTests/Cart.cs", False),
        ("Shop.Specs/Cart.cs", False),
        ("src/test_cart.py", False),
        ("store/cart_test.go", False),
        ("src/cart.spec.ts", False),
        ("src/CartTests.cs", False),
        ("src/e2e/cart.ts", False),
        ("docs/conf.py", False),
        ("vendor/cart.go", False),
        ("proto/gen/cart.go", False),
        ("api/cart.pb.go", False),
        ("api/cart.pb.gw.go", False),
        ("api/cart_pb2.py", False),
        ("Data/1_Initial.Designer.cs", False),
        ("static/cart.min.js", False),
    ],
)
def test_a_source_is_told_by_its_path(path: str, is_one: bool) -> None:
    assert is_source(path) is is_one


def test_a_commit_counts_by_the_sources_that_it_touched() -> None:
    def commit(subject: str, *paths: str, author: str = PERSON) -> Commit:
        return Commit("0" * 40, author, subject, "", paths)

    basket, cart, order, till, shop = (f"src/{name}.py" for name in ("basket", "cart", "order", "till", "shop"))
    commits = [
        commit("fix: keep the cart after a login", "README.md", cart, "tests/test_cart.py", basket),
        commit("Keep the cart after a login (#12)", order),
        commit("Fix the cart", cart),
        commit("Say how carts are kept", "README.md", "tests/test_cart.py"),
        commit("Rename what a cart holds", basket, cart, order, till),
        commit("Rename what an order holds", basket, cart, order, till, shop),
        commit("Drop what is no cart", cart, "src/gone.py"),
        commit("Keep orders for a year", order, author="renovate[bot] <bot@example.org>"),
    ]
    assert changes_of(commits, FILES) == [
        Change("keep the cart after a login", (basket, cart)),
        Change("Rename what a cart holds", (basket, cart, order, till)),
    ]


def test_the_newer_half_is_taken_at_even_distances() -> None:
    changes = [Change(str(number), ("a.py",)) for number in range(20)]
    assert [change.text for change in spread(changes, 5)] == ["0", "2", "4", "6", "8"]
    assert [change.text for change in spread(changes, 15)] == [str(number) for number in range(15)]
    assert spread(changes[:3], 5) == changes[:3]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A root, changes of files, some with signs in their names that tables use, one in a branch of its own, a merge."""
    git = tmp_path / "git"
    _git(tmp_path, "init", "--quiet", "--initial-branch=main", "git")
    _commit(git, 1, "Add everything that there is", {f"src/{name}.py": "" for name in "abcdé"} | {"a.png": ""})
    _git(git, "switch", "--quiet", "--create", "side")
    _commit(git, 2, "Write umlauts into a file", {"src/é.py": "1"})
    _git(git, "switch", "--quiet", "main")
    _commit(git, 3, "Count what is in a", {"src/a.py": "1", "a.png": "1"})
    _commit(git, 4, "Count what is in f and g", {"src/f;g.py": "1", "src/\u2028.py": "1"})
    _commit(git, 5, "Count what is in one line", {"src/\u2028.py": "2"})
    _git(git, "merge", "--quiet", "--message=Take the side to main", "side")
    return git


def test_the_history_is_read_without_merges(repository: Path) -> None:
    commits = {commit.subject: commit for commit in read_commits(repository, "main")}
    assert "Take the side to main" not in commits
    counted = commits["Count what is in a"]
    assert (counted.author, counted.body, counted.paths) == (PERSON, "", ("a.png", "src/a.py"))
    assert commits["Write umlauts into a file"].paths == ("src/é.py",)


def test_a_set_is_made_of_a_revision_again_and_again(repository: Path, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    (folder / "REVISION").write_text("shop/shop main MIT\n.\n:(exclude,glob)**/*.png\n")
    made = []
    for _ in range(2):
        result = CliRunner().invoke(app, [str(repository), str(folder)])
        assert result.exit_code == 0, result.output
        made.append([(folder / name).read_bytes() for name in ("commits.tsv", "source.tar.gz")])
    assert made[0] == made[1]
    assert made[0][0].decode() == "1\tCount what is in a\tsrc/a.py\n2\tWrite umlauts into a file\tsrc/é.py\n"
    with tarfile.open(folder / "source.tar.gz") as packed:
        names = sorted(member.name for member in packed if member.isfile())
    assert names == [f"src/{name}.py" for name in ("a", "b", "c", "d", "f;g", "é", "\u2028")]


@pytest.mark.parametrize(
    ("revision", "problem"),
    [
        ("shop/shop gone MIT\n", "git rev-parse"),
        ("shop/shop\n", "REVISION:1"),
        ("shop/shop --help MIT\n", "git rev-parse"),
    ],
)
def test_what_cannot_be_made_is_said(repository: Path, tmp_path: Path, revision: str, problem: str) -> None:
    (tmp_path / "REVISION").write_text(revision)
    result = CliRunner().invoke(app, [str(repository), str(tmp_path)])
    assert result.exit_code == 1
    assert problem in result.output


def _commit(git: Path, day: int, subject: str, files: dict[str, str]) -> None:
    for name, text in files.items():
        (git / name).parent.mkdir(exist_ok=True)
        (git / name).write_text(text)
    _git(git, "add", "--all")
    _git(git, "commit", "--quiet", f"--message={subject}", committed=f"2026-01-0{day}T00:00:00Z")


def _git(folder: Path, *arguments: str, committed: str = "2026-01-09T00:00:00Z") -> None:
    """Runs git, which dates a commit as is said."""
    environment = {**os.environ, "GIT_COMMITTER_DATE": committed}
    subprocess.run(["git", *_SETTINGS, *arguments], cwd=folder, env=environment, check=True)
