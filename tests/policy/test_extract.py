"""Memories out of conversations: what is kept, how it is told, and what is left alone."""

import json
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.domain.event import Event, Trust
from recollect.domain.ids import EventId, ItemId
from recollect.policy.candidate import Candidate
from recollect.policy.secrets import redact
from recollect.policy.wording import LONGEST, Sound, check
from recollect.write.extract import extract
from tests.hunt import examples
from tests.policy.said import DIALOGUES, KEPT, LEFT_ALONE, Turn

UNSEEN = Path(__file__).parent / "unseen.jsonl"
AT = datetime(2026, 2, 10, 12, tzinfo=UTC)


def turn(author: str, role: str | None, text: str, at: datetime = AT, trust: Trust | None = None) -> Event:
    trust = trust or (Trust.UNTRUSTED if role in ("tool", "document") else Trust.TRUSTED)
    thread = ItemId(str(uuid4()))
    return Event(id=EventId(str(uuid4())), item_id=thread, ts=at, author=author, role=role, text=text, trust=trust)


def kept(turns: Sequence[Turn], fresh: frozenset[int] | None = None) -> list[Candidate]:
    events = [turn(*said) for said in turns]
    return extract(events, frozenset(range(len(events))) if fresh is None else fresh, None)


def told(*turns: Turn) -> list[str]:
    return [candidate.text for candidate in kept(turns)]


def holds(text: str, words: Sequence[str]) -> bool:
    return all(word.lower() in text.lower() for word in words)


@pytest.mark.parametrize(
    ("who", "text", "facts"),
    [pytest.param(*case, id=f"{kind}: {case[1]}") for kind, cases in KEPT.items() for case in cases],
)
def test_what_somebody_says_is_kept_in_the_third_person(who: str, text: str, facts: list[list[str]]):
    found = told((who, "user", text))
    for words in facts:
        assert any(holds(each, words) for each in found), found
    assert len(found) <= len(facts)
    assert all(check(each) == Sound() for each in found)


@pytest.mark.parametrize(
    "text", [pytest.param(text, id=f"{kind}: {text}") for kind, texts in LEFT_ALONE.items() for text in texts]
)
def test_what_states_nothing_is_left_alone(text: str):
    assert told(("Kari", "user", text)) == []


@pytest.mark.parametrize(
    ("turns", "facts", "forbidden"), [pytest.param(*case, id=name) for name, case in DIALOGUES.items()]
)
def test_a_conversation_is_read_as_one(turns: list[Turn], facts: list[list[str]], forbidden: list[str]):
    found = told(*turns)
    for words in facts:
        assert any(holds(each, words) for each in found), found
    assert not [word for word in forbidden if any(word.lower() in each.lower() for each in found)]
    assert len(found) <= len(facts)


# -- what goes with a memory --------------------------------------------------------------------------------


def test_a_decision_is_witnessed_by_the_offer_and_by_the_yes():
    (found,) = kept([("Assistant", "assistant", "Should I move the logs to S3?"), ("Ulla", "user", "yes, do it")])
    assert found.witnesses == (0, 1)
    assert found.tags == ("DECISION",)


def test_a_correction_is_marked_and_witnessed_by_what_it_corrects():
    (found,) = kept([("Nils", "user", "My locker number is 214."), ("Nils", "user", "wait, it's 241")])
    assert found.corrects
    assert found.witnesses == (0, 1)


def test_a_correction_of_something_said_before_is_read_with_it():
    turns = [("Nils", "user", "My locker number is 214."), ("Nils", "user", "wait, it's 241")]
    (found,) = kept(turns, frozenset({1}))
    assert "241" in found.text
    assert found.corrects


def test_what_was_said_before_is_context_and_not_kept_again():
    turns = [("Ragna", "user", "My aunt Solveig lives in Voss."), ("Ragna", "user", "She is selling the farm.")]
    (found,) = kept(turns, frozenset({1}))
    assert found.text == "Ragna's aunt Solveig is selling the farm."
    assert found.witnesses == (1,)


@pytest.mark.parametrize(
    ("text", "private"),
    [
        ("I'm taking antidepressants since June.", True),
        ("My salary is 48,000 euros.", True),
        ("My parents are getting divorced.", True),
        ("I'm moving to Turin, but don't tell my boss.", True),
        ("I work as a gardener in Ghent.", False),
        ("The build takes 11 minutes on CI.", False),
    ],
)
def test_health_money_and_confidences_are_private(text: str, private: bool):
    (found,) = kept([("Mara", "user", text)])
    assert found.private is private


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("I prefer tea to coffee.", "preferences"),
        ("I live in Ghent and work as a gardener.", "profile"),
        ("My brother Ole lives in Oslo.", "relationships"),
        ("I want to run a marathon in Hamburg.", "goals"),
        ("I need to renew my passport by 3 March.", "tasks"),
        ("My sister's wedding is on 3 June.", "event"),
        ("We decided to use Go for the gateway service.", "projects"),
        ("Whenever the schema changes, run `make proto` in the api repo.", "procedural"),
        ("The staging database listens on port 6432.", "knowledge"),
    ],
)
def test_a_memory_is_put_where_it_belongs(text: str, category: str):
    (found,) = kept([("Mara", "user", text)])
    assert found.category == category


def test_what_may_do_harm_matters_most():
    (allergy,) = kept([("Mara", "user", "I'm allergic to peanuts.")])
    (liking,) = kept([("Mara", "user", "I usually like the window seat on flights to Rome.")])
    assert allergy.importance == 5
    assert liking.importance < 4


def test_a_fact_has_a_key_that_a_later_value_shares():
    (first,) = kept([("Mara", "user", "My locker number is 214.")])
    (second,) = kept([("Mara", "user", "My locker number is 377.")])
    assert first.body.key == second.body.key == "mara's locker number"
    assert (first.body.value, second.body.value) == ("214", "377")


def test_somebody_without_a_name_is_the_user():
    assert told(("user", "user", "I live in Ghent.")) == ["The user lives in Ghent."]


@pytest.mark.parametrize(
    "text",
    [
        "Ich wohne in Köln und habe zwei Katzen.",
        "Je suis infirmière et je travaille à Lyon.",
        "Soy profesora y tengo dos hijos en Sevilla.",
        "Я живу в Казани и работаю врачом.",
        "私は大阪に住んでいます。",
    ],
)
def test_what_is_said_in_another_language_stays_evidence(text: str):
    """The rules of the third person are those of English; a language model may do better."""
    assert told(("Mara", "user", text)) == []


def test_a_foreign_name_does_not_make_a_sentence_foreign():
    assert told(("Mara", "user", "My sister lives on Rue de la Paix in Orléans.")) == [
        "Mara's sister lives on Rue de la Paix in Orléans."
    ]


def test_a_long_turn_is_packed_rather_than_cut():
    text = "I live in Ghent. I have two cats, Ole and Nils. I work at Bol. I play chess in Gent-Noord. My wife is Ine."
    events = [turn("Mara", "user", text)]
    everything = " ".join(candidate.text for candidate in extract(events, frozenset({0}), None, most=5))
    packed = extract(events, frozenset({0}), None, most=3)
    assert len(packed) == 3
    assert sorted(re.findall(r"[A-Z]\w+", " ".join(candidate.text for candidate in packed))) == sorted(
        re.findall(r"[A-Z]\w+", everything)
    )


@pytest.mark.parametrize("role", ["tool", "document", "system", "assistant"])
def test_only_people_state_things(role: str):
    assert told(("X", role, "Mara lives in Ghent and works at the bakery on Main Street.")) == []


def test_a_person_who_is_not_trusted_states_nothing():
    event = turn("Guest", "user", "I live in Ghent.", trust=Trust.UNTRUSTED)
    assert extract([event], frozenset({0}), None) == []


# -- whatever comes -----------------------------------------------------------------------------------------

WORDS = st.sampled_from(
    [word for cases in KEPT.values() for _, text, _ in cases for word in text.split()]
    + [
        "I",
        "we",
        "it",
        "she",
        "they",
        "my",
        "?",
        "!",
        ".",
        ",",
        ":",
        '"',
        "`",
        "\n",
        "no wait,",
        "yes",
        "if",
        "password is x9!",
    ]
)
SPEECH = st.one_of(st.text(min_size=1, max_size=300), st.lists(WORDS, min_size=1, max_size=60).map(" ".join)).filter(
    lambda text: bool(text.strip()) and "\x00" not in text and text.isprintable() | text.isascii() and _encodes(text)
)
ROLES = st.sampled_from(["user", "assistant", "tool", "system", "document", None])


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.tuples(ROLES, SPEECH), min_size=1, max_size=5), st.data())
def test_whatever_is_said_yields_sound_memories_with_fresh_witnesses(
    said: list[tuple[str | None, str]], data: st.DataObject
):
    events = [turn("Ana" if role != "assistant" else "Assistant", role, text) for role, text in said]
    fresh = frozenset(data.draw(st.sets(st.integers(0, len(events) - 1))))
    for found in extract(events, fresh, None):
        assert check(found.text) == Sound()
        assert set(found.witnesses) <= set(range(len(events)))
        assert fresh.intersection(found.witnesses)
        assert not redact(found.text).found


@pytest.mark.parametrize("bare", ["A .", "the '.', then", "my ./. is", "this #", "no -- a /,b"])
def test_a_determiner_without_a_word_is_no_noun_phrase(bare: str):
    assert not extract([turn("Ana", "user", bare)], frozenset({0}), None)


@pytest.mark.parametrize(
    "hostile",
    ["I " * 10_000, "a" * 20_000, "my " * 8_000, '"' * 20_000, "it's " * 5_000, "I am " + "very " * 5_000,
     "a/" * 10_000, "no wait, " * 2_500, "```" * 7_000, "if " * 8_000, ", and I " * 3_000, "x. " * 7_000,
     "the " * 6_000],
)  # fmt: skip
def test_a_hostile_turn_is_read_to_its_end(hostile: str):
    """What that costs is in bench.freeze."""
    found = extract([turn("Ana", "user", hostile)], frozenset({0}), None)
    assert all(len(one.text) <= LONGEST for one in found)


# -- rows written before the rules were tuned ---------------------------------------------------------------


def unseen() -> Iterator[dict[str, Any]]:
    for line in UNSEEN.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def test_turns_that_no_rule_was_made_for_are_read_well():
    """Set aside before the rules were tuned. Held far under what is reached today, so that it shows a break."""
    facts = recalled = memories = junk = empty = stayed = 0
    for row in unseen():
        found = told(*((one["speaker"], one["role"], one["text"]) for one in row["messages"]))
        wanted: list[list[str]] = [fact["key_terms"] for fact in row["facts"]]
        matches = [[all(_has(text, term) for term in terms) for text in found] for terms in wanted]
        facts += len(wanted)
        recalled += sum(any(row) for row in matches)
        memories += len(found)
        junk += sum(not any(row[number] for row in matches) for number in range(len(found)))
        empty += not wanted
        stayed += not wanted and not found
    assert recalled / facts >= 0.75
    assert junk / memories <= 0.2
    assert stayed / empty >= 0.9


def _has(text: str, term: str) -> bool:
    return any(re.search(rf"(?<!\w){re.escape(one.lower())}(?!\w)", text.lower()) for one in term.split("|"))
