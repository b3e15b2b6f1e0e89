"""Names, codes, drugs, numbers and days that differ are never the same, however near they lie; the same in other words
still is."""

from pathlib import Path

import pytest

from recollect.custody import Deps
from recollect.domain.item import Item
from recollect.domain.scope import Principal, Role
from recollect.memory import Memory
from recollect.models.local import LocalEmbedder
from recollect.policy import bands, signs
from recollect.store.sidecar import FileErasures, FileSeal
from tests.worlds import ALL, ANY_STATE, EVERYTHING, World

DIFFERENT = [
    ("The patient in room four takes {} three times a day.", "ampicillin", "amoxicillin"),
    ("The patient in room four takes {} three times a day.", "hydroxyzine", "hydralazine"),
    ("The patient in room four takes {} every evening.", "clonidine", "clonazepam"),
    ("My doctor put me on {} for the pain.", "celebrex", "celexa"),
    ("My doctor put me on {} for the pain.", "tramadol", "trazodone"),
    ("My doctor put me on {} this spring.", "prednisone", "prednisolone"),
    ("My doctor put me on {} this spring.", "metformin", "metronidazole"),
    ("I am allergic to {}.", "cefazolin", "cefalexin"),
    ("The dose of the syrup is {} at night.", "1.5 mg", "15 mg"),
    ("The dose of the syrup is {} at night.", "5 mg", "5 ml"),
    ("The dose of the syrup is {} at night.", "1-5 ml", "1.5 ml"),
    ("The freezer is kept at {} degrees.", "-18", "18"),
    ("The ticket {} is blocked by the migration.", "INC-1042", "INC-1024"),
    ("The ticket {} is blocked by the migration.", "OPS-77", "QPS-77"),
    ("The flight to Oslo is {} on Friday.", "SK4711", "SK4171"),
    ("The release {} broke the importer.", "v1.2.3", "v1.3.2"),
    ("The release {} broke the importer.", "2.10", "2.1.0"),
    ("The staging database listens on port {}.", "5432", "5433"),
    ("The staging server is {} behind the proxy.", "10.0.0.12", "10.0.0.21"),
    ("The error code of the pump is {}.", "E17", "F17"),
    ("The part for the pump has the number {}.", "AX-2200-B", "AX-2200-D"),
    ("{} signs the contract for the boathouse.", "Jon Meyer", "Joan Meyer"),
    ("{} signs the contract for the boathouse.", "Anna Petrov", "Anya Petrov"),
    ("my neighbour {} waters the plants in august.", "marta", "marita"),
    ("my neighbour {} waters the plants in august.", "kristin", "kirsten"),
    ("The next meeting of the choir is in {}.", "Portland", "Porto"),
    ("the parcel goes to {} by rail.", "basel", "kassel"),
    ("the parcel goes to {} by rail.", "vienne", "vienna"),
    ("The workshop is on {} at nine.", "Monday", "Sunday"),
    ("The workshop is on {} at nine.", "Tuesday", "Thursday"),
    ("The report is due on {}.", "12 March", "13 March"),
    ("The report is due on {}.", "2026-03-12", "2026-12-03"),
    ("The train leaves at {} every day.", "7:15", "7:50"),
    ("The pump of the pool starts at {} every day.", "2:30 am", "2:30 pm"),
    ("The drops for the eyes are due at {}.", "9 a.m.", "9 p.m."),
    ("The service is written in {}.", "C++", "C#"),
    ("The service is written in {}.", "Java", "JavaScript"),
    ("The cache of the shop is {}.", "redis", "redict"),
    ("The cluster of the shop runs {}.", "mariadb", "mysql"),
    ("The queue of the shop is called {}.", "orders_in", "orders_out"),
    ("The branch for the fix is {}.", "fix/login", "fix/logout"),
    ("The wall in the hall is painted {}.", "red", "blue"),
    ("The car is parked on the {} side of the street.", "left", "right"),
    ("The guests from Kyoto eat no {}.", "peanuts", "walnuts"),
    ("The invoice of the caterer is {} euros.", "1,900", "9,100"),
    ("My blood group is {}.", "A+", "A-"),
    ("The stock at the depot trades as {}.", "GOOG", "GOOGL"),
    ("The breakfast at the inn costs {}.", "£8.50", "€8.50"),
    ("The fee of the broker is {} a year.", "2 %", "2 €"),
    ("The alarm rings when the level is {} 40.", "<", ">"),
    ("The filter keeps what is {} zero.", "==", "!="),
    ("The logs of the worker are kept in {}.", "/var/a/log", "/var/b/log"),
    ("The logs of the worker are kept in {}.", "/var/log", "../var/log"),
    ("Write about the roof to {}.", "ana.roth@mail.example", "ana-roth@mail.example"),
    ("The field is called {} in the schema.", "orderId", "orderID"),
    ("The tool prints more with {}.", "-v", "-V"),
    ("The beacon sends with {}.", "5 mW", "5 MW"),
    ("The phone of the office has {}.", "5 G", "5 g"),
    ("The code of the shed is {}.", "XyZq", "xYzQ"),
    ("The film of the regatta is at {}", "https://video.example/dQwXcQzz", "https://video.example/DqWxCqZZ"),
    ("The logs of the press are kept in {}.", "/srv/Data/a", "/srv/data/A"),
    ("{} cups of coffee a day are too much.", "> 5", "5"),
    ("The vote of the board is {}", "✅", "❌"),
    ("The blood was tested for hepatitis {}.", "A", "B"),
    ("The spare key is in drawer {}.", "A", "C"),
]
TURNED = [
    ("Take 2 tablets every 6 hours.", "Take 6 tablets every 2 hours."),
    ("Anna owes Ben 20 euros.", "Ben owes Anna 20 euros."),
    ("Nina is older than Paul.", "Paul is older than Nina."),
    ("The tickets are migrated from Jira to Linear.", "The tickets are migrated from Linear to Jira."),
    ("The proxy forwards 8080 to 80.", "The proxy forwards 80 to 8080."),
    ("Give aspirin before ibuprofen.", "Give ibuprofen before aspirin."),
    ("Staging has 2 nodes and production has 3 nodes.", "Staging has 3 nodes and production has 2 nodes."),
    ("Die Katze mag den Hund.", "Den Hund mag die Katze nicht."),
    ("His sister moved to Lyon.", "Her sister moved to Lyon."),
    ("The harbour gets mail from Ana.", "The harbour gets mail to Ana."),
    ("The tax report is due on Friday.", "The tax report is due by Friday."),
    ("Lund was the head of the choir.", "Lund is the head of the choir."),
    ("I can come on Saturday.", "I will come on Saturday."),
    ("Der Mieter hat gekündigt.", "Der Mieter hat nicht gekündigt."),
    ("Le locataire a payé le loyer.", "Le locataire n'a pas payé le loyer."),
    ("Il dottore ha firmato.", "Il dottore non ha firmato."),
    ("Арендатор оплатил счёт.", "Арендатор не оплатил счёт."),
    ("Vera is my neighbour.", "Vera is my ex neighbour."),
    ("The syrup is safe for infants.", "The syrup is hardly safe for infants."),
    ("Ruth forged the letter.", "Ruth supposedly forged the letter."),
    ("The heater is broken.", "The heater isnt broken."),
    ("Hepatitis A was ruled out.", "Hepatitis was ruled out."),
    ("The lease is signed.", "The lease is signed?"),
]
"""The same words, and another meaning: who does what to whom, a small word for another, or one word more."""
SAME = [
    ("On Fridays the office is closed.", "The office is closed on Fridays."),
    ("My dentist is Dr. Okafor.", "Dr. Okafor is my dentist."),
    ("We moved to Berlin in 2019.", "In 2019 we moved to Berlin."),
    ("The rent is 900 euros a month.", "The rent is 900 euros per month."),
    ("The workshop is on Monday at nine.", "the workshop is on monday, at nine"),
    ("Ana drinks green tea in the morning.", "Ana drank green tea in the morning."),
    ("The gate of the boathouse is painted blue.", "The gates of the boathouse are painted blue."),
    ("We meet at the boathouse on Friday.", "We are meeting at the boathouse on Friday."),
    ("The caterer for the party is Lund.", "The caterer for the party is Lund!"),
    ("The entry to the museum costs €12.", "The entry to the museum costs 12 €."),
    ("I am a vegetarian since the spring.", "I'm a vegetarian since the spring."),
    ("The **ferry** leaves from pier two.", "- The ferry leaves from pier two 🙂"),
]


@pytest.fixture(scope="module")
def near() -> LocalEmbedder:
    """The bundled embedder: nearness as it is in use."""
    return LocalEmbedder()


def _memory(world: World, folder: Path, mind: LocalEmbedder) -> Memory:
    deps = Deps(world.store, world.clock, FileErasures(folder / "erasures"), FileSeal(folder / "key"), embedder=mind)
    return Memory(deps, Principal(tenant=world.tenant, id="mira", role=Role.ADMIN))


def _facts(world: World) -> list[Item]:
    found = [held.item for held in world.store.items(world.tenant, ANY_STATE, EVERYTHING, ALL)]
    return [item for item in found if item.kind == "fact"]


def test_what_differs_in_a_name_code_or_number_stays_two_memories(world: World, tmp_path: Path, near: LocalEmbedder):
    memory = _memory(world, tmp_path, near)
    merged: list[tuple[str, str]] = []
    for frame, one, other in DIFFERENT:
        first, second = (memory.remember(frame.format(word)) for word in (one, other))
        if first.item_id == second.item_id or second.outcome != "created":
            merged.append((frame.format(one), frame.format(other)))
    assert not merged
    assert len(_facts(world)) == 2 * len(DIFFERENT)
    assert not [item for item in _facts(world) if item.superseded_by or item.supersedes]


def test_the_same_words_in_other_roles_stay_two_memories(world: World, tmp_path: Path, near: LocalEmbedder):
    memory = _memory(world, tmp_path, near)
    merged = [
        (one, other)
        for one, other in TURNED
        if (first := memory.remember(one)).item_id == (second := memory.remember(other)).item_id
        or (first.outcome, second.outcome) != ("created", "created")
    ]
    assert not merged


def test_what_is_the_same_in_another_form_is_one_memory(world: World, tmp_path: Path, near: LocalEmbedder):
    memory = _memory(world, tmp_path, near)
    parted = [(one, other) for one, other in SAME if memory.remember(one).item_id != memory.remember(other).item_id]
    assert not parted


@pytest.mark.parametrize(("frame", "one", "other"), DIFFERENT)
def test_look_alikes_are_told_apart_by_their_words(frame: str, one: str, other: str):
    a, b = frame.format(one), frame.format(other)
    assert not bands.same_words(a, b)
    assert bands.exchanged(a, b) or bands.numbers(a) != bands.numbers(b) or signs.clash(a, b)
