"""A Slack export: messages as nodes, threads as documents, and who may see what."""

import json
import random
import zipfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.scope import Scope
from groundwire_ingest.build.collect import collect
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.records import SkippedFile, SourceEdge, SourceNode, SourceRecord, StatedAccess
from groundwire_ingest.slack.slack import SlackSource
from support.properties import costly

BundleMaker = Callable[..., Path]
ExportReader = Callable[..., list[SourceRecord]]
Scratch = Callable[[], AbstractContextManager[Path]]

DAY, NEXT_DAY = "incidents/2025-01-01.json", "incidents/2025-01-02.json"


def message(ts: str, text: str = "hello", user: str = "U1", **fields: Any) -> dict[str, Any]:
    return {"type": "message", "ts": ts, "user": user, "text": text, **fields}


ROOT = message("1735725600.000100", "auth is *down*,\n checking", thread_ts="1735725600.000100", reply_count=2)
REPLY = message("1735725700.000000", "it is <@U1>'s turn", "U2", thread_ts="1735725600.000100")
LATE_REPLY = message("1735815600.000000", "fixed", "U3", thread_ts="1735725600.000100", subtype="thread_broadcast")
PLAIN = message("1735725650.000000", "coffee?", "U3")
INCIDENT = {DAY: [PLAIN, REPLY, ROOT], NEXT_DAY: [LATE_REPLY]}


def nodes_of(records: list[SourceRecord]) -> list[SourceNode]:
    return [record for record in records if isinstance(record, SourceNode)]


@pytest.mark.parametrize("top", ["", "Shop Slack export/"])
@pytest.mark.parametrize("zipped", [True, False])
def test_a_message_is_a_node(read_export: ExportReader, tmp_path: Path, zipped: bool, top: str) -> None:
    (node,) = nodes_of(read_export({DAY: [PLAIN]}, zipped=zipped, top=top))
    place = f"{tmp_path}/bundle.zip" if zipped else f"{tmp_path}/bundle/{top}".removesuffix("/")
    assert node == SourceNode(
        kind="slack",
        local_id="incidents/1735725650.000000",
        text="coffee?",
        origin=f"{place}/{DAY}[0]",
        path=DAY,
        data_type="conversation",
        corpus_type="CONVO_SLACK",
        document_id="incidents/2025-01-01",
        chunk_index=1,
        author="eve",
        channel="incidents",
        timestamp=datetime(2025, 1, 1, 10, 0, 50, tzinfo=UTC),
        context_prefix="#incidents, 2025-01-01, eve",
        access=StatedAccess(acl_tags=()),
    )


def test_a_thread_is_a_document_across_days_and_its_root_contains_the_replies(read_export: ExportReader) -> None:
    records = read_export(INCIDENT)
    thread = "incidents/1735725600.000100"
    assert [(node.local_id, node.document_id, node.chunk_index, node.path) for node in nodes_of(records)] == [
        (thread, thread, 1, DAY),
        ("incidents/1735725650.000000", "incidents/2025-01-01", 1, DAY),
        ("incidents/1735725700.000000", thread, 2, DAY),
        ("incidents/1735815600.000000", thread, 3, NEXT_DAY),
    ]
    assert [(edge.from_key, edge.edge_type, edge.to_key) for edge in records if isinstance(edge, SourceEdge)] == [
        (f"slack::{thread}", "Contains", "slack::incidents/1735725700.000000"),
        (f"slack::{thread}", "Contains", "slack::incidents/1735815600.000000"),
    ]


def test_a_context_says_channel_day_and_author_and_for_a_reply_what_is_replied_to(read_export: ExportReader) -> None:
    assert [node.context_prefix for node in nodes_of(read_export(INCIDENT))] == [
        "#incidents, 2025-01-01, ada",
        "#incidents, 2025-01-01, eve",
        "#incidents, 2025-01-01, Bob Martin, in reply to: auth is *down*, checking",
        "#incidents, 2025-01-02, eve, in reply to: auth is *down*, checking",
    ]


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("word " * 39 + "12345 tail", "word " * 39 + "12345"),
        ("word " * 39 + "123456 tail", ("word " * 39).rstrip()),
        ("x" * 300, "x" * 200),
        ("x" * 200, "x" * 200),
    ],
)
def test_a_root_is_quoted_between_words_and_no_longer_than_200(
    read_export: ExportReader, text: str, quoted: str
) -> None:
    reply = nodes_of(read_export({DAY: [{**ROOT, "text": text}, REPLY]}))[1]
    assert reply.context_prefix == f"#incidents, 2025-01-01, Bob Martin, in reply to: {quoted}"


def test_a_reply_whose_root_is_not_there_stands_alone_in_its_thread(read_export: ExportReader) -> None:
    tombstone = {**ROOT, "subtype": "tombstone", "text": "This message was deleted."}
    skipped, reply = read_export({DAY: [tombstone, REPLY]})
    assert isinstance(skipped, SkippedFile)
    assert isinstance(reply, SourceNode)
    assert (reply.document_id, reply.context_prefix) == (
        "incidents/1735725600.000100",
        "#incidents, 2025-01-01, Bob Martin",
    )


def test_a_root_need_not_say_that_it_is_one(read_export: ExportReader) -> None:
    root = {name: value for name, value in ROOT.items() if name != "thread_ts"}
    assert {node.document_id for node in nodes_of(read_export({DAY: [REPLY, root]}))} == {"incidents/1735725600.000100"}


def test_what_is_not_public_demands_the_tag_of_its_conversation(
    read_export: ExportReader, slack_lists: dict[str, Any]
) -> None:
    channels = [*slack_lists["channels.json"], {"id": "C9", "name": "plans", "is_private": True}]
    folders = ["general", "plans", "board", "mpdm-ada--bob-1", "D1"]
    days = {f"{folder}/2025-01-01.json": [message("1735725600.000000")] for folder in folders}
    nodes = nodes_of(read_export({**days, "channels.json": channels}))
    assert {node.channel: node.access for node in nodes} == {
        "general": StatedAccess(acl_tags=()),
        "plans": StatedAccess(acl_tags=("slack:C9",)),
        "board": StatedAccess(acl_tags=("slack:G1",)),
        "mpdm-ada--bob-1": StatedAccess(acl_tags=("slack:G2",)),
        "D1": StatedAccess(acl_tags=("slack:D1",)),
    }


def test_no_text_names_a_conversation_that_is_not_known_to_be_public(read_export: ExportReader) -> None:
    text = "see <#C1>, <#C1|old-name>, <#G1>, <#G1|board>, <#C7|elsewhere>, <#C8>"
    (node,) = nodes_of(read_export({DAY: [message("1735725600.000000", text)]}))
    assert node.text == "see #general, #general, #G1, #G1, #C7, #C8"


def test_files_that_hold_no_messages_or_belong_to_nobody_are_named(read_export: ExportReader) -> None:
    extra = {
        "integration_logs.json": [],
        "general/canvas.json": {},
        "general/2025-1-1.json": [],
        "secret/2025-01-01.json": [message("1735725600.000000", "who may read this?")],
        ".DS_Store": "x",
        "__MACOSX/x": "x",
    }
    records = read_export({**extra, DAY: [PLAIN]})
    assert [(record.path, record.why) for record in records if isinstance(record, SkippedFile)] == [
        ("general/2025-1-1.json", "not a day's messages of a conversation"),
        ("general/canvas.json", "not a day's messages of a conversation"),
        ("integration_logs.json", "not a day's messages of a conversation"),
        ("secret/2025-01-01.json", "no list of conversations has its folder, so who may read it is unknown"),
    ]
    assert [node.text for node in nodes_of(records)] == ["coffee?"]


def test_an_export_can_be_indexed_as_it_is(
    read_export: ExportReader, slack_lists: dict[str, Any], tmp_path: Path
) -> None:
    days = {f"{folder}/2025-01-01.json": [ROOT, REPLY, PLAIN] for folder in ("general", "board", "D1")}
    collected = collect(read_export(days), Scope("talk", "main", "v1"), tmp_path, skip_dangling_edges=False)
    assert (len(collected.nodes), len(collected.edges)) == (9, 3)


def test_no_list_but_channels_and_users_need_be_there(make_bundle: BundleMaker, slack_lists: dict[str, Any]) -> None:
    lists = {name: slack_lists[name] for name in ("channels.json", "users.json")}
    assert len(list(SlackSource(make_bundle({**lists, DAY: [PLAIN]})).read())) == 1
    with pytest.raises(IngestError, match=r"holds no Slack export; channels\.json, users\.json and a channel's file"):
        SlackSource(make_bundle({"x/channels.json": [], "users.json": []}, zipped=True))


def test_the_description_names_the_export(make_bundle: BundleMaker, slack_lists: dict[str, Any]) -> None:
    source = SlackSource(make_bundle({**slack_lists, DAY: [PLAIN]}, zipped=True))
    assert source.description == "Slack export bundle.zip"


@costly()
@given(seed=st.integers(0, 2**32))
def test_the_order_of_files_in_a_zip_does_not_matter(seed: int, scratch: Scratch, slack_lists: dict[str, Any]) -> None:
    shuffle = random.Random(seed).shuffle
    files = {**slack_lists, **INCIDENT, "general/2025-01-01.json": [PLAIN, message("1735725600.000000", "")]}
    with scratch() as folder:
        read = []
        for _ in range(2):
            names = list(files)
            shuffle(names)
            with zipfile.ZipFile(folder / "export.zip", "w") as archive:
                for name in names:
                    archive.writestr(name, json.dumps(files[name]))
            read.append(list(SlackSource(folder / "export.zip").read()))
    assert read[0] == read[1]
    assert len(nodes_of(read[0])) == 5


def test_conversations_come_in_the_order_of_their_folders(read_export: ExportReader) -> None:
    channels = [f"c{number:02}" for number in range(30)]
    lists = {"channels.json": [{"id": name.upper(), "name": name} for name in channels]}
    days = {f"{name}/2025-01-0{day}.json": [message(f"173572560{day}.000000")] for name in channels for day in (1, 2)}
    expected = [f"{name}/173572560{day}.000000" for name in channels for day in (1, 2)]
    assert [node.local_id for node in nodes_of(read_export({**lists, **days}))] == expected
