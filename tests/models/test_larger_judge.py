"""The larger judge and the second look: it is asked about suspects alone, in a job alone, and nothing needs it."""

import hashlib
import json
import sys
from collections.abc import Sequence
from importlib.resources import files
from math import isclose
from pathlib import Path

import pytest

from recollect import minds
from recollect.domain.judgement import Chances
from recollect.domain.query import Query
from recollect.errors import ModelFailed
from recollect.models import larger_judge
from recollect.models.judge import LocalJudge
from recollect.models.larger_judge import LargerJudge
from recollect.models.network import shares
from recollect.models.second_look import SHARE, SUSPECT, SecondLook
from recollect.policy.currency import MAY_REPLACE
from recollect.ports import Judge
from recollect.settings import load
from recollect.wiring import connect, worker

pytest.importorskip("recollect_judge")
CLASH = ("Ines is allergic to hazelnuts.", "Ines is not allergic to hazelnuts.")
MOVED = ("Ines lives in Porto.", "Ines moved from Porto to Braga last week.")
APART = ("Ines is allergic to hazelnuts.", "Ines's brother plays the cello.")
BALCONY = ("Mira's flat in Porto has a balcony.", "There is no balcony in Mira's flat in Porto.")
SAME = ("The build takes 12 minutes.", "A build needs twelve minutes.")


@pytest.fixture(scope="module")
def larger() -> LargerJudge:
    return LargerJudge()


class Listening:
    """A judge that remembers what it was asked."""

    def __init__(self, judge: Judge) -> None:
        self._judge, self.name = judge, judge.name
        self.asked: list[tuple[str, str]] = []

    def compare(self, pairs: Sequence[tuple[str, str]]) -> Sequence[Chances]:
        self.asked += pairs
        return self._judge.compare(pairs)


def clash(said: Chances) -> float:
    return said.contradiction + said.update


def five(said: Chances) -> tuple[float, ...]:
    return said.contradiction, said.same, said.refines, said.compatible, said.update


def test_what_ships_is_small_enough_and_as_its_list_says():
    folder = files("recollect_judge")
    sums = json.loads((folder / "models.json").read_text("utf-8"))["judge"]["sha256"]
    assert set(sums) == {"judge.onnx", "words.bin", "tokenizer.json"}
    for name, told in sums.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == told
    assert sum(len(file.read_bytes()) for file in folder.iterdir() if file.is_file()) <= 100_000_000


def test_nothing_is_loaded_before_something_is_asked():
    idle = LargerJudge()
    assert idle.compare([]) == []
    assert idle._loaded is None


def test_it_tells_clashes_from_what_can_both_be_true_and_from_repetitions(larger: LargerJudge):
    clashing, moved, apart, same = larger.compare([CLASH, MOVED, APART, SAME])
    for said in (clashing, moved, apart, same):
        assert isclose(said.contradiction + said.same + said.refines + said.compatible + said.update, 1)
    assert clash(clashing) > 0.5
    assert clash(moved) > 0.5
    assert moved.update > moved.contradiction
    assert apart.compatible > 0.5
    assert same.same > 0.5


def test_it_says_here_what_it_said_where_it_was_taught(larger: LargerJudge):
    """But for the rounding of two kinds of machines."""
    probes = json.loads((files("recollect_judge") / "models.json").read_text("utf-8"))["judge"]["probes"]
    found = larger.compare([(one["a"], one["b"]) for one in probes])
    apart = [
        abs(here - there)
        for said, one in zip(found, probes, strict=True)
        for here, there in zip(five(said), shares(one["logits"]), strict=True)
    ]
    assert len(probes) >= 10
    assert max(apart) < 0.1
    assert sum(apart) / len(apart) < 0.01


def test_a_verdict_does_not_depend_on_the_company_of_its_pair(larger: LargerJudge):
    odd = [("a", ""), ("", ""), ("word " * 400, "\ud800 half a pair"), ("我" * 5_000, "x" * 5_000)]
    together = larger.compare([CLASH, *odd, APART])
    assert [together[0], together[-1]] == [larger.compare([one])[0] for one in (CLASH, APART)]


def test_a_package_with_another_judge_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(larger_judge, "NAME", "judge-of-next-year")
    with pytest.raises(ModelFailed, match="not judge-of-next-year"):
        LargerJudge().compare([CLASH])


def test_a_damaged_package_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    whole = files("recollect_judge")
    for name in ("models.json", "tokenizer.json"):
        (tmp_path / name).write_bytes((whole / name).read_bytes())
    monkeypatch.setattr(larger_judge, "files", lambda name: tmp_path)
    with pytest.raises(ModelFailed, match="cannot be loaded"):
        LargerJudge().compare([CLASH])


def test_only_what_is_suspected_gets_a_second_look_and_then_both_count(larger: LargerJudge):
    quick, thorough = LocalJudge(), Listening(larger)
    pairs = [APART, CLASH, ("Ines keeps two goats.", "The deployment runs on Fridays."), MOVED]
    first, found = quick.compare(pairs), SecondLook(quick, thorough).compare(pairs)
    assert [clash(one) >= SUSPECT for one in first] == [False, True, False, True]
    assert thorough.asked == [CLASH, MOVED]
    assert [found[0], found[2]] == [first[0], first[2]]
    for place, again in ((1, larger.compare([CLASH])[0]), (3, larger.compare([MOVED])[0])):
        assert isclose(clash(found[place]), (1 - SHARE) * clash(first[place]) + SHARE * clash(again))
        assert isclose(found[place].same, (1 - SHARE) * first[place].same + SHARE * again.same)
    assert [one.again for one in found] == [False, True, False, True]


def test_where_nothing_is_suspected_the_larger_one_is_not_even_loaded():
    thorough = LargerJudge()
    SecondLook(LocalJudge(), thorough).compare([APART])
    assert thorough._loaded is None


def test_where_the_larger_one_fails_the_word_of_the_other_stands(monkeypatch: pytest.MonkeyPatch):
    def absent(name: str):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(larger_judge, "files", absent)
    quick = LocalJudge()
    found = SecondLook(quick, LargerJudge()).compare([CLASH, APART])
    assert found == quick.compare([CLASH, APART])
    assert not any(one.again for one in found)


def test_it_is_used_where_it_is_installed_unless_a_setting_says_otherwise(monkeypatch: pytest.MonkeyPatch):
    usual = minds.chosen(load()).judge
    assert isinstance(usual, SecondLook)
    assert usual.name == f"{LocalJudge.name}+{LargerJudge.name}"
    assert isinstance(minds.chosen(load({"judge": "small"})).judge, LocalJudge)
    assert minds.chosen(load({"judge": "none"})).judge is None
    monkeypatch.setitem(sys.modules, "recollect_judge", None)
    assert isinstance(minds.chosen(load()).judge, LocalJudge)


@pytest.mark.parametrize("installed", [True, False])
def test_clashes_are_found_with_it_and_without_it_and_nobody_waits_for_it(
    installed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    if not installed:
        monkeypatch.setitem(sys.modules, "recollect_judge", None)
    loads: list[str] = []
    whole = larger_judge._loaded
    monkeypatch.setattr(larger_judge, "_loaded", lambda name: loads.append(name) or whole(name))
    settings = load({"store": str(tmp_path / "memory.db")})
    with connect(settings, create=True) as memory:
        for text in BALCONY:
            memory.remember(text)
        memory.query(Query(text="Does Mira have a balcony?"))
        assert loads == []
        worker(settings).run_until_idle()
        store, tenant = memory._deps.store, settings.tenant
        doubts = [edge for item in memory.items() for edge in store.relations(tenant, item.id)]
        assert store.records(tenant, "contradiction") or [edge for edge in doubts if edge.relation_type == MAY_REPLACE]
    assert loads == [larger_judge.NAME] * installed
