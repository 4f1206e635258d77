"""The files of a tree as they were at one time: what is listed, and what identifies the content of each."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from groundwire_ingest.files_below import content_below
from groundwire_ingest.records import FileContents, SkippedFile
from groundwire_ingest.tree.decoding import MAX_FILE_BYTES
from groundwire_ingest.tree.ignore import Exclusions
from groundwire_ingest.tree.walk import ListedFile, Listing, list_tree


@dataclass(frozen=True, slots=True)
class TreeContents:
    """What is listed of a tree, the content of each file of it, and the patterns of its operator that match nothing.

    The content of a file that is never read is why.
    """

    listing: tuple[Listing, ...]
    contents: FileContents
    unused_patterns: tuple[str, ...]


def tree_contents(root: Path, exclude: Sequence[str] = ()) -> TreeContents:
    """Lists a tree, without the paths that match `exclude`, and reads all its files once.

    Raises IngestError when `root` is no folder, and for patterns that are none.
    """
    exclusions = Exclusions(exclude)
    listing = list_tree(root, exclusions)
    contents = [
        (item.path, item.why if isinstance(item, SkippedFile) else listed_content(root, item)) for item in listing
    ]
    return TreeContents(listing, contents, exclusions.unused)


def listed_content(root: Path, item: ListedFile) -> str:
    """What identifies a file as it is read: its language, and the hash of its content.

    The size of one that is too large to be read, and why one cannot be opened, take the place of the hash.
    """
    most_bytes = sys.maxsize if item.language == "scip" else MAX_FILE_BYTES
    try:
        return f"{item.language} {content_below(root, item.path, most_bytes)}"
    except OSError as error:
        return f"{item.language} {error.strerror}"
