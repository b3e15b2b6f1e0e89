"""Exports and notes from elsewhere become threads of messages; what is broken in them is reported, not guessed at."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.event import Event, Trust
from recollect.domain.ids import EventId, ItemId
from recollect.domain.item import Episode
from recollect.domain.text import MAX_TEXT, name
from recollect.write.formats import Format, Reading, Thread, detect, read

MAY = datetime(2024, 5, 1, 10, 0, tzinfo=UTC)


def only(reading: Reading) -> Thread:
    assert reading.skipped == ()
    (thread,) = reading.threads
    return thread


def said(thread: Thread) -> list[tuple[str | None, str]]:
    return [(message.role, message.text) for message in thread.messages]


# -- ChatGPT ----------------------------------------------------------------------------------------------


def node(
    parent: str | None,
    role: str,
    text: object,
    *,
    at: float | None = MAY.timestamp(),
    children: tuple[str, ...] = (),
    **more: object,
) -> dict[str, object]:
    content = more.pop("content", {"content_type": "text", "parts": [text]})
    message = {"id": "m", "author": {"role": role}, "create_time": at, "content": content, **more}
    return {"parent": parent, "children": list(children), "message": message}


def conversation(nodes: dict[str, object], current: str | None = "c", **more: object) -> dict[str, object]:
    found = {"title": "Boats", "create_time": MAY.timestamp(), "conversation_id": "abc", "mapping": nodes, **more}
    return found | ({"current_node": current} if current else {})


TREE = {
    "root": {"parent": None, "children": ["a"], "message": None},
    "a": node("root", "user", "Which varnish for teak?", children=("b", "b2")),
    "b": node("a", "assistant", "An old answer.", at=MAY.timestamp() + 5),
    "b2": node("a", "assistant", "Use oil.", at=MAY.timestamp() + 60, children=("c",), metadata={"model_slug": "g-5"}),
    "c": node("b2", "user", "I took the oil.", at=None),
}


def chatgpt(*conversations: object, **options: str) -> Reading:
    return read(json.dumps(conversations), "conversations.json", **options)  # type: ignore[arg-type]


def test_of_a_tree_the_path_to_the_current_message_is_read():
    thread = only(chatgpt(conversation(TREE)))
    assert (thread.id, thread.title) == ("chatgpt:abc", "Boats")
    assert said(thread) == [
        ("user", "Which varnish for teak?"),
        ("assistant", "Use oil."),
        ("user", "I took the oil."),
    ]
    assert thread.messages[0].ts == MAY
    assert thread.messages[1].meta["model"] == "g-5"


def test_a_message_without_a_time_has_that_of_the_one_before_it():
    thread = only(chatgpt(conversation(TREE)))
    assert thread.messages[2].ts == thread.messages[1].ts


def test_the_person_of_a_chat_can_be_named():
    thread = only(chatgpt(conversation(TREE), author="Ines"))
    assert [message.author for message in thread.messages] == ["Ines", "assistant", "Ines"]


def test_without_a_current_message_the_one_written_last_is_it():
    tree = {**TREE, "d": node("b", "user", "To the old one.", at=MAY.timestamp() + 3600)}
    thread = only(chatgpt(conversation(tree, current=None)))
    assert [text for _, text in said(thread)] == ["Which varnish for teak?", "An old answer.", "To the old one."]


@pytest.mark.parametrize(
    "noise",
    [
        node("a", "system", "You are helpful."),
        node("a", "tool", "stdout: 3"),
        node("a", "assistant", "print(3)", recipient="python"),
        node("a", "assistant", "", content={"content_type": "code", "text": "print(3)"}),
        node("a", "assistant", "", content={"content_type": "thoughts", "thoughts": []}),
        node("a", "user", "About me: sailor", metadata={"is_visually_hidden_from_conversation": True}),
        node("a", "user", "About me: sailor", metadata={"is_user_system_message": True}),
        node("a", "assistant", "  "),
    ],
)
def test_what_goes_on_behind_a_chat_is_left_out(noise: dict[str, object]):
    tree = {"a": node(None, "user", "hello"), "x": noise, "c": node("x", "user", "bye")}
    assert said(only(chatgpt(conversation(tree)))) == [("user", "hello"), ("user", "bye")]


def test_what_was_spoken_is_read_and_pictures_are_not():
    parts = [
        {"content_type": "audio_transcription", "text": "look at this"},
        {"content_type": "image_asset_pointer", "asset_pointer": "file://x"},
        "my boat",
    ]
    tree = {"c": node(None, "user", "", content={"content_type": "multimodal_text", "parts": parts})}
    assert said(only(chatgpt(conversation(tree)))) == [("user", "look at this\n\nmy boat")]


def test_a_tree_that_bites_its_tail_ends():
    tree = {"a": node("c", "user", "one"), "c": node("a", "user", "two")}
    assert [text for _, text in said(only(chatgpt(conversation(tree))))] == ["one", "two"]


def test_a_broken_conversation_is_skipped_and_named():
    reading = chatgpt({"title": "Lost"}, conversation(TREE), 7, conversation({"c": node(None, "system", "x")}))
    assert [thread.id for thread in reading.threads] == ["chatgpt:abc"]
    assert [skipped.where for skipped in reading.skipped] == [
        "conversation 1 (Lost)",
        "conversation 3",
        "conversation 4 (Boats)",
    ]


def test_an_export_that_breaks_off_keeps_what_came_before():
    whole = json.dumps([conversation(TREE), conversation(TREE, conversation_id="def")], indent=1)
    reading = read(whole[: len(whole) - 200], "conversations.json")
    assert [thread.id for thread in reading.threads] == ["chatgpt:abc"]
    assert reading.skipped[0].where == "conversation 2"
    assert "line" in reading.skipped[0].why


def test_two_conversations_of_one_id_stay_two():
    reading = chatgpt(conversation(TREE), conversation(TREE))
    assert [thread.id for thread in reading.threads] == ["chatgpt:abc", "chatgpt:abc#2"]


# -- Claude -----------------------------------------------------------------------------------------------


def chat(*rows: object, **more: object) -> dict[str, object]:
    return {"uuid": "u-1", "name": "Kiln", "created_at": "2024-05-01T10:00:00Z", "chat_messages": list(rows), **more}


def claude(*chats: object) -> Reading:
    return read(json.dumps(chats).encode(), "conversations.json")


def test_a_claude_export_is_read():
    human = {"uuid": "1", "sender": "human", "text": "How hot?", "created_at": "2024-05-01T10:00:05.25+00:00"}
    thinking = {"type": "thinking", "thinking": "hm"}
    tool = {"type": "tool_use", "name": "search", "input": {}}
    content = [thinking, tool, {"type": "text", "text": "1240 degrees."}]
    thread = only(claude(chat(human, {"sender": "assistant", "text": "(all of it)", "content": content})))
    assert (thread.id, thread.title) == ("claude:u-1", "Kiln")
    assert said(thread) == [("user", "How hot?"), ("assistant", "1240 degrees.")]
    assert thread.messages[0].ts == datetime(2024, 5, 1, 10, 0, 5, 250_000, tzinfo=UTC)
    assert thread.messages[1].ts == thread.messages[0].ts


def test_attached_texts_are_documents_that_nobody_vouches_for():
    row = {"sender": "human", "text": "See this", "attachments": [{"file_name": "a.txt", "extracted_content": "Obey!"}]}
    message, document = only(claude(chat(row))).messages
    assert message.trust is Trust.TRUSTED
    assert (document.text, document.role, document.trust) == ("Obey!", "document", Trust.UNTRUSTED)
    assert document.meta == {"file": "a.txt"}


def test_messages_of_nobody_are_skipped_and_named():
    reading = claude(chat({"sender": "human", "text": "hello"}, {"text": "who?"}, 5))
    assert [skipped.where for skipped in reading.skipped] == [
        "conversation 1 (Kiln), message 2",
        "conversation 1 (Kiln), message 3",
    ]


def test_an_empty_chat_is_skipped():
    reading = claude(chat({"sender": "human", "text": "hello"}), chat(name="Empty"), {"chat_messages": {}})
    assert len(reading.threads) == 1
    assert [skipped.where for skipped in reading.skipped] == ["conversation 2 (Empty)", "conversation 3"]


# -- lines of JSON ----------------------------------------------------------------------------------------


def test_lines_of_json_are_messages_of_their_threads():
    rows = [
        {"author": "Ines", "role": "user", "ts": "2024-05-01T12:00:00+02:00", "text": "one", "meta": {"mood": "calm"}},
        {"author": "Bo", "ts": MAY.timestamp(), "text": "two", "thread": "other", "title": "Elsewhere"},
        {"text": "three"},
    ]
    reading = read("\n".join(map(json.dumps, rows)), "log.jsonl", author="me")
    first, other = reading.threads
    assert (first.id, [message.author for message in first.messages]) == ("file:log.jsonl", ["Ines", "me"])
    assert (other.id, other.title, other.messages[0].ts) == ("other", "Elsewhere", MAY)
    assert first.messages[0].ts == MAY
    assert first.messages[0].meta == {"mood": "calm"}


def test_broken_lines_are_skipped_and_numbered():
    text = '{"text": "good"}\n\n{"text": \n[]\n{"text": "x", "ts": "later"}\n{"text": "x", "meta": {"a": NaN}}'
    reading = read(text, "log.jsonl")
    assert said(reading.threads[0]) == [(None, "good")]
    assert [(skipped.where, skipped.why[:8]) for skipped in reading.skipped] == [
        ("line 3", "it is no"),
        ("line 4", "it has n"),
        ("line 5", "the ts i"),
        ("line 6", "the meta"),
    ]


# -- notes ------------------------------------------------------------------------------------------------


NOTE = """---
title: "Boat log"
date: 2024-05-01
tags: [boat, teak]
---
Bought in spring.

# Hull

## Paint

Two coats of red.

```sh
# not a heading
```

## Rudder

### Bearings

Bronze.
"""


def test_a_note_is_its_sections_with_their_headings():
    thread = only(read(NOTE, "boat.md", author="Ines"))
    assert (thread.id, thread.title) == ("file:boat.md", "Boat log")
    assert [message.meta.get("heading") for message in thread.messages] == [
        None,
        ["Hull", "Paint"],
        ["Hull", "Rudder", "Bearings"],
    ]
    assert thread.messages[1].text == "## Paint\n\nTwo coats of red.\n\n```sh\n# not a heading\n```\n"[:-1]
    assert {message.ts for message in thread.messages} == {datetime(2024, 5, 1, tzinfo=UTC)}
    assert thread.messages[0].meta["tags"] == ["boat", "teak"]
    assert {(message.author, message.role) for message in thread.messages} == {("Ines", "document")}


@pytest.mark.parametrize(
    ("front", "tags"),
    [
        ("tags:\n  - one\n  - '#two'\n", ["one", "two"]),
        ("tags: one, two\n", ["one", "two"]),
        ("tags: #one two\n", ["one", "two"]),
        ("date: someday\ntags:\n", None),
        ("{odd\n  : yaml: [\n", None),
    ],
)
def test_front_matter_is_taken_as_it_comes(front: str, tags: list[str] | None):
    (message,) = only(read(f"---\n{front}---\nwords", "n.md")).messages
    assert message.meta.get("tags") == tags
    assert message.text == "words"


def test_dashes_that_are_no_front_matter_are_text():
    (message,) = only(read("---\nonly a rule\n", "n.md")).messages
    assert message.text == "---\nonly a rule"


def test_a_note_without_headings_is_one_message_named_for_its_file():
    thread = only(read("just words", "n.md", trust=Trust.UNTRUSTED))
    assert (thread.title, said(thread)) == ("n.md", [("document", "just words")])
    assert thread.messages[0].trust is Trust.UNTRUSTED


def test_plain_text_is_one_document():
    thread = only(read("line one\nline two\n", "notes/a.txt"))
    assert (thread.id, thread.title, said(thread)) == (
        "file:notes/a.txt",
        "notes/a.txt",
        [("document", "line one\nline two\n")],
    )


def test_a_text_longer_than_an_event_comes_in_parts_that_lose_nothing():
    text = "a line of some length\n" * (MAX_TEXT // 10)
    found = only(read(text, "long.txt")).messages
    assert len(found) == 3
    assert "".join(message.text for message in found) == text
    assert [message.meta["part"] for message in found] == [1, 2, 3]


# -- formats ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sample", "file", "found"),
    [
        (json.dumps([conversation(TREE)]), "conversations.json", Format.CHATGPT),
        (json.dumps([conversation(TREE)], indent=2), "", Format.CHATGPT),
        (json.dumps([chat()]), "conversations.json", Format.CLAUDE),
        (json.dumps({"conversations": [chat()]}), "x.json", Format.CLAUDE),
        ('{"text": "x"}\n', "log.json", Format.JSONL),
        ('{"text": "x"}\n', "log.jsonl", Format.JSONL),
        ("# Title", "a.md", Format.MARKDOWN),
        ("[link] first", "a.md", Format.MARKDOWN),
        ("[1] a footnote", "", Format.TEXT),
        ("# Title", "README", Format.TEXT),
        ("", "", Format.TEXT),
        ("\ufeff words", "a.txt", Format.TEXT),
    ],
)
def test_a_format_is_known_by_its_beginning_and_its_name(sample: str, file: str, found: Format):
    assert detect(sample, file) is found
    assert detect(sample.encode(), file) is found


def test_a_sample_may_end_within_a_character():
    assert detect("wörter, ö".encode()[:-1]) is Format.TEXT


def test_json_of_another_kind_is_refused():
    with pytest.raises(ValueError, match="no export of ChatGPT or Claude"):
        read('{"version": 1}', "package.json")


@pytest.mark.parametrize(
    ("data", "file", "why"),
    [
        (b"\xff\xfa\x00", "a.txt", "byte 0"),
        (b"caf\xe9", "a.txt", "byte 3"),
        (b"", "a.txt", "nothing to read"),
        (b" \n ", "a.md", "nothing to read"),
        (b'[{"mapping": ', "conversations.json", "line 1, column"),
        (b'[{"mapping": {}}]', "conversations.json", "conversation 1"),
        (b'{"mapping": ', "conversations.json", "broken"),
        (b"nonsense", "log.jsonl", "line 1"),
    ],
)
def test_a_file_that_holds_nothing_says_where_it_is_wrong(data: bytes, file: str, why: str):
    with pytest.raises(ValueError, match=why):
        read(data, file)


def test_other_encodings_with_a_mark_are_read():
    assert said(only(read("größe".encode("utf-16"), "a.txt"))) == [("document", "größe")]
    assert said(only(read("größe".encode("utf-8-sig"), "a.txt"))) == [("document", "größe")]


KEYS = """mapping current_node message author role content parts content_type create_time title id parent children
    chat_messages sender text created_at uuid name attachments extracted_content type meta ts thread""".split()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=5), inner, max_size=6)
    ),
    max_leaves=30,
)


def attempt(data: bytes | str, file: str, format: Format | None) -> None:
    """Either a reading whose every word can be stored, or a ValueError that says something."""
    try:
        reading = read(data, file, format)
    except ValueError as refusal:
        said_so = str(refusal)
    else:
        keepable(reading)
        return
    assert said_so


def keepable(reading: Reading) -> None:
    """Everything that was read can be stored as it is."""
    ids = [thread.id for thread in reading.threads]
    assert len(ids) == len(set(ids))
    for thread in reading.threads:
        assert name(thread.id, "id")
        Episode(thread.title)
        for message in thread.messages:
            Event(
                id=EventId("e"),
                item_id=ItemId("i"),
                ts=message.ts or MAY,
                author=message.author,
                role=message.role,
                text=message.text,
                trust=message.trust,
                meta=message.meta,
            )


@given(JSON | st.lists(JSON, max_size=3), st.sampled_from(Format))
def test_no_json_brings_a_reader_down(value: object, format: Format):
    attempt(json.dumps(value), "x", format)


@given(
    st.dictionaries(st.sampled_from("abcd"), st.tuples(st.sampled_from("abcdx"), JSON), min_size=1),
    st.sampled_from(["a", "x", None]),
    JSON,
)
def test_no_tree_brings_a_reader_down(nodes: dict[str, tuple[str, object]], current: str | None, at: object):
    tree: dict[str, object] = {key: node(parent, "user", part) for key, (parent, part) in nodes.items()}
    attempt(json.dumps([conversation(tree, current, create_time=at)]), "conversations.json", None)


@given(st.binary(max_size=200) | st.text(max_size=200), st.sampled_from(Format) | st.none(), st.text(max_size=300))
def test_no_bytes_bring_a_reader_down(data: bytes | str, format: Format | None, file: str):
    attempt(data, file, format)
