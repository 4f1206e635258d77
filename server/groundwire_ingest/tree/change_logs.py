"""Change logs: documents with a section for each version, of which the newest matter most."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from groundwire_ingest.records import SkippedFile
from groundwire_ingest.tree.chunking import MAX_CHUNK_CHARACTERS
from groundwire_ingest.tree.sections import Heading

MIN_HEADINGS = 40
"""A change log with fewer headings is divided as any other document."""
NEWEST_VERSIONS = 12
"""So many versions have a section each."""
MAX_GROUPS = 24
"""Older versions share so many sections; what is older still is left out."""

_NAME = re.compile(r"change[_-]?log|changes|history|news|release[_-]?notes?|releases", re.IGNORECASE)
_VERSION = re.compile(r"\d\.\d|\d{4}-\d{2}|unreleased|\bv\d", re.IGNORECASE)


def is_change_log(path: str) -> bool:
    """True for a file that is named as a change log."""
    return _NAME.fullmatch(PurePosixPath(path).stem) is not None


def version_sections(
    path: str, lines: Sequence[str], headings: Sequence[Heading]
) -> tuple[Sequence[Heading], int, tuple[SkippedFile, ...]]:
    """The headings by which a change log is divided, how many of its lines they hold, and what is left out.

    The newest versions have a section each, with all of their subsections in it. Older ones share sections of about a
    chunk. Other documents keep their headings.
    """
    versions = [heading for heading in headings if _VERSION.search(heading.title)]
    if not is_change_log(path) or len(headings) < MIN_HEADINGS or len(versions) < NEWEST_VERSIONS:
        return headings, len(lines), ()
    kept = [heading for heading in headings if heading.line < versions[0].line]
    kept += versions[:NEWEST_VERSIONS]
    ends = [*(heading.line for heading in versions[1:]), len(lines)]
    groups: list[list[Heading]] = []
    length = MAX_CHUNK_CHARACTERS
    end = len(lines)
    for heading, after in zip(versions[NEWEST_VERSIONS:], ends[NEWEST_VERSIONS:], strict=True):
        own_length = sum(map(len, lines[heading.line : after]))
        if length + own_length > MAX_CHUNK_CHARACTERS:
            if len(groups) == MAX_GROUPS:
                end = heading.line
                break
            groups.append([])
            length = 0
        groups[-1].append(heading)
        length += own_length
    kept += [replace(group[0], title=_title(group)) for group in groups]
    left_out = sum(heading.line >= end for heading in versions)
    why = f"of its {len(versions)} versions the {left_out} oldest are left out, from line {end + 1} on"
    return kept, end, (SkippedFile(path, why),) if left_out else ()


def _title(group: Sequence[Heading]) -> str:
    return group[0].title if len(group) == 1 else f"{group[0].title} to {group[-1].title}"
