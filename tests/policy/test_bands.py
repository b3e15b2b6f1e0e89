"""What becomes of a candidate for memory that has neighbours."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.embedding import Profile
from recollect.domain.event import Trust
from recollect.domain.ids import ItemId
from recollect.domain.item import Fact, Item, Visibility
from recollect.policy.bands import Auto, Fallback, Near, New, Recreate, Update, decide

NOW = datetime(2025, 5, 1, tzinfo=UTC)
BANDS = Profile(same=0.9, judge=0.7, link_min=0.5, floor=0.2)


def new(text: str, key: str | None = None, value: str | None = None, **fields: object) -> New:
    return New(text=text, body=Fact(key=key, value=value), category="profile", at=NOW, **fields)  # type: ignore[arg-type]


def near(text: str, cosine: float, key: str | None = None, value: str | None = None, **fields: object) -> Near:
    item = Item(
        id=ItemId(f"item {text}"),
        body=Fact(key=key, value=value),
        category="profile",
        visibility=Visibility.SYSTEM,
        origin_at=NOW,
        created_at=NOW,
        updated_at=NOW,
        **fields,  # type: ignore[arg-type]
    )
    return Near(item, text, cosine)


def test_what_is_known_already_gains_a_witness():
    known = near("Ana drinks her coffee black.", 0.95)
    assert decide(new("Ana is drinking her coffee black."), [known], BANDS) == Auto(known)


def test_the_same_words_are_the_same_whatever_the_embedder_says():
    known = near("Ana drinks tea.", 0.1)
    assert decide(new("ana drinks tea"), [known], BANDS) == Auto(known)


def test_another_number_is_never_taken_for_the_same():
    known = near("The standup is at 9:30.", 0.97)
    assert isinstance(decide(new("The standup is at 10:30."), [known], BANDS), Fallback)


def test_another_name_is_never_taken_for_the_same():
    known = near("Bola lives in Leeds.", 0.95)
    assert isinstance(decide(new("Tunde lives in Leeds."), [known], BANDS), Fallback)


def test_a_negation_is_never_taken_for_the_same():
    known = near("Ana eats fish.", 0.95)
    assert isinstance(decide(new("Ana does not eat fish."), [known], BANDS), Fallback)


def test_another_value_of_the_same_key_takes_over():
    known = near("Ana works at Orbis.", 0.6, "employer", "Orbis")
    assert decide(new("Ana works at Helix.", "employer", "Helix"), [known], BANDS) == Recreate(known)


def test_the_same_key_of_something_else_is_another_matter():
    known = near("The staging port is 8080.", 0.6, "port", "8080")
    other = New(text="The demo port is 90.", body=Fact(key="port", value="90", scope="demo"), category="x", at=NOW)
    assert isinstance(decide(other, [known], BANDS), Fallback)


def test_a_correction_takes_over_from_what_is_near():
    known = near("The launch is on Tuesday.", 0.8)
    assert decide(new("The launch is on Thursday.", corrects=True), [known], BANDS) == Recreate(known)
    assert isinstance(decide(new("The launch is on Thursday."), [known], BANDS), Fallback)


def test_what_says_more_updates():
    known = near("Bisi has twins.", 0.8)
    assert decide(new("Bisi has twins called Ada and Zoe."), [known], BANDS) == Update(known)


@pytest.mark.parametrize(
    ("known", "told"),
    [
        ("Mira: Our standup is at 9:30.", "Mira: Scrap 9:30, our standup is at 10:15 from now on."),
        ("Mira: Our standup is at 9:30.", "Mira: Our standup is at 9:30 until Friday, then at 10:15."),
        ("Choir practice is on tuesdays.", "Choir practice moved from tuesdays to thursdays."),
        ("Choir practice is on tuesdays.", "Scrap tuesdays, choir practice is on thursdays now."),
    ],
)
def test_what_names_the_old_value_beside_a_new_one_does_not_refine(known: str, told: str):
    assert isinstance(decide(new(told), [near(known, 0.89)], BANDS), Fallback)


def test_who_says_more_about_the_same_refines_it_whatever_comes_before():
    known = near("Mira: My brother Emil lives in Graz.", 0.85)
    told = "Mira: By the way, my brother Emil lives in Graz, near the river."
    assert decide(new(told), [known], BANDS) == Update(known)


def test_what_is_new_is_linked_to_what_is_near_and_judged_against_all_neighbours_the_nearest_first():
    close, far, away = near("a b c", 0.75), near("d e f", 0.55), near("g h i", 0.3)
    assert decide(new("x y z"), [away, far, close], BANDS) == Fallback((close, far), (close, far, away))


def test_the_four_nearest_are_judged_however_far_away_and_of_the_rest_what_reaches_the_floor():
    away = [near(f"far {number}", BANDS.floor - 0.01 * (number + 1)) for number in range(6)]
    assert decide(new("x y z"), away, BANDS) == Fallback((), tuple(away[:4]))
    close = [near(f"near {number}", BANDS.floor + 0.001 * (9 - number)) for number in range(9)]
    assert decide(new("x y z"), [*away, *close], BANDS) == Fallback((), tuple(close))


def test_a_constitutional_memory_is_only_linked_to():
    known = near("Ana drinks tea.", 0.99, constitutional=True)
    assert isinstance(decide(new("Ana drinks tea."), [known], BANDS), Fallback)


def test_the_untrusted_neither_renews_nor_supports_the_trusted():
    known = near("The account is DE1.", 0.99, "account", "DE1")
    hostile = new("The account is DE2.", "account", "DE2", trust=Trust.UNTRUSTED)
    assert isinstance(decide(hostile, [known], BANDS), Fallback)


def by(speaker: str | None, text: str = "Ana: I live in Graz.") -> New:
    return New(text=text, body=Fact(scope=speaker), category="profile", at=NOW)


def of(speaker: str | None, text: str = "Ana: I live in Graz.") -> Near:
    known = near(text, 0.99)
    return Near(replace(known.item, body=Fact(scope=speaker)), text, known.cosine)


def test_two_peoples_i_is_never_the_same():
    assert decide(by("Ana"), [of("ana")], BANDS) == Auto(of("ana"))
    assert isinstance(decide(by("Ben"), [of("Ana")], BANDS), Fallback)
    assert isinstance(decide(by("Ben", "Ben: I live in Graz, at last."), [of("Ana")], BANDS), Fallback)


def test_what_is_nobodys_is_the_same_whoever_says_it():
    assert decide(by("Ana"), [of(None)], BANDS) == Auto(of(None))
    assert decide(by(None), [of("Ana")], BANDS) == Auto(of("Ana"))


@given(st.text(max_size=60), st.text(max_size=60), st.floats(0, 1), st.booleans())
def test_nothing_that_one_says_moves_what_another_said(a: str, b: str, cosine: float, corrects: bool):
    theirs = Near(replace(near(b, cosine).item, body=Fact(key="k", value="v", scope="Ana")), b, cosine)
    mine = New(text=a, body=Fact(key="k", value="w", scope="Ben"), category="profile", at=NOW, corrects=corrects)
    assert isinstance(decide(mine, [theirs], BANDS), Fallback)


@given(st.text(max_size=60), st.text(max_size=60), st.floats(0, 1), st.booleans())
def test_every_pair_of_texts_has_a_band(a: str, b: str, cosine: float, corrects: bool):
    band = decide(new(a, corrects=corrects), [near(b, cosine)], BANDS)
    if isinstance(band, Fallback):
        assert set(band.linked) <= set(band.judged), "what is linked is judged, too"
