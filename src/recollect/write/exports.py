"""Exports of chat services: the conversation as its person last saw it, without what went on behind it."""

from collections.abc import Mapping
from datetime import datetime

from recollect.domain.event import Trust
from recollect.write.foreign import Reading, Readings, clean, elements, entries, fields, label, messages, moment, words
from recollect.write.message import Message

_SHOWN = ("text", "multimodal_text")
_SENDERS = {"human": "user", "user": "user", "assistant": "assistant"}


def chatgpt(text: str, author: str) -> Reading:
    """conversations.json of ChatGPT: of each tree of messages, the path to the current one."""
    readings = Readings()
    for number, conversation in enumerate(elements(text, readings), 1):
        found = fields(conversation)
        title = words(found.get("title"))
        where = _where(number, title)
        tree = fields(found.get("mapping"))
        if not tree:
            readings.skip(where, "it has no tree of messages (mapping)")
            continue
        begun = moment(found.get("create_time"))
        path = _path(tree, words(found.get("current_node")))
        turns: list[Message] = []
        for node in path:
            turns += _turn(fields(node.get("message")), author, turns[-1].ts if turns else begun)
        name = words(found.get("conversation_id")) or words(found.get("id"))
        readings.add(f"chatgpt:{name}" if name else "", title, turns, where)
    return readings.done()


def claude(text: str, author: str) -> Reading:
    """conversations.json of Claude. Attached texts come as documents of their own, which nobody vouches for."""
    readings = Readings()
    for number, conversation in enumerate(elements(text, readings), 1):
        found = fields(conversation)
        title = words(found.get("name"))
        where = _where(number, title)
        if not isinstance(found.get("chat_messages"), list):
            readings.skip(where, "it has no list of messages (chat_messages)")
            continue
        begun = moment(found.get("created_at"))
        turns: list[Message] = []
        for place, row in enumerate(entries(found.get("chat_messages")), 1):
            said = fields(row)
            role = _SENDERS.get(words(said.get("sender")))
            if role is None:
                readings.skip(f"{where}, message {place}", "nobody is named as its sender")
                continue
            at = moment(said.get("created_at")) or (turns[-1].ts if turns else begun)
            meta = _kept(message_id=words(said.get("uuid")))
            turns += messages(_words_of(said), author if role == "user" else role, role, at, meta=meta)
            turns += _attached(said, author, at)
        name = words(found.get("uuid"))
        readings.add(f"claude:{name}" if name else "", title, turns, where)
    return readings.done()


def _path(tree: Mapping[str, object], current: str) -> list[Mapping[str, object]]:
    """From the first message to the current one; where none is named, to the one that was written last."""
    if current not in tree:
        leaves = [name for name, node in tree.items() if not entries(fields(node).get("children"))]
        current = max(leaves or tree, key=lambda name: (_written(tree[name]), name))
    path: list[Mapping[str, object]] = []
    seen: set[str] = set()
    while current in tree and current not in seen:
        seen.add(current)
        path.insert(0, fields(tree[current]))
        current = words(path[0].get("parent"))
    return path


def _written(node: object) -> float:
    at = moment(fields(fields(node).get("message")).get("create_time"))
    return at.timestamp() if at else 0.0


def _turn(message: Mapping[str, object], author: str, before: datetime | None) -> list[Message]:
    """What a node shows: nothing where it is hidden, a tool's, or addressed to a tool."""
    who, content, about = (fields(message.get(key)) for key in ("author", "content", "metadata"))
    role = words(who.get("role"))
    hidden = about.get("is_visually_hidden_from_conversation") is True or about.get("is_user_system_message") is True
    if hidden or role not in ("user", "assistant") or words(message.get("recipient")) not in ("", "all"):
        return []
    if words(content.get("content_type")) not in _SHOWN:
        return []
    meta = _kept(message_id=words(message.get("id")), model=words(about.get("model_slug")))
    at = moment(message.get("create_time")) or before
    said = "\n\n".join(filter(None, (_part(part) for part in entries(content.get("parts")))))
    return messages(said, author if role == "user" else role, role, at, meta=meta)


def _part(part: object) -> str:
    """The words of a part: as typed, or as spoken and written down. Pictures have none."""
    return part if isinstance(part, str) else words(fields(part).get("text"))


def _words_of(said: Mapping[str, object]) -> str:
    """What a message shows; thoughts and tools stay out of it."""
    parts = [fields(part) for part in entries(said.get("content"))]
    shown = [words(part.get("text")) for part in parts if part.get("type") == "text"]
    return "\n\n".join(filter(str.strip, shown)) or words(said.get("text"))


def _attached(said: Mapping[str, object], author: str, at: datetime | None) -> list[Message]:
    found: list[Message] = []
    for attachment in map(fields, entries(said.get("attachments"))):
        meta = _kept(file=words(attachment.get("file_name")))
        text = words(attachment.get("extracted_content"))
        found += messages(text, author, "document", at, trust=Trust.UNTRUSTED, meta=meta)
    return found


def _kept(**values: str) -> dict[str, object]:
    return {key: label(value) for key, value in values.items() if clean(value).strip()}


def _where(number: int, title: str) -> str:
    shown = label(title)[:60]
    return f"conversation {number} ({shown})" if shown else f"conversation {number}"
