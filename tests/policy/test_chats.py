"""People who chat with each other: what is told about lives is kept, what keeps the chat going is not."""

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from recollect.policy.wording import Sound, check
from recollect.write.extract import extract
from tests.policy.test_extract import turn

CHATS = Path(__file__).parent / "chats.jsonl"
AT = datetime(2026, 2, 10, 12, tzinfo=UTC)


def answered(*said: str) -> list[str]:
    """What the last of two people who speak in turns is remembered to have said."""
    events = [turn(("Inga", "Tor")[number % 2], "user", text, AT) for number, text in enumerate(said)]
    return [found.text for found in extract(events, frozenset({len(events) - 1}))]


@pytest.mark.parametrize(
    "text",
    [
        "You've got this! Never give up, buddy.",
        "That's amazing, I'm so proud of you!",
        "I'm always here to support you.",
        "This is going to be great.",
        "I'm so excited, it's such a wonderful feeling.",
        "Your shop looks lovely. You should be proud.",
        "Gardens help people relax and make life more enjoyable.",
        "Friday works.",
        "Yesterday was amazing!",
        "We should catch up soon.",
        "Don't worry about it, you'll do fine.",
        "Hard work always pays off in the end.",
        "Here's a photo of the boat.",
        "I'll definitely check it out.",
    ],
)
def test_cheer_praise_and_moods_are_left_alone(text: str):
    assert answered("How was the day?", text) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I just started fencing, it's great!", ["Tor", "started fencing"]),
        ("Great news - I signed the contract with the Bergen theatre yesterday, so exciting!", ["Tor", "Bergen"]),
        ("I love old westerns, they're so much fun.", ["Tor loves old westerns"]),
        ("Been busy volunteering at the food bank.", ["Tor", "volunteering at the food bank"]),
        ("Never been to Portugal.", ["Tor has never been to Portugal"]),
        ("I lost my job as a baker in January and I opened my own shop in May.", ["Tor", "baker", "shop"]),
    ],
)
def test_what_is_told_about_a_life_is_kept_without_its_adornment(text: str, words: Sequence[str]):
    (found,) = answered("What's new?", text)
    assert all(word in found for word in words), found
    assert not re.search(r"great|exciting|fun\b", found)


def test_you_is_the_other_person_and_never_the_assistant():
    said = ("I moved to Tromsø.", "I gave you the keys on 3 May, and you know that my sister Liv lives next door.")
    assert not [found for found in answered(*said) if "assistant" in found]


@pytest.mark.parametrize(
    "text",
    [
        "I saw the castle and the bridge. It needs repairs.",
        "Anna met Paula in Rome. She lives in Turin.",
        "I never had a chance to visit it.",
        "My uncle bought the farm and the mill. I have always wanted it.",
    ],
)
def test_a_pronoun_that_may_mean_two_things_is_not_resolved(text: str):
    assert not [found for found in answered("Hi!", text) if re.search(r"repairs|Turin|visit|wanted", found)]


def test_nobody_is_named_over_and_over():
    told = answered(
        "Hi!",
        "I lost my job at the mill in May, so I sold my flat, and I moved to my sister's since I was broke.",
    )
    assert told
    assert all(found.count("Tor") <= 3 for found in told)


@pytest.mark.parametrize(
    "text",
    [
        "I'm trying to fix the layout of the page in Firefox 128, but I'm having trouble with the grid.",
        "I've tried adding a margin to the container, but that doesn't work either.",
        "My code looks like this:",
        "Here's a sample checklist I started.",
        "I'd like to add more items to this checklist.",
    ],
)
def test_where_a_task_stands_is_not_kept(text: str):
    assert [found.text for found in extract([turn("user", "user", text)], frozenset({0}))] == []


def test_chats_that_no_rule_was_made_for_are_read_well():
    """Written before the rules for chats. Held under what is reached today, so that it shows a break."""
    facts = recalled = memories = junk = 0
    for line in CHATS.read_text(encoding="utf-8").splitlines():
        row: dict[str, Any] = json.loads(line)
        at = datetime.fromisoformat(row["messages"][0]["date"]).replace(hour=12, tzinfo=UTC)
        events = [turn(one["speaker"], one["role"], one["text"], at) for one in row["messages"]]
        found = [
            candidate.text
            for place in range(len(events))
            for candidate in extract(events[max(0, place - 6) : place + 1], frozenset({min(place, 6)}))
        ]
        assert all(check(text) == Sound() and "assistant" not in text for text in found)
        wanted: list[list[str]] = [fact["key_terms"] for fact in row["facts"]]
        matches = [[all(_has(text, term) for term in terms) for text in found] for terms in wanted]
        facts += len(wanted)
        recalled += sum(any(row) for row in matches)
        memories += len(found)
        junk += sum(not any(row[number] for row in matches) for number in range(len(found)))
    assert recalled / facts >= 0.6
    assert junk / memories <= 0.25


def _has(text: str, term: str) -> bool:
    return any(re.search(rf"(?<!\w){re.escape(one.lower())}(?!\w)", text.lower()) for one in term.split("|"))
