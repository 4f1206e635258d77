"""From the messages of one Slack conversation to nodes, and to the edges from each thread to its replies."""

from collections import Counter
from collections.abc import Iterable, Iterator

from groundwire_index.nodes.node import CONTAINS
from groundwire_ingest.records import SourceEdge, SourceNode
from groundwire_ingest.slack.slack_directory import Conversation
from groundwire_ingest.slack.slack_messages import Message

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
        node = _node(conversation, message, root, document_id, chunks[document_id])
        if root is not None:
            edges.append(SourceEdge(f"{KIND}::{conversation.folder}/{root.ts}", node.key, CONTAINS, message.origin))
        yield node
    yield from edges


def _node(
    conversation: Conversation, message: Message, root: Message | None, document_id: str, chunk_index: int
) -> SourceNode:
    return SourceNode(
        KIND,
        _local_id(conversation, message),
        message.text,
        message.origin,
        path=message.path,
        data_type="conversation",
        corpus_type="CONVO_SLACK",
        document_id=document_id,
        chunk_index=chunk_index,
        author=message.author,
        channel=conversation.folder,
        timestamp=message.moment,
        context_prefix=_context(conversation, message, root),
        access=conversation.access,
    )


def _local_id(conversation: Conversation, message: Message) -> str:
    return f"{conversation.folder}/{message.ts}"


def _context(conversation: Conversation, message: Message, root: Message | None) -> str:
    said = [f"#{conversation.folder}", message.day, *([message.author] if message.author else [])]
    return ", ".join(said if root is None else [*said, f"in reply to: {_first_words(root.text)}"])


def _first_words(text: str) -> str:
    """The text on one line, cut between words to at most MAX_QUOTE_CHARACTERS."""
    words = " ".join(text.split())
    if len(words) <= MAX_QUOTE_CHARACTERS:
        return words
    return words[: MAX_QUOTE_CHARACTERS + 1].rpartition(" ")[0] or words[:MAX_QUOTE_CHARACTERS]
