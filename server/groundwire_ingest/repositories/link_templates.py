"""The template of the links of an index: given by the operator, or known for the host that the repository is on."""

import re
from dataclasses import dataclass
from typing import Final

from groundwire_index.link_template import COMMIT, template_problem
from groundwire_ingest.ingest_errors import IngestError

AUTO: Final = "auto"
"""Links to a host that is known by its name, and else none."""
NONE: Final = "none"
"""No links."""

_URL = re.compile(r"(?P<scheme>https?|ssh)://(?:[^@/]*@)?(?P<host>[\w.-]+)(?::(?P<port>\d{1,5}))?/(?P<path>.*)", re.A)
_SSH_PLACE = re.compile(r"[\w.-]+@(?P<host>[\w.-]+):(?P<path>.*)", re.ASCII)
_NAME = re.compile(r"(?:[\w.~+-]|%[0-9A-Fa-f]{2})+", re.ASCII)
_LINES = "#L{start_line}-L{end_line}"


@dataclass(frozen=True, slots=True)
class _Form:
    """How a kind of host shows a file: `tail` follows the address of the repository; `hosts` are known to be of it.

    The path of a repository has from `least_names` to `most_names` names, `before_last` before its last one if not "".
    """

    tail: str
    hosts: tuple[str, ...]
    least_names: int = 2
    most_names: int = 2
    before_last: str = ""

    def fits(self, names: tuple[str, ...]) -> bool:
        """True if a repository may have this path."""
        has_count = self.least_names <= len(names) <= self.most_names
        return has_count and self.before_last in ("", names[-2])


_FORMS = {
    "github": _Form(f"/blob/{COMMIT}/{{path}}{_LINES}", ("github.com",)),
    "gitlab": _Form(f"/-/blob/{COMMIT}/{{path}}#L{{start_line}}-{{end_line}}", ("gitlab.com",), most_names=20),
    "gitea": _Form(f"/src/commit/{COMMIT}/{{path}}{_LINES}", ("codeberg.org", "gitea.com")),
    "bitbucket": _Form(f"/src/{COMMIT}/{{path}}#lines-{{start_line}}:{{end_line}}", ("bitbucket.org",)),
    "azure": _Form(
        f"?path=/{{path}}&version=GC{COMMIT}&line={{start_line}}&lineEnd={{end_line}}"
        "&lineStartColumn=1&lineEndColumn=1000&lineStyle=plain",
        ("dev.azure.com",),
        least_names=3,
        most_names=4,
        before_last="_git",
    ),
}
"""Bitbucket here is that of Atlassian's cloud; the server of this name has other addresses."""
_AZURE_SSH_HOST = "ssh.dev.azure.com"
OWN_HOSTS: Final = ("github", "gitlab", "gitea")
"""The forms that hosts of an organisation have as well."""


@dataclass(frozen=True, slots=True)
class _WebRepository:
    """A repository in the web: scheme and host, with a port unless it is the usual one, and the names of its path."""

    scheme: str
    host: str
    names: tuple[str, ...]

    @property
    def address(self) -> str:
        return f"{self.scheme}://{'/'.join((self.host, *self.names))}"


def given_problem(given: str) -> str | None:
    """The rule that a value of `link_template` breaks, with its cure; None for one that may be used."""
    if given in (AUTO, NONE, *OWN_HOSTS):
        return None
    if "/" not in given:
        words = ", ".join((AUTO, NONE, *OWN_HOSTS))
        return f"is none of {words}, and no template such as https://git.example/team/shop/blob/{COMMIT}/{{path}}"
    return template_problem(given, with_commit=True)


def stored_template(given: str, address: str, commit: str) -> str:
    """The template that the index states; "" for none.

    Args:
        given: AUTO, NONE, one of OWN_HOSTS, or a template; without `given_problem`.
        address: That of the Git repository whose commit is indexed, without credentials; a folder's path has no host.
        commit: The commit in hexadecimal; "" for files that are not read from one.

    Raises:
        IngestError: A template names the commit where there is none, or a form does not fit the address.
    """
    if given == NONE:
        return ""
    if given == AUTO:
        template = _known_template(address) if commit else ""
    elif given in OWN_HOSTS:
        template = _template_of_form(given, address)
    else:
        template = given
    if COMMIT in template and not commit:
        raise IngestError(
            f"link_template {template!r} names {COMMIT}, and the files of this source are of no commit that is known: "
            f"index a commit of a Git repository, such as with --ref, or write what stands for it instead of {COMMIT}"
        )
    stored = template.replace(COMMIT, commit)
    problem = template_problem(stored) if stored else None
    if problem is not None:
        raise IngestError(f"link_template {stored!r} {problem}")
    return stored


def _known_template(address: str) -> str:
    """The template for a repository of a known host; "" for another one."""
    repository = _web_repository(address)
    if repository is None or repository.scheme != "https":
        return ""
    for form in _FORMS.values():
        if repository.host in form.hosts and form.fits(repository.names):
            return repository.address + form.tail
    return ""


def _template_of_form(name: str, address: str) -> str:
    repository, form = _web_repository(address), _FORMS[name]
    if repository is None or not form.fits(repository.names):
        raise IngestError(
            f"link_template {name!r} is the form of a repository at such a host, and {address or 'a folder'!r} is no "
            "https or ssh address of one: give the address, or a template"
        )
    return repository.address + form.tail


def _web_repository(address: str) -> _WebRepository | None:
    """The repository at an address; None where that does not say where it is in the web."""
    match = _URL.fullmatch(address) or _SSH_PLACE.fullmatch(address)
    if match is None:
        return None
    parts = match.groupdict()
    scheme, host = parts.get("scheme", "ssh"), parts["host"].lower()
    names = tuple(parts["path"].strip("/").removesuffix(".git").split("/"))
    if any(_NAME.fullmatch(name) is None or name in (".", "..") for name in names):
        return None
    if scheme == "ssh":  # the port is that of SSH
        if host == _AZURE_SSH_HOST and len(names) == 4:
            _, organisation, project, name = names  # the first one is the version of the protocol
            return _WebRepository("https", "dev.azure.com", (organisation, project, "_git", name))
        return _WebRepository("https", host, names)
    port = parts["port"]
    return _WebRepository(scheme, f"{host}:{port}" if port else host, names)
