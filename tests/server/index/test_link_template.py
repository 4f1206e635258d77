"""Templates of links: which ones are refused, and the links that the others make."""

from urllib.parse import parse_qs, quote, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.link_template import (
    MAX_LINK_LENGTH,
    MAX_TEMPLATE_LENGTH,
    LinkTemplate,
    link_template,
    template_problem,
)

GITHUB = "https://github.com/pallets/flask/blob/2579ce9/{path}#L{start_line}-L{end_line}"
AZURE = "https://dev.azure.com/acme/shop/_git/web?path=/{path}&version=GC2579&line={start_line}&lineEnd={end_line}&s=1"


@pytest.mark.parametrize(
    ("template", "rule"),
    [
        ("", "is no web address"),
        ("github.com/{path}", "is no web address"),
        ("javascript:alert(1)//{path}", "is no web address"),
        ("JavaScript://github.com/%0aalert(1)/{path}", "is no web address"),
        ("data:text/html,{path}", "is no web address"),
        ("file:///etc/{path}", "is no web address"),
        ("ftp://git.example/{path}", "is no web address"),
        ("//git.example/{path}", "is no web address"),
        (" https://git.example/{path}", "is no web address"),
        ("https://git.example/{path}\n", "has control characters"),
        ("https://git.example/\x00{path}", "has control characters"),
        ("https://git.example/\u202e{path}", "has control characters"),
        ("https://ann@git.example/{path}", "names a user or password"),
        ("https://ann:secret@git.example/{path}", "names a user or password"),
        ("https://github.com@git.example/{path}", "names a user or password"),
        ("https:///{path}", "must have a host"),
        ("https://{path}/a", "must have a host"),
        ("https://git.example", "must have a host"),
        ("https://git.example?{path}", "must have a host"),
        ("https://git.example:port/{path}", "must have a host"),
        ("https://git.example\\{path}", "must have a host"),
        ("https://git.exämple/{path}", "must have a host"),
        ("https://git.example/{commit}/{path}", "has the placeholder {commit}, which is unknown"),
        ("https://git.example/{path!r}", "has the placeholder {path!r}, which is unknown"),
        ("https://git.example/{path.__class__}", "has the placeholder {path.__class__}, which is unknown"),
        ("https://git.example/{0}{path}", "has the placeholder {0}, which is unknown"),
        ("https://git.example/{}{path}", "has the placeholder {}, which is unknown"),
        ("https://git.example/{{path}}", "has characters"),
        ("https://git.example/{path", "has characters"),
        ("https://git.example/a b/{path}", "has characters"),
        ('https://git.example/"><script>/{path}', "has characters"),
        ("https://git.example/100%/{path}", "has characters"),
        ("https://git.example/ü/{path}", "has characters"),
        ("https://git.example/#{path}", "does not say where the path stands"),
        ("https://git.example/shop", "does not say where the path stands"),
        ("https://git.example/{path}#a#b", "has # twice"),
        ("https://git.example/{start_line}/{path}", "has lines before ? and #"),
        (f"https://git.example/{'a' * MAX_TEMPLATE_LENGTH}/{{path}}", "has 1,027 characters"),
    ],
)
def test_a_template_that_could_mislead_is_refused(template: str, rule: str) -> None:
    problem = template_problem(template)
    assert problem is not None
    assert problem.startswith(rule)


@pytest.mark.parametrize(
    "template",
    [
        GITHUB,
        AZURE,
        "http://localhost:3000/{path}",
        "https://[::1]:8443/{path}",
        "https://git.example/%7Eann/{path}?at={start_line}",
    ],
)
def test_a_template_of_a_host_is_taken(template: str) -> None:
    assert template_problem(template) is None
    assert link_template(template) == LinkTemplate(template)


def test_a_build_may_fill_in_the_commit() -> None:
    assert template_problem("https://git.example/{commit}/{path}", with_commit=True) is None
    assert template_problem("https://git.example/{branch}/{path}", with_commit=True) == (
        "has the placeholder {branch}, which is unknown; use {path}, {start_line}, {end_line}, {commit}"
    )


def test_an_index_without_a_template_makes_no_links() -> None:
    assert link_template("") is None


def test_lines_are_filled_in_and_left_out() -> None:
    github, azure = LinkTemplate(GITHUB), LinkTemplate(AZURE)
    base = "https://github.com/pallets/flask/blob/2579ce9/src/app.py"
    assert github.link("src/app.py", 3, 9) == f"{base}#L3-L9"
    assert github.link("src/app.py", 3, 0) == f"{base}#L3-L3"
    assert github.link("src/app.py", 0, 0) == base
    base = "https://dev.azure.com/acme/shop/_git/web?path=/src/app.py&version=GC2579"
    assert azure.link("src/app.py", 3, 9) == f"{base}&line=3&lineEnd=9&s=1"
    assert azure.link("src/app.py", 0, 0) == f"{base}&s=1"
    assert LinkTemplate("https://git.example/{path}?line={start_line}").link("a", 0, 0) == "https://git.example/a"
    assert LinkTemplate("https://git.example/{path}?view#raw").link("a", 0, 0) == "https://git.example/a?view#raw"


@pytest.mark.parametrize("path", ["", "..", ".", "../a", "a/../b", "a/..", "./a", "/a", "a//b", "a/", "a/./b"])
def test_a_path_that_a_browser_reads_in_another_way_has_no_link(path: str) -> None:
    assert LinkTemplate(GITHUB).link(path, 1, 2) == ""


def test_no_link_is_longer_than_browsers_take() -> None:
    links = LinkTemplate("https://git.example/{path}#L{start_line}")
    room = MAX_LINK_LENGTH - len("https://git.example/#L1")
    assert len(links.link("a" * room, 1, 2)) == MAX_LINK_LENGTH
    assert links.link("a" * (room + 1), 1, 2) == ""
    assert links.link("é" * room, 1, 2) == ""


names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="/"), min_size=1, max_size=12).filter(
    lambda name: name not in (".", "..")
)
paths = st.lists(names, min_size=1, max_size=4).map("/".join)


@given(path=paths, first=st.integers(0, 2**31 - 1), count=st.integers(0, 99))
def test_a_link_leads_to_the_host_of_the_template_and_names_the_path(path: str, first: int, count: int) -> None:
    last = min(first + count, 2**31 - 1)
    github, azure = (LinkTemplate(text).link(path, first, last) for text in (GITHUB, AZURE))
    assert github == f"https://github.com/pallets/flask/blob/2579ce9/{quote(path)}" + (
        f"#L{first}-L{last}" if first else ""
    )
    parts = urlsplit(github)
    assert (parts.scheme, parts.netloc, parts.query) == ("https", "github.com", "")
    assert unquote(parts.path) == f"/pallets/flask/blob/2579ce9/{path}"
    query = parse_qs(urlsplit(azure).query, strict_parsing=True)
    assert query["path"] == [f"/{path}"]
    assert query.get("line", ["0"]) == [str(first)]
    for link in (github, azure):
        assert link.isascii()
        assert link.isprintable()
        assert not set(link) & set(" \"'<>\\`{}|^")


@given(path=paths, first=st.integers(0, 2**31 - 1), last=st.integers(0, 2**31 - 1))
def test_the_bound_of_a_link_holds(path: str, first: int, last: int) -> None:
    for text in (GITHUB, AZURE):
        links = LinkTemplate(text)
        assert len(links.link(path, first, last)) <= links.most_characters(path) <= MAX_LINK_LENGTH
