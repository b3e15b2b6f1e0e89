"""What stands in front of a statement and behind it: "just so you know", "ok, decision from the meeting:", "lol"."""

import re
from dataclasses import dataclass
from functools import lru_cache

_LEAD = re.compile(
    r"""^(?:
      (?:ok(?:ay)?|oh|ah|hmm+|haha+|lol|hey|hi|hello|well|anyway|btw|fyi|also|and|but|so|then|plus|yeah|yes|yep|
      yup|sure|
        great|perfect|cool|agreed|exactly|right|correct|alright|look|listen|sorry|honestly|tbh|actually|
        basically|generally|
        literally|seriously|thanks|please|pls|yikes|phew|nope|good\smorning|morning|no)(?:\s*[,:;.!—\u2013-]+\s*|
        \s+(?=and\b|but\b|so\b|no\b|i\b|i'|we\b|it\b|it's|also\b|please\b|the\b|my\b|our\b|use\b|always\b|
        never\b|yeah\b|yes\b|by\sthe\sway|decision\b))
    | (?:ok(?:ay)?|and|but|so|also|oh|btw|fyi|please|pls|then|because|since|though)\s+
    | (?:by\sthe\sway|just\sso\syou\sknow|for\s(?:the\srecord|reference|future\sreference|context|
    your\sinformation|what\sit's\sworth|the\sfuture)|
        in\scase\syou\s(?:need|wonder)\w*|it\sturns\sout(?:\sthat)?|turns\sout(?:\sthat)?|as\s(?:i\s(?:said|
        mentioned)|mentioned|said)|heads[\s-]up|
        quick\s(?:note|update|heads[\s-]up|reminder)|just\sto\s(?:clarify|confirm|be\sclear)|to\sbe\s(?:clear|
        honest|fair)|one\s(?:more|last)\sthing|another\sthing|
        i\s(?:forgot|wanted|should|have)\sto\s(?:say|mention|tell\syou|tell\sya|add|note|let\syou\sknow)(?:\sthat)?|
        i\s(?:should|must)\s(?:mention|say|add)(?:\sthat)?|
        (?:just\s)?(?:please\s)?(?:note|remember|be\saware|keep\sin\smind|don't\sforget|bear\sin\smind|know|
        save|store)(?:\sthat|\sthis)?(?=\s(?:that|i|my|we|our|the|it|she|he|they)\b)(?:\sthat)?|
        (?:please\s)?(?:note|remember|save|store|don't\sforget)(?:\sthis|\sthat)?\s?:|
        (?:just\s)?a\sreminder(?:\sthat)?|i\smean(?!\sto\b)|you\sknow|in\sfact|
        @\w+|let's\scall\sit|i\smeant?(?!\sto\b)|argh|ugh|(?:good|great|big|bad|sad|exciting|amazing)\snews|news\sflash|long\sstory\sshort|
        short\sversion|my\sbad|typo|wait|oops|correction|first\sof\sall|(?:first|second|third)(?=[,:])|secondly|finally|lastly|also)
        \s*[,:;.!—\u2013-]*\s+
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_TAILS = (
    " please", " pls", " lol", " haha", " hahaha", " hehe", " though", " thanks", " thank you", " thx", " cheers",
    " ok", " okay", " you know", " btw", " by the way", " if that's ok", " sorry", " not worth it",
    " not worth it for us", " not worth it for me", " wish me luck", " fingers crossed", " just fyi", " fyi",
    " as you know", " yay", " ugh", " oops", " xo", " i mean",
)  # fmt: skip
_LABEL = re.compile(r"^([^:\n`\"]{2,70}):\s+(?=\S)")
_LABEL_WORDS = frozenset(
    """heads-up headsup note update version context picture background info asked fyi decision decided lesson reminder
    generally news situation deal summary settled tldr tl story question answer way know say mention""".split()
)
_HEDGE = re.compile(
    r"^(?:i (?:think|guess|believe|suppose|reckon|assume)|as far as i (?:know|remember)|afaik|iirc|"
    r"if i remember (?:right|correctly))(?: that)?,?\s+",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Stripped:
    """A statement without its wrapping; what the wrapping told about it."""

    text: str
    label: str = ""
    decision: bool = False
    hedged: bool = False


@lru_cache(maxsize=256)
def stripped(text: str) -> Stripped:
    """The statement itself: without "just so you know", "ok, decision from the meeting:", "lol"."""
    text = re.sub(r",?\s(?:though|please|btw|lol|by the way)(?=,)", "", text.strip(" ,;\u2013—-"), flags=re.IGNORECASE)
    label, decision = "", False
    for number in range(6):
        lead = _LEAD.match(text) if number else None
        rest = text[lead.end() :] if lead else text
        if (found := _LABEL.match(rest)) and _wraps(found[1]):
            decision = decision or bool(re.search(r"\bdeci(?:sion|ded)|settled|agreed\b", found[1], re.I))
            label = label or found[1]
            rest = rest[found.end() :]
        if not rest.strip() or (number and rest == text):
            break
        text = rest
    text = _without_tail(text)
    hedge = _HEDGE.match(text)
    return Stripped(text[hedge.end() :] if hedge else text, label, decision, bool(hedge))


def _without_tail(text: str) -> str:
    for _ in range(4):
        bare = text.rstrip(" ,;.!\u2013—-)")
        tail = next((tail for tail in _TAILS if bare.lower().endswith(tail)), None)
        if tail is None or len(bare) - len(tail) < 4:
            return text.rstrip(" ,;\u2013—-")
        text = bare[: len(bare) - len(tail)]
    return text.rstrip(" ,;\u2013—-")


def _wraps(label: str) -> bool:
    """Whether what stands before a colon only announces what follows."""
    if re.match(
        r"(?:i|we)(?:'ve| have)? (?:\w+ )?(?:settled|decided|agreed) (?:on|to|for|that) ", label, re.IGNORECASE
    ):
        return False
    words = re.findall(r"[\w-]+", label)
    if words and words[0].lower() in ("put", "add", "save", "log", "record", "store"):
        return True
    if any(word[:1].isupper() for word in words[1:]) or re.search(r"\d|\bfor\b.*\btime\b", label):
        return False
    low = {word.lower() for word in words}
    if words and words[0].lower() in (
        "write",
        "remember",
        "since",
        "because",
        "as",
        "given",
        "before",
        "important",
        "warning",
        "careful",
        "reminder",
        "caution",
        "attention",
    ):
        return True
    if len(words) <= 3 and low & {"stuff", "things", "info", "details", "facts", "basics"}:
        return True
    return len(words) <= 12 and bool(low & _LABEL_WORDS)
