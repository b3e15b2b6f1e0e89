"""A sentence without the words that add nothing to it."""

import re

from recollect.policy.speech.referents import KIN

_FILLER = re.compile(
    r"(?<=\w )(?:really|actually|definitely|totally|basically|literally|honestly|absolutely|truly|simply|kinda|super|"
    r"even(?= (?:\w+ed|went|made|had|got|took|found|won|did)\b)|"
    r"pretty (?=much)|just)\s+(?=[a-z])",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^(?:(?:for example|for instance|in fact|as a result|plus|also|anyway|so far|recently|lately|specifically|"
    r"additionally|"
    r"now|however|besides|meanwhile|overall|in short|first|then|after that|since then|back then|that day|money-wise|"
    r"as for me|on top of that|best of all)\b,?\s+)+(?=(?-i:[A-Z])|the user|the team)",
    re.IGNORECASE,
)
_TAIL = re.compile(r"\s[-\u2013\u2014]\s(?:[a-z']+\s?){1,3}[.!]*$", re.IGNORECASE)
_NEWS = re.compile(
    r"^(?:[A-Z]\w+, )?(?:crazy|funny|great|good|big|exciting|sad) (?:thing|news|story|"
    r"stuff)[^-\u2013\u2014:;]{0,24}\s?[-\u2013\u2014:;]\s",
    re.IGNORECASE,
)
_TOO = re.compile(r",?\s(?:too|as well|either|though|anyway|again)([.!]*)$", re.IGNORECASE)
_TRAILS = re.compile(
    r"(?:,? (?:but|and|so) that(?: is|'s| was| has| made)\b|,? so maybe\b|,? which is (?:why|what|great|awesome|nice|"
    r"cool|fun)\b).*$",
    re.IGNORECASE,
)
_LITERAL = re.compile(r"`[^`]*`|\"[^\"]*\"")
_AND_SPEAKER = r"\b([A-Z][\w'-]+) and {speaker}\b(?!')"


_A_THAT = re.compile(r"\b(\w+) that (?=[$€£]?\d)")
_THAT = re.compile(
    r"\b(from|of|at|in|to|with|for|on|about|into|up|off|using|painted|made|wrote|drew|bought|built|took|saw|read|"
    r"watched) that (?=[A-Za-z]+\b(?!ed\b|ing\b))"
)
_WHO = re.compile(r"^([^,]{3,60}(?:, [A-Z]\w+)?), who (is|was|has|works|lives|\w+s) (?=[^,]*$)")
_RETAKEN = re.compile(r"\b(re|over|under|out|mis)(took|wrote|made|did|ran|built|thought|came|went|told|read)s\b")


def _plural(found: re.Match[str]) -> str:
    return f"{found[1]} {dict(was='were', has='have', does='do').get(found[2], 'are')}"


def _first(found: re.Match[str], speaker: str) -> str:
    """Whoever speaks first of two, so that "Ruth and Paul" are not cut apart; a relative's name stays where it is."""
    before = found.string[: found.start()].split()
    return found.group() if before and before[-1].lower() in KIN else f"{speaker} and {found[1]}"


def terse(text: str, speaker: str) -> str:
    """The sentence without "really" and "actually", and with what is the speaker's called so once."""
    text = _TOO.sub(r"\1", _TAIL.sub(".", _LEAD.sub("", _NEWS.sub("", text))))
    text = _TRAILS.sub(".", text)
    text = _FILLER.sub("", text) if not _LITERAL.search(text) else text
    text = re.sub(_AND_SPEAKER.format(speaker=re.escape(speaker)), lambda found: _first(found, speaker), text)
    text = _THAT.sub(r"\1 the ", _A_THAT.sub(r"\1 a ", text))
    text = _WHO.sub(r"\1 \2 ", _RETAKEN.sub(r"\1\2", text))
    text = re.sub(rf"^((?:\S+ ){{1,4}}and {re.escape(speaker)}) (was|is|has|does)\b", _plural, text)
    text = _owned_once(text, speaker)
    return text[:1].upper() + text[1:]


def _owned_once(text: str, speaker: str) -> str:
    """ "The user exported the user's draft" exported the draft: whose it is goes without saying, but for kin."""
    if speaker != "the user" or not text.lower().startswith("the user "):
        return text
    head, rest = text[:9], text[9:]
    return head + re.sub(r"\bthe user's (?=(\w+)(?: (\w+))?)", _the, rest)


def _the(found: re.Match[str]) -> str:
    kin = any(word and word.lower() in KIN for word in found.groups())
    named = found[1][0].isupper()
    return found.group() if kin or named else "the "


_VERBED = re.compile(r"\b(and|or) ([a-z]+?)(s|es)\b(?= ([a-z]+))")
_TO_DO = re.compile(r"\bto [a-z]+\b[^;.]*$")
_AFTER_VERB = frozenset(
    """the a an my our to in on at with for up out about it that this from into as and or by of off over all some every
    each him her them me us you not more new two three back away how what when where if""".split()
)


def unverbed(told: str, said: str) -> str:
    """The sentence with its nouns as they were said: in "irritability and sleep issues" nobody sleeps."""

    def noun(found: re.Match[str]) -> str:
        link, base, _, after = found.groups()
        was = re.search(rf"\b{link} {base}\b(?!s|es)", said, re.IGNORECASE)
        if was and _TO_DO.search(told[: found.start()]):
            return f"{link} {base}"  # "planned to gather and write": no verb of its own
        goes_on = after in _AFTER_VERB or after.endswith(("ing", "ly"))
        return found.group() if not was or goes_on else f"{link} {base}"

    for own in re.findall(r"\b(?:my|our) ([a-z]{3,})\b(?!s)", said):
        told = re.sub(rf"('s) {re.escape(own)}s\b", rf"\1 {own}", told)
    return _VERBED.sub(noun, told)
