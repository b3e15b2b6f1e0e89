"""What counts as a planted conflict that is on record, and how a verdict meets what it is about."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.conflicts import CONTRADICTION, UPDATE, Kept, Recorded, outcome, planted, sheet, verdicts
from recollect.domain.ids import ItemId
from recollect.domain.item import Fact, Item, Visibility

AT = datetime(2025, 3, 4, tzinfo=UTC)


def kept(name: str, *messages: Any) -> Kept:
    item = Item(
        id=ItemId(name),
        body=Fact(),
        category="knowledge",
        visibility=Visibility.USER_PRIVATE,
        user_id="mira",
        origin_at=AT,
        created_at=AT,
        updated_at=AT,
    )
    return Kept(item, f"words of {name}", messages)


OLD, NEW, ASIDE = kept("old", 1, 2), kept("new", 9), kept("aside", 4)


def told(*records: Recorded, memories: Sequence[Kept] = (OLD, NEW, ASIDE)) -> tuple[bool, bool]:
    found = outcome(frozenset({2}), frozenset({9}), memories, records)
    return found["kept"], found["found"]


def test_a_planted_conflict_is_found_where_its_two_sides_are_on_record():
    assert told() == (True, False)
    assert told(Recorded(CONTRADICTION, NEW, OLD)) == (True, True)
    assert told(Recorded(CONTRADICTION, ASIDE, OLD)) == (True, False)
    assert told(Recorded(UPDATE, OLD, NEW)) == (True, True)
    assert told(Recorded(UPDATE, NEW, OLD)) == (True, False), "the newer one was retired"
    assert told(Recorded(CONTRADICTION, NEW, OLD), memories=(OLD, ASIDE)) == (False, False)


def test_a_planted_conflict_is_noticed_where_the_later_may_have_replaced_the_earlier():
    def noticed(*doubted: tuple[ItemId, ItemId]) -> bool:
        return outcome(frozenset({2}), frozenset({9}), (OLD, NEW, ASIDE), (), doubted)["noticed"]

    old, new, aside = (one.item.id for one in (OLD, NEW, ASIDE))
    assert noticed((old, new))
    assert not noticed((new, old), (old, aside))


def test_planted_are_the_questions_that_name_both_statements_the_earlier_first():
    def question(category: str, **roles: list[int]) -> dict[str, Any]:
        return {"category": category, "evidence_roles": roles}

    conversation = {
        "messages": [{"id": 7}, {"id": 3}],
        "questions": [
            question("knowledge_update", new=[3], old=[7]),
            question("contradiction_resolution", one=[3], other=[99]),
            question("temporal", one=[3], other=[7]),
            {"category": "knowledge_update"},
        ],
    }
    assert list(planted(conversation)) == [(frozenset({7}), frozenset({3}))]


def test_a_verdict_meets_what_it_is_about_by_the_last_message_of_both_sides(tmp_path: Path):
    path = tmp_path / "read.jsonl"
    contradiction, update = Recorded(CONTRADICTION, NEW, OLD), Recorded(UPDATE, NEW, OLD)
    rows = [sheet("beam_100K", "100K/1", one) | {"true": one is update} for one in (contradiction, update)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    read = verdicts(path, "beam_100K")
    assert read == {contradiction.key("100K/1"): False, update.key("100K/1"): True}
    assert contradiction.key("100K/1") == (CONTRADICTION, "100K/1/2", "100K/1/9")
    assert Recorded(CONTRADICTION, OLD, NEW).key("100K/1") == contradiction.key("100K/1"), "it has no direction"
    assert update.key("100K/1") == (UPDATE, "100K/1/9", "100K/1/2")
    assert verdicts(path, "locomo_dev") == {}
    assert verdicts(tmp_path / "none.jsonl", "beam_100K") == {}
