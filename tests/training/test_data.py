"""The training data is whole, and what ships was made of it within its limits."""

import hashlib
import json
import re
from collections import Counter
from importlib.resources import files

import pytest
import rows

LABELS = {"contradiction", "same", "refines", "compatible"}
MODELS = files("recollect_models")


@pytest.fixture(scope="module")
def pairs() -> list[rows.Row]:
    return rows.read("pairs")


def test_pairs_are_many_distinct_and_hard(pairs: list[rows.Row]):
    labels = Counter(row["label"] for row in pairs)
    assert len(pairs) >= 6_000
    assert set(labels) == LABELS
    assert labels["compatible"] >= labels["contradiction"]
    assert len({row["id"] for row in pairs}) == len(pairs)
    assert len({(row["a"], row["b"]) for row in pairs}) == len(pairs)
    assert all(row["a"].strip() and row["b"].strip() and row["a"] != row["b"] for row in pairs)
    assert len({row["hand"] for row in pairs}) >= 5


def test_a_block_has_one_anchor_and_more_than_one_relation_to_it(pairs: list[rows.Row]):
    anchors: dict[str, set[str]] = {}
    relations: dict[str, set[str]] = {}
    for row in pairs:
        anchors.setdefault(row["group"], set()).add(row["a"])
        relations.setdefault(row["group"], set()).add(row["label"])
    assert all(len(found) == 1 for found in anchors.values())
    assert sum(len(found) > 1 for found in relations.values()) > 0.99 * len(relations)


def test_parts_share_no_block(pairs: list[rows.Row]):
    parts = rows.folds(pairs)
    groups = [{row["group"] for row in part} for part in parts]
    assert sum(map(len, parts)) == len(pairs)
    assert all(not a & b for number, a in enumerate(groups) for b in groups[:number])


def test_sentences_are_many_and_labelled_throughout():
    said = [one for talk in rows.read("sentences") for turn in talk["turns"] for one in turn["sentences"]]
    assert len(said) >= 4_000
    for one in said:
        assert one["text"].strip()
        assert (one["category"] is not None) == one["keep"]
        assert one["importance"] in (range(1, 6) if one["keep"] else (None,))
        assert not (one["keep"] and (one["injection"] or one["secret"]))
    assert 0.3 < sum(one["keep"] for one in said) / len(said) < 0.6


@pytest.mark.parametrize("name", ["keeping", "blind", "blind_talks", "blind_languages"])
def test_conversations_with_their_facts_name_turns_that_are_there(name: str):
    talks = rows.read(name)
    assert len({talk["id"] for talk in talks}) == len(talks)
    for talk in talks:
        assert all(message["text"].strip() for message in talk["messages"])
        for fact in talk["facts"]:
            assert all(0 <= place < len(talk["messages"]) for place in fact.get("witness", ()))


def test_what_is_learned_to_keep_matters_more_and_less_and_is_of_several_languages():
    talks = rows.read("keeping")
    assert len(talks) >= 3_000
    grades = Counter(fact["importance"] for talk in talks for fact in talk["facts"])
    assert set(grades) == {1, 2, 3, 4, 5}
    assert grades[1] >= 200
    said = [message["text"] for talk in talks for message in talk["messages"]]
    for script in ("[\u0430-\u044f]{3}", "[\u3040-\u30ff]{2}", "[\u4e00-\u9fff]{2}", "[äöüß]", "[ñ¿]"):
        assert sum(bool(re.search(script, text, re.IGNORECASE)) for text in said) >= 20, script


@pytest.mark.parametrize("name", ["blind", "blind_talks", "blind_languages"])
def test_what_is_measured_on_was_not_learned(name: str):
    learned = {message["text"] for talk in rows.read("keeping") for message in talk["messages"]}
    learned |= {
        "".join(one["text"] for one in turn["sentences"]) for talk in rows.read("sentences") for turn in talk["turns"]
    }
    twice = [
        m["text"] for talk in rows.read(name) for m in talk["messages"] if m["role"] == "user" and m["text"] in learned
    ]
    assert not [text for text in twice if len(text) > 40]


def test_questions_are_many_and_their_turns_are_there():
    worlds = rows.read("conversations")
    assert sum(len(world["questions"]) for world in worlds) >= 3_000
    for world in worlds:
        turns = {message["id"] for message in world["messages"]}
        assert len(turns) == len(world["messages"])
        for question in world["questions"]:
            assert set(question["evidence"]) <= turns
            assert bool(question["evidence"]) == (question["category"] != "none")


def test_the_same_rows_make_the_same_file(tmp_path, monkeypatch, pairs: list[rows.Row]):
    monkeypatch.setattr(rows, "DATA", tmp_path)
    rows.write("some", pairs[:50])
    first = (tmp_path / "some.jsonl.gz").read_bytes()
    rows.write("some", rows.read("some"))
    assert (tmp_path / "some.jsonl.gz").read_bytes() == first


def test_what_ships_is_small_and_as_its_list_says():
    told = json.loads((MODELS / "models.json").read_text("utf-8"))
    assert set(told) == {"embedder", "judge", "keeper"}
    for name, facts in told.items():
        assert hashlib.sha256((MODELS / f"{name}.onnx").read_bytes()).hexdigest() == facts["sha256"]
    sizes = [len(file.read_bytes()) for file in MODELS.iterdir() if file.is_file()]
    assert sum(sizes) <= 80_000_000


def test_questions_are_about_what_is_there_and_whole_stores_are_kept_apart():
    written = rows.read("questions")
    there = {name: {row["id"]: row for row in rows.read(name)} for name in ("conversations", "stories")}
    asked = [one for row in written for one in row["questions"]]
    assert len({(row["id"], one["question"]) for row in written for one in row["questions"]}) == len(asked)
    assert {one["kind"] for one in asked if not one["known"]} == {"invented", "of another"}
    assert all(name in there[row["from"]] for row in written for name in row["of"])
    apart = {row["group"] for row in written if row["blind"]}
    assert not apart & {row["group"] for row in written if not row["blind"]}
    assert 0.2 < sum(len(row["questions"]) for row in written if row["blind"]) / len(asked) < 0.4


def test_a_matter_that_was_invented_never_comes_up():
    there = {row["id"]: row for row in rows.read("conversations")}
    for row in rows.read("questions"):
        texts = [message["text"] for name in row["of"] if name in there for message in there[name]["messages"]]
        for one in row["questions"]:
            held = [text for text in texts if "never" in one and re.search(rf"\b(?:{one['never']})", text, re.I)]
            assert len(held) <= 3, one["question"]  # a word may come up in another sense
