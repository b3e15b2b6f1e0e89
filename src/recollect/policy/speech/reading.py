"""A conversation read for what is worth keeping: turn by turn, sentence by sentence, in the order it was said.

Only what people say of their own accord counts. An assistant's words count where somebody agreed to them; tools,
documents and system prompts are evidence, not statements.
"""

import re
from collections.abc import Sequence

from recollect.domain.event import Event
from recollect.domain.judgement import Heard
from recollect.policy.secrets import redact
from recollect.policy.speech import referents
from recollect.policy.speech import turns as whole_turns
from recollect.policy.speech.amends import corrects, takes_back
from recollect.policy.speech.draft import Draft
from recollect.policy.speech.sentences import sentences
from recollect.policy.speech.speakers import ASSISTANT, is_person, listener, name_of
from recollect.policy.speech.telling import LATELY, Turn
from recollect.policy.speech.thread import Thread
from recollect.policy.speech.weighing import Weights, heard
from recollect.policy.speech.worth import technical

_RECENT = 3
"""Turns back that "she" may point to."""
LONGEST_TURN = 20_000
"""Characters of a turn that are read. A longer one is a paste, and its beginning says what it is."""
_SOMEBODY = re.compile(r"\b(?:he|she|him|her|his|hers)\b", re.IGNORECASE)
_SOMETHING = re.compile(r"\b(?:it|its|they|them|their|that)\b", re.IGNORECASE)


def asked(turns: Sequence[Event], fresh: frozenset[int]) -> dict[tuple[int, str], Heard]:
    """What a keeper is asked before the fresh turns are read. Nothing of prompts and injections: no word of a keeper
    could make statements of them."""
    said = {place: redact(_read_of(turns[place], known=False)).text for place in fresh if is_person(turns[place])}
    return heard(turns, {place: text for place, text in said.items() if not _orders(text)})


def read(turns: Sequence[Event], fresh: frozenset[int], weights: Weights | None = None) -> list[Draft]:
    """The statements of the fresh turns, corrected by what was said later. The others tell who and what is spoken of.
    `weights`: what a keeper answered when it was `asked`; without one the rules alone say what is worth keeping.

    What others state is read again only where a fresh turn may correct it, and they are skimmed where no pronoun of a
    fresh turn can point to them.
    """
    thread = Thread()
    first = min(fresh, default=len(turns))
    corrected = any(_amends(turns[place].text) for place in fresh)
    since = _pointed_to(turns, fresh, first)
    for place, turn in enumerate(turns):
        known = place not in fresh and not corrected
        text = _read_of(turn, known=place not in fresh)
        if not (known and place < since):
            text = redact(text).text
        _place_of_work(thread, turns, place, text)
        if is_person(turn):
            if known and place < since:
                thread.plays(text)
            elif not _orders(text):
                Turn(thread, turns, place, text, weights or {}).read(known=known, recent=place >= since)
        elif turn.role == "assistant" and place >= since and not whole_turns.injects(text):
            for sentence in sentences(text):
                thread.referents = referents.after(thread.referents, sentence.text, name_of(turn), own=False)
    return thread.drafts


def _pointed_to(turns: Sequence[Event], fresh: frozenset[int], first: int) -> int:
    """From which turn on a pronoun of the fresh ones may mean somebody or something named there."""
    said = [turns[place].text[:LONGEST_TURN] for place in fresh]
    if any(_SOMEBODY.search(text) for text in said):
        return first - _RECENT
    return first - 1 if any(_SOMETHING.search(text) for text in said) else first


def _orders(text: str) -> bool:
    """Whether a turn tells an assistant what it is or what it has to do for whom: nothing of it is a statement."""
    return whole_turns.prompts(text) or whole_turns.injects(text)


def _place_of_work(thread: Thread, turns: Sequence[Event], place: int, text: str) -> None:
    """Whether the conversation is about work on a system, as far as this turn shows."""
    turn = turns[place]
    if turn.role == "system" or thread.at_desk:
        return
    thread.at_desk = technical(text, sure=True)
    chat = is_person(turn) and listener(turns, place) != ASSISTANT
    thread.technical = thread.technical or thread.at_desk or (not chat and technical(text))


def _read_of(turn: Event, *, known: bool) -> str:
    """As much of a turn as is read: the end of what an assistant said, the beginning of what is known or a paste."""
    if turn.role == "assistant":
        return turn.text[-LATELY:]
    return turn.text[: 2 * LATELY if known or not is_person(turn) else LONGEST_TURN]


def _amends(text: str) -> bool:
    """Whether a turn may correct what was said before it."""
    return any(corrects(sentence.text) or takes_back(sentence.text) for sentence in sentences(text[:LONGEST_TURN]))
