"""The Slack source: what Slack's "Export data" makes of a workspace, zipped or as a folder.

A message is `slack::<channel>/<ts>`. Messages of public channels are public. All others demand a tag of their
conversation, so that only callers with that tag see them.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from groundwire_index.nodes.node import CONTAINS
from groundwire_ingest.archive_files import ArchiveFiles, ArchiveLayout, open_archive
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.records import SkippedFile, SourceEdge, SourceNode, SourceRecord
from groundwire_ingest.slack.slack_directory import (
    CHANNELS_FILE,
    DIRECTORY_FILES,
    USERS_FILE,
    Conversation,
    SlackNames,
    slack_directory,
)
from groundwire_ingest.slack.slack_messages import Message, day_messages

_DAY_FILE = re.compile(r"[^/]+/[0-9]{4}-[0-9]{2}-[0-9]{2}\.json")
_LAYOUT = ArchiveLayout(
    markers=((CHANNELS_FILE, USERS_FILE),), belongs=lambda name: not name.startswith((".", "__MACOSX"))
)


def open_slack_files(path: Path) -> ArchiveFiles | None:
    """The files of the Slack export at `path`, or None when it is a folder or zip that holds none.

    An export has lists of channels and users and the messages of at least one day. Raises IngestError as `open_archive`
    does.
    """
    files = open_archive(path, _LAYOUT)
    return files if files is not None and any(_DAY_FILE.fullmatch(name) for name in files.names) else None


class SlackSource:
    """A Slack export, zip or folder. Raises IngestError when there is none at the path."""

    def __init__(self, path: Path) -> None:
        files = open_slack_files(path)
        if files is None:
            raise IngestError(
                f"{path}: holds no Slack export; {CHANNELS_FILE}, {USERS_FILE} and a channel's file of a day, such as "
                "general/2025-01-01.json, must be there"
            )
        self._path = path
        self._files = files

    @property
    def description(self) -> str:
        """`Slack export` and its name."""
        return f"Slack export {self._path.name}"

    def read(self) -> Iterator[SourceRecord]:
        """Yields files that hold no messages, then the conversations by folder; holds the messages of one at a time."""
        conversations, names = slack_directory(self._files)
        days = sorted(name for name in self._files.names if _DAY_FILE.fullmatch(name))
        for name in sorted(self._files.names - DIRECTORY_FILES - set(days)):
            yield SkippedFile(name, "not a day's messages of a conversation")
        for folder, paths in groupby(days, key=lambda path: path.partition("/")[0]):
            conversation = conversations.get(folder)
            if conversation is None:
                for path in paths:
                    yield SkippedFile(path, "no list of conversations has its folder, so who may read it is unknown")
                continue
            said: dict[tuple[str, ...], Message] = {}
            for path in paths:
                yield from self._read_day(path, names, said)
            yield from conversation_records(conversation, said.values())

    def _read_day(self, path: str, names: SlackNames, said: dict[tuple[str, ...], Message]) -> Iterator[SkippedFile]:
        """Adds the messages of a day to what was `said`; yields how many records were left out, by reason."""
        left_out: Counter[str] = Counter()
        for item in day_messages(self._files, path, names):
            if isinstance(item, str):
                left_out[item] += 1
            elif said.setdefault((item.ts, item.thread_ts, item.author, item.text), item) is not item:
                left_out["a message that is there twice"] += 1
        for why, count in sorted(left_out.items()):
            yield SkippedFile(f"{path} ({count} record{'s' * (count > 1)})", why)


KIND = "slack"
MAX_QUOTE_CHARACTERS = 200


def conversation_records(conversation: Conversation, messages: Iterable[Message]) -> Iterator[SourceNode | SourceEdge]:
    """A node for each message, in the order of time, then a Contains edge from each thread's first to each other.

    `messages` may come in any order. A thread is a document; so are the messages of a day that are in no thread.
    """
    in_order = sorted(messages, key=lambda message: (message.moment, message.ts))
    by_ts = {message.ts: message for message in in_order}
    threads = {message.thread_ts for message in in_order}
    chunks: Counter[str] = Counter()
    edges: list[SourceEdge] = []
    for message in in_order:
        thread_ts = message.thread_ts or (message.ts if message.ts in threads else "")
        document_id = f"{conversation.folder}/{thread_ts or message.day}"
        chunks[document_id] += 1
        root = by_ts.get(thread_ts) if thread_ts != message.ts else None
        replied = f"in reply to: {_first_words(root.text)}" if root is not None else ""
        node = SourceNode(
            KIND,
            f"{conversation.folder}/{message.ts}",
            message.text,
            message.origin,
            path=message.path,
            data_type="conversation",
            corpus_type="CONVO_SLACK",
            document_id=document_id,
            chunk_index=chunks[document_id],
            author=message.author,
            channel=conversation.folder,
            timestamp=message.moment,
            context_prefix=", ".join(filter(None, (f"#{conversation.folder}", message.day, message.author, replied))),
            access=conversation.access,
        )
        if root is not None:
            edges.append(SourceEdge(f"{KIND}::{conversation.folder}/{root.ts}", node.key, CONTAINS, message.origin))
        yield node
    yield from edges


def _first_words(text: str) -> str:
    """The text on one line, cut between words to at most MAX_QUOTE_CHARACTERS."""
    words = " ".join(text.split())
    if len(words) <= MAX_QUOTE_CHARACTERS:
        return words
    return words[: MAX_QUOTE_CHARACTERS + 1].rpartition(" ")[0] or words[:MAX_QUOTE_CHARACTERS]
