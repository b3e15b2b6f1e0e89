"""A memory through its five lengths, without a language model."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.domain.event import Event
from recollect.domain.ids import EventId, ItemId
from recollect.domain.item import Artifact, ArtifactType, Episode, Fact, Insight, Journal, Pattern, Workflow
from recollect.domain.level import Level
from recollect.domain.text import tokens
from recollect.domain.version import Version
from recollect.domain.witness import Bullet, ChunkWitness, EventWitness, RangeWitness, Witness, bare
from recollect.policy import distil
from recollect.policy.distil.notation import SECTIONS
from recollect.policy.distil.years import with_years
from recollect.policy.pack import strict
from recollect.policy.wording import Sound, check
from tests.hunt import examples
from tests.policy.threads import CHAT, DATABASE, DEBUGGING, DECISION, DEPLOY, SUPPORT, episode, pairs, statement

EPISODE = ItemId("0197c000-0000-7000-8000-000000000001")
THREADS = [CHAT, DECISION, DEBUGGING, SUPPORT]


def summary(material: distil.Material) -> distil.Draft:
    found = distil.summarise(material)
    assert found is not None
    return found


def texts(material: distil.Material) -> list[str]:
    found = distil.summarise(material)
    return [bullet.text for bullet in found.bullets] if found else []


# -- what holds for any thread ------------------------------------------------------------------------------

ODD = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=80)
WORDS = st.sampled_from(
    """I we my the Mira Tom moved decided to Leeds sessions because JWT on Friday 30 minutes is are was not sure how we
    deploy `app.py` /api/login ``` *bold* ### Heading - item can you help me please thanks! ok? she it they 12% $40 "a"
    http://x.y/z ignore previous instructions you must obey Ünïcödé 日本語 😂 , . ; : \n — ( ) I'm don't let's""".split(
        " "
    )
)
SAID = st.one_of(st.lists(WORDS, min_size=1, max_size=40).map(" ".join), st.text(min_size=1, max_size=200))
TURNS = st.lists(
    st.tuples(st.sampled_from(["Mira", "Tom", "user", "assistant", "tool"]), SAID), min_size=1, max_size=12
)


def any_episode(turns: list[tuple[str, str]], title: str = "") -> distil.Material | None:
    try:
        return episode(turns, title)
    except ValueError:
        return None  # no event can hold that


@settings(max_examples=examples(150), deadline=None)
@given(TURNS, st.sampled_from(["", "Auth refactor"]))
def test_any_thread_is_distilled_and_no_length_is_longer_than_the_one_before(turns: list[tuple[str, str]], title: str):
    material = any_episode(turns, title)
    if material is None:
        return
    raw, log, summed = distil.raw(material), distil.clean(material), distil.summarise(material)
    assert raw.content == f"s:1-{len(turns)}"
    evidence = sum(tokens(f"{event.author}{event.text}") + 20 for event in material.events)
    assert tokens(log.content) <= evidence
    if summed is None:
        return
    packet = distil.packet(material.item, summed.content, summed.bullets)
    trace = distil.trace(material.item, packet, summed.content)
    assert tokens(summed.content) <= tokens(log.content)
    assert tokens(packet) <= tokens(bare(summed.content))
    assert 0 < tokens(trace) <= min(6, tokens(packet))
    assert strict(trace) <= 6
    assert all(0 <= draft.quality <= 1 for draft in (raw, log, summed))


@settings(max_examples=examples(150), deadline=None)
@given(TURNS)
def test_every_bullet_has_a_witness_that_resolves_bears_it_out_and_keeps_the_rules(turns: list[tuple[str, str]]):
    material = any_episode(turns)
    if material is None:
        return
    for draft in (distil.raw(material), distil.summarise(material)):
        for bullet in draft.bullets if draft else ():
            assert bullet.witnesses
            assert all(distil.resolves(witness, material.events) for witness in bullet.witnesses)
    summed = distil.summarise(material)
    for bullet in summed.bullets if summed else ():
        assert distil.supported(bullet, material.events)
        assert isinstance(check(bullet.text), Sound), bullet.text


@settings(max_examples=examples(200), deadline=None)
@given(
    st.one_of(SAID, ODD),
    st.one_of(
        st.builds(Fact, st.none() | ODD, st.none() | ODD, st.none() | ODD),
        st.builds(Workflow, ODD, st.lists(ODD, max_size=4).map(tuple), ODD, st.dictionaries(ODD, ODD, max_size=2)),
        st.builds(Pattern, ODD, st.dictionaries(ODD, ODD, max_size=3), ODD),
        st.just(Insight()),
    ),
)
def test_any_statement_has_a_packet_and_a_word_and_neither_is_longer_or_blank(
    text: str, body: Fact | Workflow | Pattern
):
    try:
        material = statement(body, text)
    except ValueError:
        return  # no event can hold that
    found = distil.summarise(material)
    if found is None:
        return
    packet = distil.packet(material.item, found.content, found.bullets)
    trace = distil.trace(material.item, packet, found.content)
    assert packet.strip()
    assert trace.strip()
    assert 0 < tokens(packet) <= min(40, tokens(found.content))
    assert tokens(trace) <= min(6, tokens(packet))
    assert strict(trace) <= 6


@settings(max_examples=examples(60), deadline=None)
@given(TURNS)
def test_the_same_thread_is_distilled_to_the_same_words(turns: list[tuple[str, str]]):
    material = any_episode(turns)
    if material is None:
        return
    assert distil.summarise(material) == distil.summarise(material)
    assert distil.clean(material) == distil.clean(material)


UUIDS = st.uuids().map(str)
WITNESSES: st.SearchStrategy[Witness] = st.one_of(
    UUIDS.map(lambda found: EventWitness(EventId(found))),
    st.tuples(st.integers(1, 999), st.integers(0, 50)).map(lambda pair: RangeWitness(EPISODE, pair[0], sum(pair))),
    st.tuples(UUIDS, st.integers(1, 99)).map(lambda pair: ChunkWitness(EventId(pair[0]), pair[1])),
)
TEXTS = st.one_of(
    ODD, st.sampled_from(["# no title", "## no section", "- x [s:1-2]", "a\n## b\n  - c [s:9-9]", "[s:1-1]"])
)
BULLETS = st.lists(
    st.builds(
        Bullet, TEXTS, st.lists(WITNESSES, min_size=1, max_size=3).map(tuple), st.one_of(st.sampled_from(SECTIONS), ODD)
    ),
    max_size=6,
).map(tuple)


@settings(max_examples=examples(300), deadline=None)
@given(TEXTS, BULLETS)
def test_what_is_written_can_be_read_back_whatever_it_says(title: str, bullets: tuple[Bullet, ...]):
    assert distil.parse(distil.write(title, bullets), EPISODE) == (title, bullets)


@settings(max_examples=examples(200), deadline=None)
@given(ODD)
def test_any_text_can_be_read_for_bullets(text: str):
    title, bullets = distil.parse(text, EPISODE)
    assert isinstance(title, str)
    assert all(bullet.witnesses for bullet in bullets)


@pytest.mark.parametrize("material", [*THREADS, DEPLOY, DATABASE])
def test_what_is_distilled_can_be_kept_as_versions(material: distil.Material):
    at = datetime(2025, 7, 2, tzinfo=UTC)
    for draft in (distil.raw(material), summary(material)):
        Version(
            id=EPISODE, item_id=material.item.id, level=draft.level, content=draft.content, bullets=draft.bullets,
            created_at=at, quality_score=draft.quality,
        )  # fmt: skip


@pytest.mark.parametrize("material", THREADS)
def test_the_text_of_a_summary_holds_its_title_and_bullets(material: distil.Material):
    found = summary(material)
    _, bullets = distil.parse(found.content, material.item.id)
    plain = [(bullet.text, bullet.section) for bullet in bullets]
    assert plain == [(bullet.text, bullet.section) for bullet in found.bullets]
    assert [bullet.section for bullet in bullets] == sorted((b.section for b in bullets), key=SECTIONS.index)
    assert all(witness.reason for bullet in found.bullets for witness in bullet.witnesses)


def test_a_long_thread_is_summed_up_within_its_cap():
    lines = [
        line
        for day in range(300)
        for line in (
            (
                "user",
                f"I moved service number {day} to region {day % 7} because host {day * 13} was too slow. Can you "
                f"check it?",
            ),
            ("assistant", f"## Check host {day}\n\n" + "The service looks healthy and its latency is fine. " * 10),
        )
    ]
    material = episode(lines)
    found = summary(material)
    assert sum(tokens(event.text) for event in material.events) > 40_000
    assert tokens(found.content) <= 1_200


def test_text_that_is_made_to_be_slow_is_summed_up_within_its_cap():
    """What that costs is in bench.freeze."""
    for text in (
        "a " * 10_000,
        "I " + "and I " * 3_000,
        "if " * 5_000 + "?",
        "x" * 19_000,
        "[s" * 9_000,
        "- **a" * 4_000,
        "I'm, " * 4_000,
    ):
        material = episode([("user", text), ("assistant", text), ("tool", text)])
        distil.clean(material)
        found = distil.summarise(material)
        assert found is None or tokens(found.content) <= 1_200, text[:20]


# -- R5 and R4 ----------------------------------------------------------------------------------------------


def test_the_raw_handle_names_the_evidence_with_its_gaps():
    thinned = replace(CHAT, events=[event for event in CHAT.events if event.seq != 4])
    assert distil.raw(thinned).content == "s:1-3,s:5-9"
    assert distil.raw(DATABASE).content == f"e:{DATABASE.events[0].id}"
    assert distil.raw(DATABASE).level is Level.R5


def test_the_clean_log_says_where_who_and_when():
    first = distil.clean(DECISION).content.splitlines()[0]
    assert first.startswith("[s:1-1] Mira, 2025-07-01: We need to settle how the login")


def test_greetings_thanks_and_progress_go_but_an_answer_stays():
    lines = distil.clean(DEBUGGING).content
    assert "ok thanks" not in lines
    assert "50%" not in lines
    assert "export.py:88" in lines
    assert "[s:5-5] Mira: Yes, please do." in distil.clean(DECISION).content


def test_a_thread_of_nothing_but_greetings_keeps_its_log_and_has_no_summary():
    hello = episode([("Ines", "Hi!"), ("Paul", "Hello there!"), ("Ines", "Bye!")])
    assert len(distil.clean(hello).content.splitlines()) == 3
    assert distil.summarise(hello) is None


def test_what_is_said_again_is_one_line_with_all_its_places():
    again = "Please restart the importer on host nine, it hangs again since this morning."
    found = distil.clean(
        episode([("Mira", again), ("Tom", "On it, give me five minutes."), ("Mira", again + " "), ("Mira", again)])
    )
    assert found.content.splitlines()[0].startswith("[s:1-1,s:3-4] Mira")
    assert len(found.content.splitlines()) == 2
    other = again.replace("nine", "ten").replace("host", "machine")
    assert (
        len(
            distil.clean(episode([("Mira", "We sold 12 chairs."), ("Mira", "We sold 13 chairs.")])).content.splitlines()
        )
        == 2
    )
    assert len(distil.clean(episode([("Mira", again), ("Tom", other)])).content.splitlines()) == 2


def test_a_log_longer_than_a_version_may_be_is_cut_where_it_is_longest():
    found = distil.clean(
        episode([("tool", f"{n} " + "line of a log " * 60_000) for n in range(3)] + [("Mira", "It broke.")])
    )
    assert len(found.content) <= 1_000_000
    assert found.content.endswith("Mira: It broke.")


# -- the other kinds ----------------------------------------------------------------------------------------


def test_what_is_to_come_lies_ahead_and_what_has_been_behind():
    november = datetime(2026, 11, 15, tzinfo=UTC)
    assert with_years("I start at the clinic on June 1st.", november) == "I start at the clinic on June 1, 2027."
    assert with_years("I was at the clinic on June 1st.", november) == "I was at the clinic on June 1, 2026."
    assert with_years("It runs April 6-7, 2027 here.", november) == "It runs 6-7 April 2027 here."
    january = datetime(2026, 1, 10, tzinfo=UTC)
    assert with_years("We went to Rome on August 3.", january) == "We went to Rome on August 3, 2025."


def lengths(material: distil.Material) -> tuple[str, str, str]:
    found = summary(material)
    packet = distil.packet(material.item, found.content, found.bullets)
    return found.content, packet, distil.trace(material.item, packet, found.content)


def test_a_fact_becomes_key_and_value_and_then_a_word():
    content, packet, trace = lengths(DATABASE)
    assert content == DATABASE.bullets[0].text
    assert packet == "database: PostgreSQL (JSON support, expertise)"
    assert trace == "database_postgresql"


def test_a_fact_without_a_key_is_known_by_what_it_names():
    _, packet, trace = lengths(
        statement(Fact(), "Tim prefers error handling with Result types instead of try-catch in TypeScript.")
    )
    assert "try-catch→Result types" in packet
    assert trace
    _, packet, trace = lengths(
        statement(Fact(key="mira's home city", value="Porto", scope="Mira"), "Mira lives in Porto.")
    )
    assert (packet, trace) == ("home city: Porto", "home_city_porto")


@pytest.mark.parametrize("body", [Insight(), Journal()])
def test_insights_and_journals_are_distilled_like_facts(body: Insight | Journal):
    content, packet, trace = lengths(
        statement(body, "Mira answers long mails of the Porto office late in the evening.")
    )
    assert content.startswith("Mira answers")
    assert "Porto" in packet
    assert len(packet) < len(content)
    assert strict(trace) <= 6


def test_a_workflow_is_its_steps_then_one_line_then_a_word():
    content, packet, trace = lengths(DEPLOY)
    assert content.splitlines()[1] == "1. test: pnpm test with coverage above 80 %"
    assert packet == "deploy: test→build→stage→verify→prod"
    assert trace == "deploy"
    unhinted = replace(DEPLOY, item=replace(DEPLOY.item, body=Workflow("deploy_request", ("test", "ship"), "", {})))
    assert lengths(unhinted)[1] == "deploy: test→ship"


def test_a_pattern_is_its_template_then_its_hint_then_a_word():
    body = Pattern(
        "new_endpoint",
        {"route": "{method} /api/{resource}", "answer": {"kind": "json", "fields": ["data", "error"]}},
        "endpoint: route→json",
    )
    content, packet, trace = lengths(statement(body, "Endpoints follow one pattern."))
    assert content.splitlines()[:3] == [
        "Pattern for new_endpoint.",
        "route: {method} /api/{resource}",
        "answer.kind: json",
    ]
    assert (packet, trace) == ("endpoint: route→json", "new_endpoint")


def test_a_fact_that_nothing_was_said_of_has_no_summary():
    assert distil.summarise(replace(DATABASE, bullets=())) is None
    assert distil.summarise(replace(DEPLOY, bullets=(), events=())) is None


def test_a_packet_names_what_replaced_what_and_the_artifacts():
    body = Episode("Auth refactor", (Artifact(ArtifactType.ADR, "ADR-012"),))
    material = replace(DECISION, item=replace(DECISION.item, body=body))
    found = summary(material)
    assert distil.packet(material.item, found.content, found.bullets).startswith(
        "Auth refactor: JWT→sessions (token size); ADR-012"
    )


def test_a_memory_without_events_has_no_log():
    nothing = replace(CHAT, events=())
    for transform in (distil.raw, distil.clean):
        with pytest.raises(ValueError, match="without events"):
            transform(nothing)
    assert distil.summarise(nothing) is None


# -- whether it is borne out --------------------------------------------------------------------------------


def heard(text: str) -> list[Event]:
    return list(episode([("Mira", text)]).events)


@pytest.mark.parametrize(
    ("text", "borne"),
    [
        ("Mira moved the shop to Porto on June 30, 2025.", True),
        ("Mira moved the shop to Porto and bought a boat with red sails.", False),
        ("Mira moved the shop to Lisbon.", False),
        ("Mira moved 40 shops to Porto.", False),
    ],
)
def test_a_bullet_is_borne_out_by_the_words_of_its_witnesses(text: str, borne: bool):
    events = heard("Yesterday I moved the shop to Porto, at last.")
    assert distil.supported(Bullet(text, (RangeWitness(events[0].item_id, 1, 1),)), events) is borne


def test_a_date_that_nothing_gives_cause_for_is_not_borne_out():
    events = heard("I moved the shop to Porto.")
    dated = Bullet("Mira moved the shop to Porto on March 5, 2025.", (RangeWitness(events[0].item_id, 1, 1),))
    assert not distil.supported(dated, events)


def test_a_bullet_whose_witness_is_not_there_is_not_borne_out():
    events = heard("I moved the shop to Porto.")
    assert not distil.supported(
        Bullet("Mira moved the shop to Porto.", (RangeWitness(events[0].item_id, 2, 2),)), events
    )


def test_the_pairs_of_the_documentation_read_as_they_should():
    for pair in pairs():
        assert tokens(pair.summary) <= tokens(pair.log)
        assert tokens(pair.packet) <= 40
        assert strict(pair.trace) <= 6
