"""What of a day file becomes a message, what is left out and counted, and what is refused."""

import json
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.scope import Scope
from groundwire_ingest.build.collect import collect
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.records import SkippedFile, SourceNode, SourceRecord
from groundwire_ingest.slack.slack import SlackSource

ExportReader = Callable[..., list[SourceRecord]]
Scratch = Callable[[], AbstractContextManager[Path]]

DAY = "general/2025-01-01.json"
TS = "1735725600.000100"


def message(text: object = "hello", **fields: Any) -> dict[str, Any]:
    return {"type": "message", "ts": TS, "user": "U1", "text": text, **fields}


def node_of(records: list[SourceRecord]) -> SourceNode:
    (node,) = records
    assert isinstance(node, SourceNode)
    return node


@pytest.mark.parametrize(
    "subtype", ["bot_message", "file_comment", "file_share", "me_message", "reply_broadcast", "thread_broadcast"]
)
def test_what_somebody_says_is_kept_whatever_its_subtype(read_export: ExportReader, subtype: str) -> None:
    assert node_of(read_export({DAY: [message(subtype=subtype)]})).text == "hello"


def test_housekeeping_is_left_out_and_counted_by_file_and_reason(read_export: ExportReader) -> None:
    join = message("<@U1> has joined", subtype="channel_join")
    records = read_export(
        {
            DAY: [join, message(" \n", files=[]), join, message(), {"type": "file", "ts": TS}],
            "general/2025-01-02.json": [join, message(ts="1735815600.000000", subtype="a\tb\n")],
        }
    )
    assert Counter((item.path, item.why) for item in records if isinstance(item, SkippedFile)) == {
        (f"{DAY} (2 records)", "a message of subtype 'channel_join', which no person wrote"): 1,
        (f"{DAY} (1 record)", "a message without text"): 1,
        (f"{DAY} (1 record)", "of type 'file', so no message"): 1,
        ("general/2025-01-02.json (1 record)", "a message of subtype 'channel_join', which no person wrote"): 1,
        ("general/2025-01-02.json (1 record)", "a message of subtype 'a\\tb\\n', which no person wrote"): 1,
    }
    assert sum(isinstance(item, SourceNode) for item in records) == 1


def test_a_message_that_is_there_twice_is_read_once(read_export: ExportReader) -> None:
    node, skipped = sorted(read_export({DAY: [message(), message()]}), key=lambda item: isinstance(item, SkippedFile))
    assert isinstance(node, SourceNode)
    assert skipped == SkippedFile(f"{DAY} (1 record)", "a message that is there twice")


def test_titles_and_texts_of_attachments_and_files_follow_the_text(read_export: ExportReader) -> None:
    attachments = [
        {"pretext": "New alert", "title": "<https://x.y/7|CPU &gt; 90%>", "text": "on `db-1`", "fallback": "no"},
        {"title": None, "text": ""},
    ]
    files = [{"title": "query.sql", "preview": "SELECT 1\n"}, {"name": "a.txt", "plain_text": "b", "preview": "c"}, {}]
    node = node_of(read_export({DAY: [message("look", attachments=attachments, files=files)]}))
    assert node.text.split("\n\n") == [
        *("look", "New alert", "CPU > 90% (https://x.y/7)", "on `db-1`"),
        *("query.sql", "SELECT 1", "a.txt", "b"),
    ]


def test_a_message_of_attachments_alone_has_text(read_export: ExportReader) -> None:
    assert node_of(read_export({DAY: [message("", attachments=[{"text": "disk full"}])]})).text == "disk full"


def test_an_edited_message_has_its_last_text(read_export: ExportReader) -> None:
    edited = message("as it is now", edited={"user": "U1", "ts": "1735725999.000000"})
    assert node_of(read_export({DAY: [edited]})).text == "as it is now"


@pytest.mark.parametrize(
    ("fields", "author"),
    [
        ({"user": "U1"}, "ada"),
        ({"user": "U2"}, "Bob Martin"),
        ({"user": "U3"}, "eve"),
        ({"user": "U9"}, "U9"),
        ({"user": "U9", "user_profile": {"display_name": "", "real_name": "Guest", "name": "g"}}, "Guest"),
        ({"user": "U1", "user_profile": {"display_name": "was called otherwise"}}, "ada"),
        ({"user": None, "subtype": "bot_message", "username": "alerts", "bot_id": "B1"}, "alerts"),
        ({"user": None, "bot_id": "B1", "bot_profile": {"name": "deploys"}}, "deploys"),
        ({"user": None, "bot_id": "B1"}, "B1"),
        ({"user": None}, ""),
    ],
)
def test_the_author(read_export: ExportReader, fields: dict[str, Any], author: str) -> None:
    node = node_of(read_export({DAY: [message(**fields)]}))
    assert node.author == author
    assert node.context_prefix == ", ".join(["#general", "2025-01-01", *([author] if author else [])])


TS_RULE = "it must be seconds since 1970 with six digits after the point"


@pytest.mark.parametrize(
    ("files", "place"),
    [
        ({DAY: "[{"}, f"{DAY}: is not valid JSON"),
        ({DAY: b"\xff"}, f"{DAY}: is not UTF-8"),
        ({DAY: {}}, f"{DAY}: is no JSON list; export the workspace anew, or remove the file"),
        ({DAY: [[]]}, f"{DAY}[0]: is no JSON object; export the workspace anew"),
        ({DAY: [{}]}, f"{DAY}[0]: field 'type' is missing"),
        ({DAY: [message(text=1)]}, f"{DAY}[0]: field 'text' is 1; it must be a string"),
        ({DAY: [message(ts=1735725600)]}, f"{DAY}[0]: field 'ts' is 1735725600; it must be a string"),
        ({DAY: [message(ts="1735725600")]}, f"{DAY}[0]: field 'ts' is \"1735725600\"; {TS_RULE}"),
        ({DAY: [message(ts="\u0669.000000")]}, f"{DAY}[0]: field 'ts' is \"\u0669.000000\"; {TS_RULE}"),
        ({DAY: [message(ts=None)]}, f"{DAY}[0]: field 'ts' is missing"),
        ({DAY: [message(thread_ts="x")]}, f"{DAY}[0]: field 'thread_ts' is \"x\"; {TS_RULE}"),
        ({DAY: [message(files={})]}, f"{DAY}[0]: field 'files' is {{}}; it must be a list"),
        ({DAY: [message(files=[1])]}, f"{DAY}[0].files[0]: is no JSON object"),
        ({DAY: [message(attachments=[{"title": 1}])]}, f"{DAY}[0].attachments[0]: field 'title' is 1"),
        ({DAY: [message(user_profile=[])]}, f"{DAY}[0].user_profile: is no JSON object"),
        ({"channels.json": {}}, "channels.json: is no JSON list"),
        ({"channels.json": [{"name": "general"}]}, "channels.json[0]: field 'id' is missing"),
        ({"channels.json": [{"id": "C" * 251}]}, "channels.json[0]: field 'id' is"),
        ({"channels.json": [{"id": "C1", "is_private": "no"}]}, "channels.json[0]: field 'is_private' is \"no\""),
        ({"groups.json": [{"id": "G7", "name": "general"}]}, "groups.json[0]: 'general' names a conversation that"),
        ({"users.json": [{"id": "U1", "profile": "x"}]}, "users.json[0].profile: is no JSON object"),
    ],
)
@pytest.mark.parametrize("zipped", [True, False])
def test_what_is_malformed_is_refused_with_its_place(
    read_export: ExportReader, tmp_path: Path, files: dict[str, object], place: str, zipped: bool
) -> None:
    with pytest.raises(IngestError) as caught:
        read_export({DAY: [message()], **files}, zipped=zipped)
    assert str(caught.value).removeprefix(f"{tmp_path}/bundle").removeprefix(".zip").startswith(f"/{place}")


def test_json_that_cannot_be_read_says_what_to_do(read_export: ExportReader) -> None:
    with pytest.raises(IngestError, match=r"is not valid JSON \(.*\); export the workspace anew, or remove the file$"):
        read_export({DAY: "[{"})


def test_two_messages_of_one_name_are_refused_when_records_come_together(
    read_export: ExportReader, tmp_path: Path
) -> None:
    records = read_export({DAY: [message("a"), message("b")]})
    with pytest.raises(IngestError, match=r"was already named at .*2025-01-01.json\[0\]; name it once"):
        collect(records, Scope("talk", "main", "v1"), tmp_path, skip_dangling_edges=False)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda children: st.lists(children, max_size=2) | st.dictionaries(st.text(max_size=4), children, max_size=2),
    max_leaves=4,
)
FIELDS = st.sampled_from(
    "type subtype ts thread_ts user text username bot_id user_profile bot_profile files attachments profile".split()
)
TEXTS = st.text(alphabet="<>@#!|&;UCG1amplt \n", max_size=20)


@given(changes=st.dictionaries(FIELDS, JSON_VALUES | TEXTS | st.lists(st.dictionaries(FIELDS, TEXTS)), max_size=3))
def test_whatever_a_record_holds_it_is_read_or_refused(
    changes: dict[str, Any], scratch: Scratch, slack_lists: dict[str, Any]
) -> None:
    with scratch() as folder:
        for name, content in {**slack_lists, DAY: [message(**changes)]}.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(json.dumps(content))
        with suppress(IngestError):
            assert len(list(SlackSource(folder).read())) == 1
