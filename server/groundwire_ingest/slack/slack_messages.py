"""The messages of a Slack export's day files as people read them, and why some of them are left out."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from groundwire_ingest.archive_files import ArchiveFiles
from groundwire_ingest.jsonl.json_fields import JsonFields
from groundwire_ingest.slack.slack_directory import SlackNames, first_named, slack_list, slack_object

WRITTEN_SUBTYPES = frozenset(
    {"", "bot_message", "file_comment", "file_share", "me_message", "reply_broadcast", "thread_broadcast"}
)
"""Subtypes of messages that a person or a program has written.

All others are about joining, topics, pins and the like.
"""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Slack writes mentions, channels and links as `<...>`.
_MARKUP = re.compile(r"<([^<>|][^<>]*)>|&(amp|lt|gt);")
_ENTITY = re.compile(r"&(amp|lt|gt);")
_ENTITIES = {"amp": "&", "lt": "<", "gt": ">"}
_SCHEME = re.compile(r"(?:mailto|tel):")
_TS = re.compile(r"[0-9]{1,10}\.[0-9]{6}")


@dataclass(frozen=True, slots=True)
class Message:
    """A message: `ts` names it within its conversation, `thread_ts` its thread's first message, "" outside of threads.

    `path` is the day file that holds it and `day` the date in that file's name.
    """

    ts: str
    thread_ts: str
    moment: datetime
    path: str
    day: str
    text: str
    author: str
    origin: str


def day_messages(files: ArchiveFiles, path: str, names: SlackNames) -> Iterator[Message | str]:
    """The messages of one day file, in its order, and why each other record is left out.

    Raises IngestError for what is malformed.
    """
    day = path.rpartition("/")[2].removesuffix(".json")
    for fields in slack_list(files, path):
        why = _why_not(fields)
        text = "" if why else _text(fields, names)
        if why or not text:
            yield why or "a message without text"
            continue
        ts = _timestamp(fields, "ts")
        seconds, microseconds = ts.split(".")
        yield Message(
            ts=ts,
            thread_ts=_timestamp(fields, "thread_ts") if "thread_ts" in fields.values else "",
            moment=_EPOCH + timedelta(seconds=int(seconds), microseconds=int(microseconds)),
            path=path,
            day=day,
            text=text,
            author=_author(fields, names),
            origin=fields.place,
        )


def _why_not(fields: JsonFields) -> str:
    kind, subtype = fields.required_text("type"), fields.text("subtype")
    if kind != "message":
        return f"of type {kind[:40]!r}, so no message"
    if subtype not in WRITTEN_SUBTYPES:
        return f"a message of subtype {subtype[:40]!r}, which no person wrote"
    return ""


def _timestamp(fields: JsonFields, name: str) -> str:
    value = fields.required_text(name)
    if _TS.fullmatch(value) is None:
        raise fields.refused(name, "be seconds since 1970 with six digits after the point, such as 1735725600.000100")
    return value


def _author(fields: JsonFields, names: SlackNames) -> str:
    """The member's name, or what the message says of somebody, or of a program, that the list of members lacks."""
    user = fields.text("user")
    profile = slack_object(fields.values.get("user_profile", {}), f"{fields.place}.user_profile")
    bot = slack_object(fields.values.get("bot_profile", {}), f"{fields.place}.bot_profile")
    return first_named(
        names.users.get(user, ""),
        *(profile.text(name) for name in ("display_name", "real_name", "name")),
        *(fields.text("username"), bot.text("name"), user, fields.text("bot_id")),
    )


def _text(fields: JsonFields, names: SlackNames) -> str:
    """The text of the message, then the titles and texts of its attachments, with an empty line between them."""
    parts = [readable(fields.text("text"), names)]
    for attachment in _objects(fields, "attachments"):
        parts.extend(readable(attachment.text(name), names) for name in ("pretext", "title", "text"))
    for file in _objects(fields, "files"):
        parts.append(file.text("title") or file.text("name"))
        parts.append(file.text("plain_text") or file.text("preview"))
    return "\n\n".join(part.strip() for part in parts if part.strip())


def _objects(fields: JsonFields, name: str) -> Iterator[JsonFields]:
    items = fields.values.get(name, [])
    if not isinstance(items, list):
        raise fields.refused(name, "be a list")
    for position, item in enumerate(items):
        yield slack_object(item, f"{fields.place}.{name}[{position}]")


def readable(text: str, names: SlackNames) -> str:
    """`text` with names for ids, `label (url)` for links and plain `<`, `>` and `&`.

    An id without a name stays, after its `@` or `#`.
    """

    def plain(match: re.Match[str]) -> str:
        markup, entity = match.groups()
        return _ENTITIES[entity] if entity else _resolved(markup, names)

    return _MARKUP.sub(plain, text)


def _resolved(markup: str, names: SlackNames) -> str:
    target, _, label = markup.partition("|")
    label = _unescaped(label)
    what, id_ = target[0], target[1:]
    if what == "@":
        return f"@{names.users.get(id_) or label or id_}"
    if what == "#":
        return f"#{names.channels.get(id_, id_)}"
    if what == "!":
        # <!here>, <!subteam^S012|@admins>, <!date^1392734382^{date}|Feb 18, 2014>
        return label or f"@{id_.removeprefix('subteam^')}"
    address = _SCHEME.sub("", _unescaped(target), count=1)
    return address if label in address else f"{label} ({address})"


def _unescaped(text: str) -> str:
    return _ENTITY.sub(lambda match: _ENTITIES[match.group(1)], text)
