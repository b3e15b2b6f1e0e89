"""What somebody is about to do when they say so, told as what it was: "I'm trying to add a chart" was wanted then."""

import re

_NOW = (
    r"(?:currently |just |still |really |now |also |actually |definitely |a bit |kinda |kind of |probably |already )*+"
)
_FORMS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(form, re.IGNORECASE), told)
    for form, told in (
        (rf"^(I|we) (?:am|are) {_NOW}(?:trying|looking|hoping|aiming|attempting|wanting) to ", r"\1 wanted to "),
        (rf"^(I|we) (?:am|are) {_NOW}planning to ", r"\1 planned to "),
        (r"^(I|we) (?:have|had) been (?:trying|looking|hoping|wanting) to ", r"\1 wanted to "),
        (r"^(I|we) (?:would|should) (?:really |also )*(?:like|love|want|prefer) to ", r"\1 wanted to "),
        (rf"^(I|we) {_NOW}want to ", r"\1 wanted to "),
        (rf"^(I|we) {_NOW}(?:need|have) to ", r"\1 needed to "),
        (rf"^(I|we) {_NOW}need ", r"\1 needed "),
        (
            rf"^(I|we) (?:am|are) {_NOW}(?:having|facing|running into|experiencing|getting(?= (?:an?|the|some|this|"
            rf"errors?|warnings?|weird|strange)\b)) ",
            r"\1 had ",
        ),
        (rf"^(I|we) (?:am|are) {_NOW}working on ", r"\1 worked on "),
        (
            rf"^(I|we) (?:am|are) {_NOW}(not sure|unsure|worried|concerned|confused|stuck|struggling|considering|"
            rf"thinking|debating|curious)\b",
            r"\1 was \2",
        ),
        (r"^(I|we) (?:always |just )?keep (?=\w+ing\b)", r"\1 kept "),
        (r"^(I|we) (?:still get|get) (?=an?\b)", r"\1 got "),
        (
            rf"^(I|we) (?:will|am going to|are going to) {_NOW}(?!be\b|have\b|turn\b|not\b|never\b|always\b|need\b|"
            rf"know\b|miss\b|remember\b|see\b|an?\b|the\b|my\b|our\b|this\b)",
            r"\1 planned to ",
        ),
    )
)
_THINKS = re.compile(
    r"^(?:I|we) (?:really |also |just |do )*(?:know|think|believe|feel|guess|figured?|realized?|understand|heard|"
    r"noticed|"
    r"suppose|see|agree)(?: that| like)? (?=(?:I|we|my|our|the)\b)",
    re.IGNORECASE,
)
_SURE = re.compile(r"wanted to (?:make sure|ensure|be sure|know|understand|see|get)\b", re.IGNORECASE)


def wanted(text: str) -> str:
    """The sentence in the past where it tells what somebody wanted, planned, needed or was at."""
    text = _THINKS.sub("", text)
    for form, told in _FORMS:
        if form.match(text):
            return form.sub(told, text, count=1)
    return text


def assures(text: str) -> bool:
    """Whether a statement only says that something should be right: "Mira wanted to make sure the code is clean"."""
    return bool(_SURE.search(text))
