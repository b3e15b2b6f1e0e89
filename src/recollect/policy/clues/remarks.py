"""Clues in plain words, for people who ask why."""

from recollect.policy.clues import amounts, beside
from recollect.policy.clues.reading import Reading, read

_PLAIN = {
    "words_same": "the same words",
    "shared": "how many words they share",
    "unshared": "how many words they share",
    "roots": "how many words they share",
    "contained": "one has all the words of the other",
    "steps": "the same words in the same order",
    "turned": "the same words in another order",
    "names": "the names in them",
    "subject": "what they speak of",
    "owner": "whose it is",
    "owned": "whose it is",
    "negation": 'a "not" on one side',
    "denied_both": "both deny the same",
    "opposite_negated": "the negated opposite of a word",
    "opposite": "opposite words",
    "liking_turned": "liked on one side, disliked on the other",
    "liking_same": "the same liking",
    "lacking": "what one side lacks",
    "replaced": "another value in the same place",
    "single": "there is one value only",
    "several": "there can be several values",
    "swapped": "the same names in other places",
    "passive": "active here, passive there",
    "scope": "what it holds for",
    "amount_agrees": "the same amounts",
    "amount_one_side": "an amount on one side",
    "amount_clash": "amounts that differ",
    "date_clash": "times that differ",
    "unit_clash": "amounts that differ",
    "count_clash": "amounts that differ",
    "counts": "amounts of other things",
    "number_reused": "the same number of other things",
    "abbreviated": "an abbreviation",
    "changed": "a change is told",
    "past": "one side speaks of the past",
    "planned": "one side is planned or supposed",
    "opinion": "one side is what somebody thinks",
    "also": 'an "also" on one side',
    "other": "somebody or something else",
    "reason": "a reason on one side",
    "since": "since when",
    "until": "until when",
    "all": '"all" on one side',
    "never": '"none" or "never" on one side',
    "only": '"only" on one side',
    "some": '"some" or "often" on one side',
    "about": "a rough figure on one side",
    "before": "before and after",
    "after": "before and after",
    "may": "what is allowed",
    "must": "what is required",
}
_BY_LENGTH = sorted(_PLAIN, key=len, reverse=True)


def remark(clue: str, a: str, b: str) -> str:
    """What a clue found in two statements: with the words that it found, where it is about words."""
    return _quoted(clue, read(a), read(b)) or ground(clue)


def ground(clue: str) -> str:
    """What a clue is about, without a word of the statements."""
    return next((_PLAIN[name] for name in _BY_LENGTH if clue.startswith(name)), clue.replace("_", " "))


def _quoted(clue: str, left: Reading, right: Reading) -> str:
    if clue.startswith(("amount_clash", "date_clash", "unit_clash", "count_clash")):
        laid = amounts.lay(left.quantities, right.quantities).clashes
        dated = [pair for pair in laid if pair[0].dimension in amounts.CALENDAR]
        counted = [pair for pair in laid if pair[0].dimension == "count"]
        one, other = ((dated if clue.startswith("date") else counted if clue.startswith("count") else laid) or laid)[0]
        return f"{one.said} against {other.said}"
    if clue.startswith("opposite"):
        one, other = min(beside.opposites(left, right))
        return f'"{one}" against "{other}"'
    if clue.startswith("negation_met"):
        return f'a "not" on one side, about "{min(beside.denied(left, right))}"'
    if clue.startswith("scope_other"):
        one, other = min(beside.scopes(left, right))
        return f'"{one}" here, "{other}" there'
    if clue == "abbreviated":
        return '"{}" for "{}"'.format(*min(beside.abbreviations(left, right)))
    return ""
