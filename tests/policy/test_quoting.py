"""What is quoted was said: the words of a memory stand in its witnesses, in a frame that nothing in them can break."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings

from recollect.domain.event import Event
from recollect.domain.quotation import Excerpt, Quotation
from recollect.policy.calendar import MONTHS
from recollect.policy.speech.planted import planted
from recollect.policy.speech.quoting import CUT, GAP, pieces
from recollect.policy.speech.secret_words import gives_away
from recollect.policy.speech.sentences import sentences
from recollect.policy.wording import LONGEST
from recollect.write.extract import extract
from tests.hunt import examples
from tests.policy.talk import LINES, Fake, Line, keepers, kept, served, turns, weighed, worth

_MONTH = "|".join(MONTHS)
_DAY = rf"\d{{1,2}} (?:{_MONTH}) \d{{4}}"
_FRAME = re.compile(
    rf'(?:(?:Asked|After) "(?P<asked>[^"]*)", (?P<answers>[^"]+) (?:answered|said) on {_DAY}|(?P<says>[^"]+), {_DAY}): '
    r'"(?P<words>[^"]*)"'
)
_TIME = re.compile(
    rf"{_DAY}|week(?:end)? of {_DAY}|(?:around )?(?:{_MONTH}) \d{{4}}|(?:spring|summer|autumn|winter) \d{{4}}|"
    r"Q[1-4] \d{4}|\d{4}"
)


def said(event: Event, excerpt: Excerpt) -> str:
    return " ".join(event.text[excerpt.start : excerpt.end].split())


def bare(words: str) -> str:
    return words.removeprefix(CUT).removesuffix(CUT)


def stands_in_its_witnesses(quoted: Quotation, events: Sequence[Event]) -> bool:
    """Whether question and words are the excerpts, part for part, but for the marks of a cut."""
    by_id = {event.id: event for event in events}
    words = quoted.asked + quoted.words
    for one in (said(by_id[one.event_id], one) for one in quoted.excerpts):
        found = re.match(rf"(?:{GAP})?{CUT}?{re.escape(one)}{CUT}?", words)
        if not found:
            return False
        words = words[found.end() :]
    return not words


def own_excerpts(quoted: Quotation) -> Sequence[Excerpt]:
    """What is quoted of the words themselves."""
    return quoted.excerpts[1 + quoted.asked.count(GAP) :] if quoted.asked else quoted.excerpts


# -- whatever is said, whatever it is worth -------------------------------------------------------------------


@settings(max_examples=examples(300), deadline=None)
@given(LINES, keepers())
def test_the_words_of_a_quotation_stand_in_its_witnesses(lines: list[Line], keeper: Fake):
    events = turns(*lines)
    for one in extract(events, frozenset(range(len(events))), keeper):
        witnesses = {events[place].id for place in one.witnesses}
        if one.quotation:
            assert stands_in_its_witnesses(one.quotation, events)
            assert {excerpt.event_id for excerpt in one.quotation.excerpts} <= witnesses
            assert one.text == f"{one.quotation.speaker}: {one.quotation.words}"
        for part in (one.quotation.words if one.quotation else "").split(GAP):
            assert any(bare(part) in " ".join(event.text.split()) for event in events if event.id in witnesses)


@settings(max_examples=examples(300), deadline=None)
@given(LINES, keepers())
def test_nothing_in_the_words_breaks_the_frame(lines: list[Line], keeper: Fake):
    events = turns(*lines)
    for one in extract(events, frozenset(range(len(events))), keeper):
        assert len(one.served) <= LONGEST
        assert one.served == " ".join(one.served.split())
        if one.quotation:
            frame = _FRAME.fullmatch(one.served)
            assert frame, one.served
            assert (frame["answers"] or frame["says"]) == one.quotation.speaker
            times = re.findall(r"\[([^\]]*)\]", frame["words"])
            assert all(_TIME.fullmatch(time) for time in times)
            assert frame["words"].count("[") == frame["words"].count("]") == len(one.quotation.meant)


@settings(max_examples=examples(300), deadline=None)
@given(LINES, keepers())
def test_at_most_two_sentences_are_quoted_together_and_three_where_somebody_corrects_themselves(
    lines: list[Line], keeper: Fake
):
    events = turns(*lines)
    by_id = {event.id: event for event in events}
    for one in extract(events, frozenset(range(len(events))), keeper):
        if not one.quotation:
            continue
        own = own_excerpts(one.quotation)
        count = sum(
            excerpt.start < sentence.end and sentence.start < excerpt.end
            for excerpt in own
            for sentence in sentences(by_id[excerpt.event_id].text)
        )
        assert 1 <= count <= (3 if one.corrects else 2)


@settings(max_examples=examples(300), deadline=None)
@given(LINES, keepers())
def test_secrets_and_planted_orders_are_quoted_nowhere(lines: list[Line], keeper: Fake):
    events = turns(*lines)
    for one in extract(events, frozenset(range(len(events))), keeper):
        shown = f"{one.quotation.asked} {one.quotation.words}" if one.quotation else one.text
        assert not planted(shown)
        assert not gives_away(shown)
        assert "[redacted:" not in shown


# -- frames -----------------------------------------------------------------------------------------------------


def test_a_quotation_says_who_said_it_and_when():
    [one] = kept(("Mira", "We moved the release to Thursdays, because testing takes two days."))
    assert one.served == 'Mira, 3 May 2025: "We moved the release to Thursdays, because testing takes two days."'
    assert one.text == "Mira: We moved the release to Thursdays, because testing takes two days."


def test_inner_quotation_marks_become_single_and_brackets_round():
    [one] = kept(("Mira", 'We call it "the barn" [the old one], and “Tom” likes it.'))
    assert one.served == "Mira, 3 May 2025: \"We call it 'the barn' (the old one), and 'Tom' likes it.\""


def test_words_over_several_lines_stand_on_one():
    [one] = kept(("Mira", "We sold the old barn.\nThe buyer is from Leeds."))
    assert one.quotation is not None
    assert one.quotation.words == "We sold the old barn. The buyer is from Leeds."


def test_of_a_document_the_frame_is_its_file_heading_and_day():
    [event] = turns(("notes", "document", "The barn was sold to Leeds."))
    made = Quotation(
        speaker="notes",
        said_at=event.ts,
        words=event.text,
        excerpts=(Excerpt(event.id, 0, len(event.text)),),
        place="notes.md › Barn",  # noqa: RUF001
    )
    assert made.framed == 'notes.md › Barn, 3 May 2025: "The barn was sold to Leeds."'  # noqa: RUF001


@pytest.mark.parametrize(
    "fields",
    [{"words": " "}, {"excerpts": ()}, {"words": "a\x00b"}, {"speaker": " "}],
)
def test_a_quotation_without_words_speaker_or_witness_cannot_be_built(fields: dict[str, object]):
    [event] = turns(("Mira", "We sold the old barn."))
    whole = {
        "speaker": "Mira",
        "said_at": event.ts,
        "words": event.text,
        "excerpts": (Excerpt(event.id, 0, len(event.text)),),
    }
    with pytest.raises(ValueError, match=r"."):
        Quotation(**{**whole, **fields})  # type: ignore[arg-type]


def test_the_examples_of_the_documentation_are_what_is_made():
    page = (Path(__file__).parents[2] / "docs" / "memory.md").read_text("utf-8")
    [quoted] = served(("Mira", "We start at the clinic on friday, three days a week."))
    [answered] = served(("assistant", "Which day?"), ("Mira", "the 9th"))
    club = ("Tom", "The club wants to move us to tuesdays.")
    *_, said = served(club, ("Mira", "Then they can play without me."))
    [told] = served(("Mira", "I'm allergic to walnuts."))
    assert all(one in page for one in (quoted, answered, said, told))


# -- cuts ---------------------------------------------------------------------------------------------------------

LONG = "the carpenters from the harbour bring the boards and the paint for the stage and the two old boats"


def cut(text: str, room: int = 150) -> list[str]:
    [sentence] = sentences(text)
    return [text[one.start : one.end] for one in pieces(0, sentence, room)]


def test_a_long_sentence_is_cut_at_a_clause_with_a_mark():
    told = served(("Mira", f"On 5 June {LONG}, and on 7 June Ruth and 12 helpers carry all of it, {LONG}, {LONG}."))
    assert told
    assert all(len(one) <= LONGEST for one in told)
    assert told[0].endswith('…"')


@pytest.mark.parametrize(
    "bound",
    ["unless it rains", "if Ruth agrees", "not the paint", "never the boats", "only on Mondays", "except Tom",
     "wenn Ruth kommt", "pas le bois", "не лодки"],
)  # fmt: skip
def test_a_cut_at_a_comma_never_loses_a_negation_or_a_condition(bound: str):
    """Before it or behind it: neither is the first part told without, nor the second."""
    after = cut(f"We hire {LONG}, {bound}, {LONG}")
    assert all(bound in one for one in after), after
    before = cut(f"{bound} and {LONG}, {LONG} on 5 June, {LONG}")
    assert all(bound in one for one in before), before


def test_what_cannot_be_cut_at_a_clause_is_not_cut():
    assert served(("Mira", "we hire " + "boats and boards and paint and nails " * 12)) == []


# -- what belongs together ----------------------------------------------------------------------------------------


def test_neighbours_that_are_both_kept_are_quoted_together_but_never_three():
    told = [
        one.quotation.words
        for one in kept(("Mira", "We sold the two boats. We sold all the nets. We sold the long oars."))
        if one.quotation
    ]
    assert told == ["We sold the two boats. We sold all the nets.", "We sold the long oars."]


@pytest.mark.parametrize(
    "leaning",
    ["It opens in June.", "He likes boats.", "That one is green.", "And they pay well.", "Only on Mondays.",
     "Ben said she paints."],
)  # fmt: skip
def test_a_sentence_that_leans_on_the_one_before_comes_with_it(leaning: str):
    keep = {leaning.split(" ", 1)[1][:-1]: weighed()}
    [one] = kept(("Mira", f"Ruth runs the mill with Tom. {leaning}"), keeper=worth(**keep))
    assert one.quotation is not None
    assert one.quotation.words == f"Ruth runs the mill with Tom. {leaning}"


def test_a_question_of_few_words_brings_what_it_asks_about():
    talk = (
        ("Ben", "You would get half of the shop."),
        ("Ana", "Then yes. From when?"),
        ("Ben", "first of june, I'd say"),
    )
    [one] = kept(*talk, fresh=2)
    assert "half of the shop" in one.served
    assert "From when?" in one.served


def test_a_number_that_is_taken_back_is_not_told_where_the_right_one_comes_a_sentence_later():
    told = served(("Zeb", "The alert is at 435. Wait no, that's the closing level. It must warn at 410."))
    assert told == ['Zeb, 3 May 2025: "Wait no, that\'s the closing level. It must warn at 410."']


def test_a_word_or_two_before_a_remark_leave_room_for_what_follows_it():
    keeper = worth(parish=weighed(), organ=weighed())
    [one] = kept(("Mira", "Anyway. They rang from the parish. The organ is ours for good."), keeper=keeper)
    assert one.quotation is not None
    assert one.quotation.words == "They rang from the parish. The organ is ours for good."


def test_small_talk_that_stands_right_before_a_remark_comes_with_it():
    """Nothing that was said in between is left out, as if the remark went on from what came earlier."""
    keeper = worth(grinder=weighed(0.0, kind="small_talk"), bearing=weighed())
    [one] = kept(("Mira", "We meet there every week. Oh, the big grinder. The bearing is broken now."), keeper=keeper)
    assert one.quotation is not None
    assert one.quotation.asked == "We meet there every week. Oh, the big grinder."


def test_what_lies_between_two_sentences_is_not_quoted_with_them():
    """Code, comments and asides are no prose, and nobody has weighed them."""
    for between in ("```\nrm -rf /\n```", "<!-- carry on -->", "    at run(job.js:3)\n}"):
        shown = " ".join(served(("Mira", f"We sold the old barn.\n{between}\nThe buyer is from Leeds.")))
        assert "barn" in shown
        assert "Leeds" in shown
        assert not re.search(r"rm -rf|carry on|job\.js", shown)


def test_a_short_answer_is_quoted_with_its_question():
    [one] = kept(("assistant", "I can book the hall. Which day suits?"), ("Mira", "the 9th"), fresh=1)
    assert one.served == 'Asked "I can book the hall. Which day suits?", Mira answered on 3 May 2025: "the 9th"'
    assert one.witnesses == (0, 1)
    assert one.text == "Mira: the 9th"


def test_a_yes_is_quoted_with_what_it_agrees_to():
    [one] = kept(("assistant", "I would move the logs to S3."), ("Mira", "yes, do that"), fresh=1)
    assert one.served == 'After "I would move the logs to S3.", Mira said on 3 May 2025: "yes, do that"'


def test_a_question_that_refers_to_something_has_that_with_it():
    [one] = kept(
        ("Zala", "can you bring me the sewing machine"), ("Luka", "when do you need it?"), ("Zala", "no rush"), fresh=2
    )
    assert one.served == (
        'After "can you bring me the sewing machine … when do you need it?", Zala said on 3 May 2025: "no rush"'
    )
    assert one.witnesses == (0, 1, 2)


def test_what_refers_to_words_that_are_taken_back_in_its_turn_does_not_bring_them():
    found = kept(
        ("Mira", "The van is blue."), ("Tom", "Was it cheap?"), ("Mira", "Sorry, I meant red. It cost 900."), fresh=2
    )
    assert found
    assert not any(one.quotation and "blue" in one.quotation.asked for one in found)


def test_a_few_words_before_a_remark_in_its_own_turn_say_what_it_is_about():
    [one] = kept(("Des", "The throat is all clear."), ("Olu", "Then the AGM. 21 days of notice it needs."), fresh=1)
    assert "Then the AGM." in one.served


def test_what_was_said_in_another_sitting_is_no_context():
    """However many turns of the same talk lie between."""
    said = ("We go up to the cemetery.", "She wants the blue ones.", "ok. it is on the 28th")
    events = turns(*(("Ann", one) for one in said))
    events[2] = replace(events[2], ts=events[1].ts + timedelta(days=85))
    found = extract(events, frozenset({2}), Fake())
    assert found
    assert all(one.witnesses == (2,) for one in found)


def test_a_name_before_a_remark_in_its_own_turn_comes_with_it():
    found = kept(("Ann", "name? job?"), ("Colm", "Aoife. she's a vet nurse in Fermoy."), fresh=1)
    assert all("Aoife." in one.served for one in found)


def test_a_question_for_yes_or_no_brings_what_stands_before_it():
    found = kept(("assistant", "A friend as much as a tenant. Is there family?"), ("Moira", "daughter ewa"), fresh=1)
    assert [one.served for one in found] == [
        'After "A friend as much as a tenant. Is there family?", Moira said on 3 May 2025: "daughter ewa"'
    ]


def test_an_answer_that_stands_by_itself_comes_without_its_question():
    [one] = kept(
        ("assistant", "Where shall the party be?"),
        (
            "Mira",
            "The party of the whole team is in the boathouse by the old harbour, and Ruth brings the boards and Tom.",
        ),
        fresh=1,
    )
    assert one.quotation is not None
    assert not one.quotation.asked
    assert one.witnesses == (1,)


@pytest.mark.parametrize("role", ["tool", "document", "system"])
def test_what_no_one_said_is_no_question(role: str):
    [one] = kept(("x", role, "Which day suits?"), ("Mira", "on the 9th of May, then"), fresh=1)
    assert one.quotation is not None
    assert not one.quotation.asked


# -- corrections --------------------------------------------------------------------------------------------------


def test_a_correction_is_quoted_with_what_it_takes_back_which_is_kept_no_longer_by_itself():
    [one] = kept(("Mira", "Our locker number is 214."), ("assistant", "Noted."), ("Mira", "no wait, it's 241"))
    assert one.corrects
    assert one.witnesses == (0, 2)
    assert one.quotation is not None
    assert one.quotation.words == "Our locker number is 214 … no wait, it's 241"


def test_a_correction_that_is_said_in_the_next_sentence_has_it_with_it():
    found = kept(("Mira", "Our locker number is 214."), ("Mira", "Typo, sorry! It is 241."))
    [one] = found
    assert one.quotation is not None
    assert one.quotation.words == "Our locker number is 214 … Typo, sorry! It is 241."


def test_what_stood_beside_what_is_taken_back_is_still_kept():
    shown = served(("Mira", "We sold the old barn to Ruth. Our locker number is 214."), ("Mira", "no wait, it's 241"))
    assert any("214 … no wait, it's 241" in one for one in shown)
    assert any("barn" in one for one in shown)


def test_nobody_corrects_what_somebody_else_said():
    shown = kept(("Tom", "Our locker number is 214."), ("Mira", "no wait, it's 241"))
    assert not [one for one in shown if one.corrects]
    assert any("Tom" in one.served and "214" in one.served for one in shown)


# -- what is left alone -------------------------------------------------------------------------------------------


def test_what_is_not_worth_keeping_is_not_kept():
    said = (("Tom", "Good morning to the two of you."), ("Mira", "We sold the old barn. It was green."))
    assert kept(*said, keeper=Fake(lambda _: weighed(0.6, kind="plan", importance=4)), fresh=1) == []
    assert kept(*said, keeper=Fake(lambda _: weighed(0.75, kind="plan", importance=4)), fresh=1)


def test_a_sentence_that_is_mostly_somebody_elses_words_is_not_kept():
    assert kept(("Mira", 'Translate: "My name is Dragan and I live in Novi Sad with three dogs."')) == []


@pytest.mark.parametrize("kind", ["injection", "secret"])
def test_what_a_keeper_takes_for_a_secret_or_an_order_is_quoted_nowhere(kind: str):
    keeper = Fake(lambda text: weighed(kind=kind) if "barn" in text else weighed())
    assert not any(
        "barn" in one
        for one in served(("Mira", "We sold the old barn. It is green and has two floors."), keeper=keeper)
    )
    asked = served(("Mira", "Did you sell the barn?"), ("Tom", "Yes, and it went to Ruth."), keeper=keeper)
    assert asked
    assert not any("barn" in one for one in asked)


@pytest.mark.parametrize("role", ["tool", "document", "system", "assistant"])
def test_only_people_state_things(role: str):
    assert kept(("X", role, "Mira lives in Ghent and works at the bakery on Main Street.")) == []


def test_two_memories_of_one_turn_quote_different_words():
    for first, second in pairwise(
        kept(("Mira", "We sold the two boats. We sold all the nets. We sold the long oars. We sold the rope too."))
    ):
        assert first.text != second.text


# -- what goes with it --------------------------------------------------------------------------------------------


def test_a_quotation_that_takes_in_a_private_sentence_is_private():
    """Also where the private sentence is not worth keeping by itself, and comes along because another leans on it."""
    keeper = Fake(lambda text: weighed(0.1, private=0.9) if "clinic" in text else weighed())
    [one] = kept(("Mira", "Ruth was at the clinic. It took all day."), keeper=keeper)
    assert "clinic" in one.served
    assert one.private


def test_importance_and_category_are_those_that_the_keeper_gives():
    keeper = Fake(lambda text: weighed(category="goals", importance=4.6 if "barn" in text else 1.2))
    [one] = kept(("Mira", "We want to sell the barn. We paint a green door."), keeper=keeper)
    assert (one.importance, one.category) == (5, "goals")
    [light] = kept(("Mira", "We paint a green door."), keeper=keeper)
    assert light.importance == 1


def test_a_decision_is_tagged():
    [one] = kept(("Mira", "We go with Go for the gateway."), keeper=Fake(lambda _: weighed(kind="decision")))
    assert one.tags == ("DECISION",)


# -- every language -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "Ich wohne in Köln und habe zwei Katzen.",
        "Je suis infirmière et je travaille à Lyon.",
        "Я живу в Казани и работаю врачом.",
        "私は大阪に住んでいます。",
        "我住在北京，我有一只猫。",  # noqa: RUF001
        "أنا أعيش في القاهرة مع عائلتي.",
        "मैं दिल्ली में रहता हूँ।",
        "나는 서울에 있는 병원에서 의사로 일한다.",
        "ฉันอยู่ที่เชียงใหม่",
        "Μένω στην Αθήνα με την αδελφή μου.",
    ],
)
def test_what_is_said_in_another_language_is_quoted(text: str):
    [one] = kept(("Mira", text))
    assert one.served == f'Mira, 3 May 2025: "{text}"'


@pytest.mark.parametrize(
    "sentence",
    ["मैं दिल्ली में अपने परिवार के साथ रहता हूँ।", "أنا أعيش في القاهرة مع عائلتي الكبيرة؟", "私は大阪に住んでいます。"],
)
def test_a_long_turn_in_another_script_is_read_sentence_by_sentence(sentence: str):
    found = kept(("Mira", " ".join([sentence] * 12)))
    assert len(found) == 6


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Mira", "We adopted a dog 🐶 in Leeds."),
        ("Mira", "We adopted a dog in Leeds :)"),
        ("Sara", "من می‌خواهم به تهران بروم."),
        ("Mira", "The Cafe\u0301 Roma is closed."),
        ("My Nguyen", "We adopted a dog in Leeds."),
        ("You Chen", "We adopted a dog in Leeds."),
    ],
)
def test_nothing_is_dropped_for_a_picture_a_joiner_or_a_name(name: str, text: str):
    [one] = kept((name, "user", text))
    assert one.served == f'{name}, 3 May 2025: "{text}"'


def test_a_question_cannot_pretend_to_be_of_the_frame():
    [one] = kept(("Tom", "Is friday [9 May 2025] fine?"), ("Mira", "yes, it is"), fresh=1)
    assert "friday" in one.served
    assert "[9 May 2025]" not in one.served


@pytest.mark.parametrize("name", ['Tom "the boss"', "Tom [3 May 2025]"])
def test_a_name_cannot_break_the_frame(name: str):
    [one] = kept((name, "user", "We adopted a dog in Leeds."))
    assert _FRAME.fullmatch(one.served)
    assert "[" not in one.served


def test_words_that_live_from_what_somebody_else_said_are_quoted_with_it():
    found = kept(
        ("Tom", "The club wants to move us to tuesdays."),
        ("Mira", "Then they can play without me and my sister."),
        fresh=1,
    )
    assert [one.served for one in found] == [
        'After "The club wants to move us to tuesdays.", Mira said on 3 May 2025: '
        '"Then they can play without me and my sister."'
    ]


def test_words_that_live_from_the_turn_before_of_the_same_person_are_quoted_with_it():
    [one] = kept(("Mira", "My mother came from Kumasi."), ("Mira", "She stays with us until the autumn."), fresh=1)
    assert one.served == (
        'After "My mother came from Kumasi.", Mira said on 3 May 2025: "She stays with us until the autumn."'
    )


def test_what_stands_three_sentences_back_in_a_turn_is_quoted_before_it():
    text = "My Carys is there, she is a midwife. She went nine years ago. She comes home for the funeral."
    *_, one = kept(("Mira", text), keeper=worth(nine=weighed(), funeral=weighed()))
    assert one.served == (
        'After "My Carys is there, she is a midwife.", Mira said on 3 May 2025: '
        '"She went nine years ago [2016]. She comes home for the funeral."'
    )


def test_the_words_of_a_list_are_not_what_was_said_last():
    listed = "You could do this:\n- move the logs to S3\n- drop the logs\nI would wait for the invoice of May."
    [one] = kept(("assistant", listed), ("Mira", "That is fine for the three of us here."), fresh=1)
    assert one.served.startswith('After "I would wait for the invoice of May.", Mira said')


@pytest.mark.parametrize("author", ["Tom", "Mira"])
def test_what_was_said_in_another_sitting_is_no_part_of_it(author: str):
    events = turns((author, "Bring the grey jacket to the hall, please."), ("Mira", "They gave us a dog called Plum."))
    later = [events[0], replace(events[1], ts=events[0].ts + timedelta(days=2))]
    [one] = extract(later, frozenset({1}), Fake())
    assert one.served == 'Mira, 5 May 2025: "They gave us a dog called Plum."'


def test_of_two_questions_at_once_both_stand_with_the_answer():
    [one] = kept(("Tom", "Good. Where were you? And with whom, who paid?"), ("Mira", "In Chicago, on my own."), fresh=1)
    assert one.served == (
        'Asked "Where were you? And with whom, who paid?", Mira answered on 3 May 2025: "In Chicago, on my own."'
    )


def test_an_offer_only_came_before_what_was_said():
    [one] = kept(("assistant", "Would you like more tips?"), ("Mira", "Sure, I take the prepaid plan."), fresh=1)
    assert one.served.startswith('After "Would you like more tips?", Mira said')


def test_a_word_behind_a_sentence_is_no_memory_of_its_own():
    keeper = worth(Oksana=weighed(), Bookkeeper=weighed(0.5))
    found = kept(("Mira", "Oksana starts on the 5th, and her desk is by the window. So. Bookkeeper!"), keeper=keeper)
    assert ["Bookkeeper" in one.served for one in found] == [False]


def test_nobody_answers_their_own_question():
    text = "There is no drama at all. Start it on prod tonight? It waits until Thursday, says Kwabena."
    [one] = kept(("Mira", text), keeper=worth(Kwabena=weighed()))
    assert "Asked" not in one.served


def test_what_opens_a_thread_or_is_stated_plainly_needs_less():
    doubted = Fake(lambda _: weighed(0.2))
    assert served(("Mira", "I'm allergic to walnuts."), keeper=doubted) == ["Mira is allergic to walnuts."]
    said = (("Tom", "Anything else for the menu, Mira, or is that all?"), ("Mira", "No celery in the soups."))
    for kind, count in (("statement", 1), ("joke", 0)):
        assert (
            len(kept(*said, keeper=Fake(lambda _, kind=kind: weighed(0.75, kind=kind, importance=4)), fresh=1)) == count
        )


def test_a_matter_of_little_weight_that_tells_no_number_must_be_surer():
    before = ("Tom", "Good morning to the two of you.")
    for text, importance, count in (("it was green", 3, 0), ("it was green", 4, 1), ("it had 12 beams", 3, 1)):
        keeper = Fake(lambda _, weight=importance: weighed(0.75, importance=weight, kind="plan"))
        assert (
            len(kept(before, ("Mira", f"We sold the barn, {text}. The buyer was glad."), keeper=keeper, fresh=1))
            == count
        )


def test_a_reply_of_one_sentence_needs_less_only_where_nobody_but_an_assistant_listens():
    doubted = Fake(lambda _: weighed(0.25, importance=4))
    for listener, text, count in (("Tom", "You never go quiet here.", 0), ("Tom", "I sing in the choir.", 0),
                                  ("assistant", "The key changes every spring.", 1)):  # fmt: skip
        assert len(kept((listener, "And what else is new there?"), ("Mira", text), keeper=doubted, fresh=1)) == count


def test_of_two_sentences_the_weightier_the_plainer_and_the_one_with_a_number_are_kept_first():
    before, barely = ("Tom", "Good morning to the two of you."), {"keep": 0.6, "importance": 3.0, "kind": "plan"}
    for better in ({"importance": 5.0}, {"keep": 0.95}, {"text": "We sold 3 old barns there"}):
        for told in ({}, better):
            row = {"text": "We sold the old barn there", **barely, **told}
            text = f"{row.pop('text')}. Then it rained for the rest of the day."
            keeper = worth(sold=weighed(row["keep"], importance=row["importance"], kind="plan"))
            assert len(kept(before, ("Mira", text), keeper=keeper, fresh=1)) == bool(told)


def test_a_question_without_its_mark_is_a_question():
    before = ("Tom", "Good morning to the two of you.")
    for kind, count in (("plan", 1), ("question", 0)):
        keeper = worth(Oamaru=weighed(0.9, importance=3, kind=kind))
        said = ("Mira", "so how do we get to Oamaru. The van is full.")
        assert len(kept(before, said, keeper=keeper, fresh=1)) == count


def test_a_question_that_is_all_somebody_tells_an_assistant_is_still_one():
    for kind, count in (("statement", 1), ("question", 0)):
        keeper = Fake(lambda _, kind=kind: weighed(0.6, importance=3, kind=kind))
        assert len(kept(("Mira", "so how do we get to Oamaru on the 22nd"), keeper=keeper)) == count
