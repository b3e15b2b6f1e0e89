"""No text costs more than its length: four times as much of it costs about four times as much time.

Times are those of this thread alone, the best of several, and below a floor nothing is judged, so that a busy machine
fails no test. A text that costs the square of its length takes sixteen times as long, one that costs more much more.
"""

import random
import re
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import product

import pytest

from recollect.domain.event import Event
from recollect.domain.ids import EventId, ItemId
from recollect.policy import asked, bands, chunks, contents, dates, pack, proof, silence, wording
from recollect.policy.clues import clues
from recollect.policy.distil import noise, notation, topics
from recollect.policy.secrets import redact
from recollect.policy.secrets.formats import FORMATS
from recollect.policy.speech import days, planted, secret_words, sentences, third_person
from recollect.store import words as indexed
from recollect.write import notes
from recollect.write.extract import extract
from recollect.write.wording import worded
from tests.hunt import TIMES, examples
from tests.policy.patterns import Used, all_used, attacks

MOST = 6
"""How much longer four times the text may take."""
FLOOR_S = 0.02
TOO_LONG_S, SHORT_S, HARMLESS_S = 2.0, 0.1, 0.001
AT = datetime(2026, 5, 13, 12, tzinfo=UTC)

# -- patterns -----------------------------------------------------------------------------------------------


def spent(run: Callable[[str], object], text: str) -> float:
    began = time.thread_time()
    run(text)
    return time.thread_time() - began


def super_linear(run: Callable[[str], object], make: Callable[[int], str], length: int) -> str:
    """What is wrong with the cost of a text of some length, and of four times that. A cost that explodes shows on a
    short one, before it takes for ever."""
    for short, most in ((24, SHORT_S), (200, SHORT_S), (length, TOO_LONG_S)):
        took = spent(run, make(short))
        if took > most and min(took, spent(run, make(short))) > most:
            return f"{took:.1f} s for {short} characters"
        if short > 24 and took < HARMLESS_S:
            break
    if spent(run, make(4 * length)) < FLOOR_S:
        return ""
    many = min(spent(run, make(4 * length)) for _ in range(3))
    few = min(spent(run, make(length)) for _ in range(3))
    return f"{few:.3f} s, then {many:.3f} s" if many >= FLOOR_S and many > MOST * few else ""


def test_a_pattern_costs_no_more_than_the_length_of_a_text() -> None:
    """Every pattern, as it is used. Those of every part of the package are among them."""
    patterns = all_used()
    assert len(patterns) > 250
    assert {"domain", "policy", "write", "store", "models"} <= {used.where.split(".")[1] for used in patterns}
    assert [wrong for used in patterns if (wrong := weakness(used))] == []


def weakness(used: Used) -> str:
    """The first text found that costs a pattern more than its length."""
    for number, (head, again) in enumerate(attacks(used.pattern)):
        end = ("!", "", "\n!", "a\x00")[number % 4]

        def make(length: int, head: str = head, again: str = again, end: str = end) -> str:
            return head + again * max(1, length // len(again)) + end

        if wrong := super_linear(used.run, make, 1_200):
            return f"{used.where}: {head!r} + {again!r} again and again + {end!r}: {wrong}"
    return ""


# -- entries ------------------------------------------------------------------------------------------------


def said(text: str, role: str = "user") -> Event:
    return Event(id=EventId("e"), item_id=ItemId("i"), ts=AT, author="mira", role=role, text=text)


def extraction(text: str) -> object:
    sentences.sentences.cache_clear()
    days.dated.cache_clear()
    return extract([said("Where do you live?", "assistant"), said(text)], frozenset({1}))


ENTRIES: Mapping[str, Callable[[str], object]] = {
    "redaction": redact,
    "sentences": sentences.sentences.__wrapped__,
    "words": sentences.words,
    "extraction": extraction,
    "planted orders": planted.planted,
    "secrets in words": secret_words.gives_away,
    "third person": lambda text: third_person.told(text, "Mira"),
    "days": lambda text: days.dated.__wrapped__(text, AT),
    "times": lambda text: dates.mentions(text, AT.date()),
    "question": lambda text: asked.asked(text, AT.date()).without(frozenset({"mira"})),
    "clean log": lambda text: noise.tidied(said(text, "tool")),
    "noise": lambda text: noise.is_noise(said(text), said(text)),
    "contents": contents.contents.__wrapped__,
    "names": lambda text: list(contents.names(text)),
    "numbers": lambda text: [
        contents.contents(text).has_number(one) for one in contents.numbers("3 cats and 7 dogs and 1")
    ],
    "statement without times": lambda text: contents.undated(text, AT.date()),
    "proof": lambda text: proof.prove(
        "Mira moved to Leeds with 3 cats on Monday if nobody objects.", [0], [said(text)], 0
    ),
    "statement trimmed": wording.fit,
    "statement checked": wording.check.__wrapped__,
    "statement to remember": lambda text: worded(said(text)),
    "clues": lambda text: clues.__wrapped__(text, text[::-1]),
    "chunks": lambda text: chunks.telling(text, chunks.chunks(text)),
    "topics": lambda text: topics.topics([(text, 1.0)], [text]),
    "summary read back": lambda text: notation.parse(text, ItemId("i")),
    "text index": lambda text: (indexed.spaced(text), indexed.phrases(text)),
    "note": lambda text: notes.markdown(text, "a.md", "mira"),
    "cost": pack.cost,
    "slice": lambda text: pack.slice_of(text, {"a": 1.0}, lambda part: pack.cost(part) < 100),
    "negation": bands.negated,
}
SIGNS = [*"a .!?\n\t1A-/'\"“`[]<(,;:_=%@\\#é中\u0301🙂…？。«~\r|&$*ßİ”"]  # noqa: RUF001
PIECES = [
    "a ", "a.", ". ", "! ", "? ", "\n ", " \n", "a\n", "1 ", "1.", "1,", "I ", "A ", "a/", "'a", '"a', "“a", "[a",
    "a, ", "[abc] ", "a. [abc] ", "- ", "# ", "a@", "tomorrow ", "May ", "on Monday ", "tomorrow, ", "1 May ",
    "until ", "not ", "hundred and ", "million ", "if ", "and I ", "; what ", ". what ", "what? ", "list only ",
    "my password is ", "password: ", "password=a1b2c3d4 ", "sk-", "eyJ", "key=", "://a:b@",
    "-----BEGIN PRIVATE KEY-----", "<!---->\n", "<script>", "```\n", "1% ", "1%[", "npm 1 ", " 's",
    "\u0315\u0300", "\U0001d165\u302e", "한 ", "no wait, ", "so far ", ", in order", "Mr. ", "Dr. A ", "v1.",
    "a1 ", "4111 ", "DE12 ", " [s:1-1]", "- a [s:1-1]\n", "# a\n", "---\n", "I live in Leeds. ",
    "We moved the board meeting to Thursday because the auditors come on Wednesday. ",
]  # fmt: skip


def mixture(seed: int) -> Callable[[int], str]:
    drawn = random.Random(seed)
    pieces = [drawn.choice(SIGNS + PIECES) for _ in range(drawn.choice((2, 3, 5, 12)))]

    def make(length: int) -> str:
        order = random.Random(seed)
        return "".join(order.choice(pieces) for _ in range(1 + length // min(map(len, pieces))))[:length]

    return make


def again(piece: str, head: str = "a", end: str = "!") -> Callable[[int], str]:
    return lambda length: head + (piece * (length // len(piece) + 1))[:length] + end


def hostile(entry: str) -> Iterator[tuple[str, Callable[[int], str]]]:
    """Every sign and piece again and again, and mixtures of them; in a plain run, a share of them that differs from
    entry to entry."""
    every = [
        *((repr(piece), again(piece)) for piece in SIGNS + PIECES),
        *((f"mixture {n}", mixture(n)) for n in range(examples(20))),
    ]
    yield from every if TIMES else random.Random(entry).sample(every, 12)
    yield from ((repr(piece), again(piece)) for piece in (".", " ", "1 ", "tomorrow, "))


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_entry_costs_no_more_than_the_length_of_a_text(entry: str) -> None:
    for name, make in hostile(entry):
        wrong = super_linear(ENTRIES[entry], make, 2_500)
        assert not wrong, f"{entry} of {name}: {wrong}"


def test_no_beginning_of_a_secret_is_read_on_from_thousands_of_times() -> None:
    """A run of beginnings from each of which a pattern reads on for thousands of signs: that is no square of a
    long text, and took seconds in one piece. It shows against a text in which there is not so much to read on."""
    far = [rule for rule in FORMATS if re.search(r"\{\d+,\d{4,}\}", rule.pattern.pattern)]
    assert {"jwt", "cookie"} <= {rule.kind for rule in far}
    for rule, sign in product(far, "-é"):
        for hint in rule.hints:
            found = re.search(re.escape(hint), rule.pattern.pattern, re.IGNORECASE)
            beginning = (found[0] if found else hint) + sign
            texts = [again(beginning)(length) for length in (1_000, 20_000)]
            few, many = (slowest(lambda text=text: redact(text)) for text in texts)
            assert many < FLOOR_S or many < 2 * 20 * few, f"{rule.kind}, {beginning}: {few:.4f} s, then {many:.4f} s"


# -- questions of very many words -----------------------------------------------------------------------------

MANY = [f"quay{number}" for number in range(3_200)]
LONG_TEXT = "The ferry leaves at noon, and nobody waits for it. " * 8_000


def slowest(run: Callable[[], object]) -> float:
    """The least of three, so that a busy machine fails no test."""

    def once() -> float:
        began = time.thread_time()
        run()
        return time.thread_time() - began

    return min(once() for _ in range(3))


def test_a_question_of_very_many_words_is_looked_for_in_a_long_text_at_the_cost_of_some():
    """Words times characters, for each of two hundred results: a question of 2,400 letters took eleven seconds."""

    def cut(words: list[str]) -> float:
        worth = dict.fromkeys(words, 1 / len(words))
        return slowest(lambda: pack.slice_of(LONG_TEXT, worth, lambda part: pack.cost(part) < 100))

    few, many = cut(MANY[:100]), cut(MANY)
    assert many < FLOOR_S or many < MOST * few, f"{few:.3f} s, then {many:.3f} s"


def test_the_words_of_a_question_that_a_text_has_are_found_among_many_that_it_has_not():
    worth = {word: 1.0 for word in MANY} | {"lighthouse": 2.0}
    text = LONG_TEXT + "The lighthouse is painted red. " + LONG_TEXT
    assert "lighthouse is painted red" in pack.slice_of(text, worth, lambda part: pack.cost(part) < 60)


def test_whom_a_line_speaks_of_is_told_without_a_pattern_for_each_name_of_a_question():
    line = "Quay7's dog sleeps. " + "The harbour is full of ships. " * 20
    assert silence.about(line, MANY) == {"quay7"}
    assert slowest(lambda: silence.about(line, MANY)) < FLOOR_S


def test_a_word_without_end_is_looked_for_by_its_beginning():
    for word in ("1.2.3." * 2_000, "a/" * 4_000, "é." * 2_000, "a_b-" * 3_000):
        assert max(len(re.findall(r"[^\W_]+", phrase)) for phrase in indexed.phrases(word)) <= 32
    assert indexed.phrases("src/recollect/store/words.py") == ["src/recollect/store/words.py"]
