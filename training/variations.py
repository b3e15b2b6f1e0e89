"""Variations of what was written by hand, made by program while a model learns. Never stored, never tested on.

Pairs: two lines that stand to the same anchor in ways that settle how they stand to each other; the names of a pair
exchanged for others; a number of a repetition changed, which makes it a contradiction.
"""

import random
import re
from collections import defaultdict
from collections.abc import Sequence

from rows import Row

NAMES = (
    "Aiko Amadou Anselm Babette Bartek Bilal Bronwyn Camilo Chioma Corentin Dalia Dagny Emeka Eluned Farida Fintan "
    "Gaspard Giorgos Halima Henrike Ikaika Ingeborg Jarmila Joaquim Kalinda Kwame Lakshmi Ludvik Mairead Marisela "
    "Matej Naledi Nikos Odalys Oyvind Paloma Petros Qiang Radka Ravindra Saoirse Sefa Tadeusz Thandi Ulrike Urszula "
    "Valeria Veikko Wanjiku Wilhelmina Xiomara Yevgenia Yusra Zainab Zbigniew"
).split()
_NAME = re.compile(r"\b[A-Z][a-zà-ÿ]{2,}\b")
_NUMBER = re.compile(r"(?<![\w.,:/-])\d{1,4}(?![\w,:/-]|\.\d)")
_NO_NAMES = frozenset(
    "The This That These Those There When While Since After Before Every Each All Our Her His Their".split()
)
_CERTAIN = {  # how two lines of one block stand to each other, where their letters settle it
    ("same", "contradiction"): "contradiction",
    ("refines", "contradiction"): "contradiction",
    ("same", "refines"): "refines",
    ("same", "same"): "same",
}


def derived(rows: Sequence[Row]) -> list[Row]:
    """Pairs of lines of the same block."""
    blocks: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        blocks[row["group"]].append(row)
    found: list[Row] = []
    for lines in blocks.values():
        for place, one in enumerate(lines):
            for other in lines[place + 1 :]:
                for a, b in ((one, other), (other, one)):
                    label = _CERTAIN.get((a["label"], b["label"]))
                    if label and (one is a or a["label"] != b["label"]):
                        found.append({**b, "a": a["b"], "b": b["b"], "label": label, "kind": f"derived {b['kind']}"})
    return found


def renamed(row: Row, chance: random.Random) -> Row:
    """The pair with other names: of what both texts call somebody, and what stands in one of them alone."""
    shared = sorted(set(_NAME.findall(row["a"])) & set(_NAME.findall(row["b"])))
    people = [word for word in shared if any(f"{word}'s" in row[side] for side in "ab") or _leads(word, row)]
    other = dict(zip(people, chance.sample(NAMES, len(people)), strict=True))
    return {**row, "a": _replaced(row["a"], other), "b": _replaced(row["b"], other)}


def spoken(row: Row, chance: random.Random) -> Row:
    """The pair as two remarks: mostly of one speaker."""
    first = chance.choice(NAMES)
    second = first if chance.random() < 0.7 else chance.choice(NAMES)
    return {**row, "a": f"{first}: {row['a']}", "b": f"{second}: {row['b']}"}


def clashing(row: Row, chance: random.Random) -> Row | None:
    """A repetition of which one number is changed; None where it has no plain number that both texts share."""
    shared = set(_NUMBER.findall(row["a"])) & set(_NUMBER.findall(row["b"]))
    if not shared:
        return None
    old = chance.choice(sorted(shared))
    new = str(max(1, int(old) + chance.choice((-3, -2, -1, 1, 2, 3, 5, 10, int(old)))))
    if new == old:
        return None
    changed = re.sub(rf"(?<![\w.,:/-]){old}(?![\w,:/-]|\.\d)", new, row["b"])
    return {**row, "b": changed, "label": "contradiction", "kind": "changed number"}


def _leads(word: str, row: Row) -> bool:
    """Whether both texts begin with it, or one does and the other has it within: most likely a person."""
    return word not in _NO_NAMES and any(row[side].startswith(f"{word} ") for side in "ab")


def _replaced(text: str, other: dict[str, str]) -> str:
    return _NAME.sub(lambda found: other.get(found[0], found[0]), text)


# -- a first course: what can be taught about comparing before any meaning --------------------------------------

_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_MONTHS = ("January February March April May June July August September October November December").split()
_BE = re.compile(r"\b(is|are|was|were|can|will|has to|must|should)\b(?! not|n't| no\b| never)")
_NOT = re.compile(r"\b(is|are|was|were|can|will|must|should|does|do|did)(?:n't| not)\b")
_TAIL = re.compile(
    r",? (?:because|since|so that|after|before|with|until|when|while|in order to|on|at|by|for|from)\b[^,;]*\.?$"
)
_SHORT = tuple(
    pair.split("/")
    for pair in "is not/isn't,are not/aren't,does not/doesn't,do not/don't,has not/hasn't,will not/won't,cannot/can't,"
    "per month/a month,each/every,large/big".split(",")
)


def people(texts: Sequence[str]) -> frozenset[str]:
    """Words that are capital within a sentence somewhere, and so are names wherever they stand."""
    within = re.compile(r"(?<=[a-z,] )[A-Z][a-zà-ÿ]{2,}")
    found = frozenset(word for text in texts for word in within.findall(text))
    return found - _NO_NAMES - {*_DAYS, *_MONTHS}


def exercise(texts: Sequence[str], names: frozenset[str], chance: random.Random) -> Row | None:
    """A pair out of single statements whose label follows from how it was made."""
    text = chance.choice(texts)
    match chance.randrange(8):
        case 0:
            made = _respelled(text, chance)
            return made and _row(text, made, "same")
        case 1 | 2:
            made = _other_value(text, chance)
            return made and _row(text, made, "contradiction")
        case 3:
            made = _negated(text)
            return made and _row(text, made, "contradiction")
        case 4:
            made = _TAIL.sub(".", text)
            return _row(made, text, "refines") if 12 < len(made) < len(text) - 8 else None
        case 5:
            made = _of_another(text, names, chance)
            return made and _row(text, made, "compatible")
        case _:
            return _of_one(text, chance.choice(texts), names)


def _row(a: str, b: str, label: str) -> Row:
    return {"a": a, "b": b, "label": label, "kind": "exercise"}


def _respelled(text: str, chance: random.Random) -> str | None:
    for long, short in chance.sample(_SHORT, len(_SHORT)):
        if long in text:
            return text.replace(long, short)
        if short in text:
            return text.replace(short, long)
    return text.rstrip(".") if chance.random() < 0.3 else None


def _other_value(text: str, chance: random.Random) -> str | None:
    for words in (_DAYS, _MONTHS):
        for word in words:
            if re.search(rf"\b{word}\b", text):
                return re.sub(rf"\b{word}\b", chance.choice([other for other in words if other != word]), text)
    made = clashing({"a": text, "b": text}, chance)
    return made["b"] if made else None


def _negated(text: str) -> str | None:
    if _NOT.search(text):
        return _NOT.sub(lambda found: found[1], text, count=1)
    return _BE.sub(lambda found: f"{found[1]} not", text, count=1) if len(_BE.findall(text)) == 1 else None


def _subject(text: str, names: frozenset[str]) -> str | None:
    found = re.match(r"([A-Z][a-zà-ÿ]{2,})(?='s | )", text)
    return found[1] if found and found[1] in names else None


def _of_another(text: str, names: frozenset[str], chance: random.Random) -> str | None:
    """The same, said of somebody else."""
    subject = _subject(text, names)
    if subject is None:
        return None
    other = f"{subject}'s {chance.choice(('brother', 'sister', 'neighbour', 'colleague', 'cousin', 'mother'))}"
    return text.replace(subject, chance.choice((chance.choice(NAMES), other)), 1)


def _of_one(text: str, other: str, names: frozenset[str]) -> Row | None:
    """Two statements that have nothing to do with each other, said of the same person."""
    first, second = _subject(text, names), _subject(other, names)
    if first is None or second is None or first == second:
        return None
    return _row(text, re.sub(rf"\b{second}\b", first, other), "compatible")
