"""The lists at the top of a Slack export: of its members and of its conversations."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from groundwire_index.limits import MAX_ACCESS_VALUE_LENGTH
from groundwire_index.nodes.node import JsonValue
from groundwire_ingest.archive_files import ArchiveFiles
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.jsonl.json_fields import JsonFields
from groundwire_ingest.jsonl.strict_json import decode_utf8, json_items
from groundwire_ingest.records import StatedAccess

CHANNELS_FILE = "channels.json"
USERS_FILE = "users.json"
PRIVATE_FILES = ("groups.json", "mpims.json", "dms.json")
DIRECTORY_FILES = frozenset({CHANNELS_FILE, USERS_FILE, *PRIVATE_FILES})

_TAG_PREFIX = "slack:"
_PRIVATE_MARKS = ("is_private", "is_group", "is_mpim", "is_im")


@dataclass(frozen=True, slots=True)
class Conversation:
    """A channel, group or direct message; its day files are in `folder`."""

    id: str
    folder: str
    is_public: bool

    @property
    def access(self) -> StatedAccess:
        """Everybody's, or that of callers with the tag `slack:<id>`: an export does not say who may read it."""
        return StatedAccess(acl_tags=() if self.is_public else (f"{_TAG_PREFIX}{self.id}",))


@dataclass(frozen=True, slots=True)
class SlackNames:
    """Names by Slack's ids. Only conversations that are known to be public have one; no text calls others by name."""

    users: Mapping[str, str]
    channels: Mapping[str, str]


def slack_directory(files: ArchiveFiles) -> tuple[Mapping[str, Conversation], SlackNames]:
    """The conversations by folder, and what their texts may call them and the members.

    Raises IngestError when a list is malformed, or two conversations have one folder.

    Public are those of `channels.json` that nothing marks as private; the others are not.
    """
    by_folder: dict[str, Conversation] = {}
    for name in (CHANNELS_FILE, *PRIVATE_FILES):
        for fields in slack_list(files, name) if name in files.names else ():
            conversation = _conversation(fields, is_listed_public=name == CHANNELS_FILE)
            if by_folder.setdefault(conversation.folder, conversation) is not conversation:
                raise IngestError(
                    f"{fields.place}: {conversation.folder!r} names a conversation that was listed before, so who may "
                    "read its messages is not clear; name it once"
                )
    names = SlackNames(
        users={fields.required_text("id"): user_name(fields) for fields in slack_list(files, USERS_FILE)},
        channels={channel.id: channel.folder for channel in by_folder.values() if channel.is_public},
    )
    return by_folder, names


def slack_list(files: ArchiveFiles, name: str) -> Iterator[JsonFields]:
    """The objects of a file that holds a list of them; members that are null count as left out.

    Raises IngestError, naming the file, when it holds anything else.
    """
    place = files.place(name)
    for position, item in enumerate(_items(files, name, place)):
        yield slack_object(item, f"{place}[{position}]")


def _items(files: ArchiveFiles, name: str, place: str) -> Iterator[JsonValue]:
    try:
        yield from json_items(decode_utf8(files.read(name), place), place)
    except IngestError as error:
        raise IngestError(f"{error}; export the workspace anew, or remove the file") from error


def slack_object(value: JsonValue, place: str) -> JsonFields:
    """An object's members that are not null. Raises IngestError when it is none."""
    if not isinstance(value, dict):
        raise IngestError(f"{place}: is no JSON object; export the workspace anew, or remove it")
    return JsonFields({name: member for name, member in value.items() if member is not None}, place)


def user_name(fields: JsonFields) -> str:
    """The name of a member: display name, else real name, else account; "" when there is none."""
    profile = slack_object(fields.values.get("profile", {}), f"{fields.place}.profile")
    return first_named(
        profile.text("display_name"), profile.text("real_name"), fields.text("real_name"), fields.text("name")
    )


def first_named(*names: str) -> str:
    """The first name that is not blank; "" when all are."""
    return next((name.strip() for name in names if name.strip()), "")


def _conversation(fields: JsonFields, *, is_listed_public: bool) -> Conversation:
    id_ = fields.bounded_text("id", MAX_ACCESS_VALUE_LENGTH - len(_TAG_PREFIX))
    is_private = any(fields.flag(mark, default=False) for mark in _PRIVATE_MARKS)
    # Direct messages have no name; their folder is called by their id.
    return Conversation(id_, fields.text("name") or id_, is_listed_public and not is_private)
