"""A text as who reads it takes it: without signs that print nothing, full-width letters and spaces as plain ones, and
what is escaped for an address, a page or JSON as what it stands for."""

import html
import re
from urllib.parse import unquote

from recollect.domain.lines import without_unseen

_ODD = re.compile("[\xa0\xad\u180e\u2000-\u200f\u2028-\u202f\u2060-\u2064\u3000\ufeff\uff01-\uff5e]")
_SPACES = "\xa0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u3000"
_MEANT = {
    **dict.fromkeys((0xAD, 0x180E, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF)),
    **{ord(sign): " " for sign in _SPACES},
    **{sign: chr(sign - 0xFEE0) for sign in range(0xFF01, 0xFF5F)},
}
_COLOURS = re.compile("\x1b\\[[0-9;]{0,20}m")
_ESCAPED = re.compile(r"\\u00([2-7][0-9a-fA-F])")


def as_read(text: str) -> str:
    """The text as it is read, or the same text where that is no other."""
    if not text.isascii() and _ODD.search(text):
        text = without_unseen(text.translate(_MEANT))
    if "\x1b[" in text:
        text = _COLOURS.sub("", text)
    if "%3" in text:
        text = unquote(text, errors="replace")
    if "&quot;" in text or "&#" in text:
        text = html.unescape(text)
    if "\\u00" in text:
        text = _ESCAPED.sub(lambda escape: chr(int(escape[1], 16)), text)
    return text
