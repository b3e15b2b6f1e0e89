"""What a program makes of written pairs keeps what their labels mean."""

import random

import pytest
import variations

BLOCK = [
    {"group": "1", "id": "1", "a": "Ines has 3 goats.", "b": "Ines owns 3 goats.", "label": "same", "kind": "synonym"},
    {
        "group": "1",
        "id": "2",
        "a": "Ines has 3 goats.",
        "b": "Ines sold her goats.",
        "label": "contradiction",
        "kind": "x",
    },
    {
        "group": "1",
        "id": "3",
        "a": "Ines has 3 goats.",
        "b": "Ines has 3 white goats.",
        "label": "refines",
        "kind": "x",
    },
    {"group": "1", "id": "4", "a": "Ines has 3 goats.", "b": "Ines has a dog.", "label": "compatible", "kind": "x"},
]


def test_of_a_block_only_what_its_letters_settle_is_derived():
    found = {(row["a"], row["b"]): row["label"] for row in variations.derived(BLOCK)}
    assert found[("Ines owns 3 goats.", "Ines sold her goats.")] == "contradiction"
    assert found[("Ines has 3 white goats.", "Ines sold her goats.")] == "contradiction"
    assert found[("Ines owns 3 goats.", "Ines has 3 white goats.")] == "refines"
    assert all("dog" not in text for pair in found for text in pair)


def test_lines_of_different_blocks_are_not_paired():
    assert variations.derived([BLOCK[0], {**BLOCK[1], "group": "2"}]) == []


@pytest.mark.parametrize("seed", range(20))
def test_a_changed_number_makes_a_repetition_a_contradiction(seed: int):
    made = variations.clashing(BLOCK[0], random.Random(seed))
    assert made is not None
    assert made["label"] == "contradiction"
    assert made["a"] == BLOCK[0]["a"]
    assert "3" not in made["b"].split()


def test_without_a_shared_number_there_is_nothing_to_change():
    assert variations.clashing(BLOCK[3], random.Random(1)) is None


@pytest.mark.parametrize("seed", range(20))
def test_a_name_is_exchanged_in_both_texts(seed: int):
    made = variations.renamed(BLOCK[0], random.Random(seed))
    assert "Ines" not in made["a"] + made["b"]
    assert made["a"].split()[0] == made["b"].split()[0]
    assert made["label"] == "same"


@pytest.mark.parametrize("seed", range(200))
def test_an_exercise_has_two_texts_and_a_label(seed: int):
    texts = ["Ines is at home on Mondays.", "Later that day Tomas met Ines.", "Tomas has 4 hens, since he likes eggs."]
    made = variations.exercise(texts, variations.people(texts), random.Random(seed))
    if made is not None:
        assert made["a"] != made["b"]
        assert made["label"] in ("contradiction", "same", "refines", "compatible")
