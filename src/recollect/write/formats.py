"""Files from elsewhere, read into threads of messages: which format they have. No file is opened here."""

from enum import StrEnum

from recollect.domain.event import Trust
from recollect.write import exports, notes
from recollect.write.foreign import Reading, Skipped, Thread, decoded, doubted

__all__ = ["Format", "Reading", "Skipped", "Thread", "detect", "read"]

_SAMPLE = 1_000_000


class Format(StrEnum):
    CHATGPT = "chatgpt"
    """conversations.json of a ChatGPT export."""
    CLAUDE = "claude"
    """conversations.json of a Claude export."""
    JSONL = "jsonl"
    """One message a line."""
    MARKDOWN = "markdown"
    TEXT = "text"


def detect(sample: bytes | str, name: str = "") -> Format:
    """The format of a file, by its beginning and its name. Raises ValueError where it is JSON of another kind."""
    start = (decoded(_whole(sample)) if isinstance(sample, bytes) else sample)[:_SAMPLE].lstrip("\ufeff \t\r\n")
    ending = name.lower().rpartition(".")[2] if "." in name else ""
    if ending in ("md", "markdown"):
        return Format.MARKDOWN
    if ending == "jsonl":
        return Format.JSONL
    if start.startswith(("{", "[{", "[ ", "[\n", "[\r", "[\t", "[]")) and ending in ("", "json"):
        if '"chat_messages"' in start:
            return Format.CLAUDE
        if '"mapping"' in start:
            return Format.CHATGPT
        if start.startswith("{") and '"text"' in start.split("\n", 1)[0]:
            return Format.JSONL
        if ending == "json":
            raise ValueError(
                "it is JSON, but no export of ChatGPT or Claude: give one of them, or one message a line (JSONL)"
            )
    return Format.TEXT


def read(
    data: bytes | str,
    name: str = "",
    format: Format | None = None,
    *,
    author: str = "user",
    trust: Trust = Trust.TRUSTED,
) -> Reading:
    """The threads in a file, and what in it could not be read. Raises ValueError where nothing could be.

    `name` is the file's own, for ids and titles. `author` is who wrote the notes, or the person of a chat. `trust` is
    how far it is believed at most, whatever its format: what a file says of itself can only be less.
    """
    found = _read(decoded(data), name, format, author)
    return doubted(found) if trust is Trust.UNTRUSTED else found


def _read(text: str, name: str, format: Format | None, author: str) -> Reading:
    match format or detect(text, name):
        case Format.CHATGPT:
            return exports.chatgpt(text, author)
        case Format.CLAUDE:
            return exports.claude(text, author)
        case Format.JSONL:
            return notes.jsonl(text, name, author)
        case Format.MARKDOWN:
            return notes.markdown(text, name, author)
        case Format.TEXT:
            return notes.plain(text, name, author)


def _whole(sample: bytes) -> bytes:
    """The sample without the half of a character that it may end in."""
    cut = sample[:_SAMPLE]
    for dropped in range(4):
        end = cut[: len(cut) - dropped]
        try:
            end.decode()
        except UnicodeDecodeError as error:
            if error.end < len(end):  # broken further up: not for the cut to mend
                return cut
        else:
            return end
    return cut
