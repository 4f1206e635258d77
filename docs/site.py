"""A hook of MkDocs: pages from outside of `docs/`, and links between all pages as they are in the repository."""

import os
import re
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

_ROOT = Path(__file__).resolve().parents[1]
_DOCS = "docs"
_PAGES = ("SECURITY.md", "CONTRIBUTING.md", "bench/README.md", "deploy/helm/groundwire/README.md")
"""Pages of the site, besides those in `docs/`; on the site they have the same paths."""

_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages from outside of `docs/`."""
    for path in _PAGES:
        files.append(File.generated(config, path, abs_src_path=str(_ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Leads each link to the page of the site; of a link to a file that is no page, its text remains.

    Raises:
        PluginError: A link leads to no file of the repository.
    """
    path = page.file.src_uri
    folder = PurePosixPath(path if path in _PAGES else f"{_DOCS}/{path}").parent

    def led(link: re.Match[str]) -> str:
        text, linked, anchor = link.groups(default="")
        target = os.path.normpath(folder / linked)
        if not (_ROOT / target).exists():
            raise PluginError(f"{path}: the link {linked} leads to no file")
        shown = target if target in _PAGES else target.removeprefix(f"{_DOCS}/")
        if files.get_file_from_path(shown) is None:
            return text
        return f"[{text}]({os.path.relpath(shown, PurePosixPath(path).parent)}{anchor})"

    return _LINK.sub(led, markdown)
