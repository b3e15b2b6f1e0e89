"""A project moves on: by command, or with the tags and merges of its repository."""

import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from recollect import Memory, Message
from recollect.care import epoch as epochs
from recollect.care.restore import ToRevision
from recollect.custody import Deps
from recollect.domain.query import Filters
from recollect.domain.record import Epoch
from recollect.domain.scope import Scope
from recollect.errors import Invalid, Stale
from recollect.jobs.kinds import KINDS
from recollect.jobs.worker import Worker
from recollect.repository import look
from tests.flows import lives
from tests.flows.lives import (
    advance,
    item,
    rev,
)
from tests.policy.talk import Fake
from tests.worlds import World

clock, memory = lives.clock, lives.memory

# -- the project moves on ---------------------------------------------------------------------------------


def test_the_epoch_advances_by_command_and_new_memories_belong_to_it(world: World, memory: Memory):
    first = memory.remember("Atlas speaks REST.", project_id="atlas")
    assert epochs.current(world.store, world.tenant, "atlas") is None
    advance(world, "released 1.0")
    found = epochs.current(world.store, world.tenant, "atlas")
    assert found is not None
    assert (found.number, found.reason) == (1, "released 1.0")
    second = memory.remember("The gateway of Atlas listens on port 8443.", project_id="atlas", thread_id="ports")
    own = memory.remember("Mira takes her tea without sugar.")
    other = memory.remember("Borealis has no gateway at all.", project_id="borealis")
    made = [item(world, kept.item_id).project_epoch for kept in (first, second, own, other)]
    assert made == [0, 1, 0, 0]
    episodes = {found.thread_id: found.project_epoch for found in memory.items(Filters(kinds=frozenset({"episode"})))}
    assert episodes["ports"] == 1


def test_what_is_made_of_messages_belongs_to_the_epoch_too(world: World, memory: Memory):
    advance(world)
    advance(world)
    said = [Message(text="The gateway of Atlas listens on port 8443.", author="Mira", role="user")]
    reading = Memory(replace(memory._deps, keeper=Fake()), memory.principal)
    at_once = reading.ingest(said, thread_id="a", project_id="atlas", wait=True)
    reading.ingest(
        [Message(text="Our biggest customer is Helvetia Steel.", author="Mira", role="user")],
        thread_id="b",
        project_id="atlas",
    )
    Worker(deps=reading._deps, kinds=KINDS, name="test").run_until_idle()
    assert at_once.items
    facts = memory.items(Filters(kinds=frozenset({"fact"})))
    assert len(facts) == 2
    assert {fact.project_epoch for fact in facts} == {2}


class Asked:
    """A store that counts which records it was asked for."""

    def __init__(self, world: World) -> None:
        self.records = 0
        store = world.store
        self.record = self._counting(store.record)
        self._store = store

    def _counting(self, record: Callable[..., object]) -> Callable[..., object]:
        def counted(*args: object) -> object:
            self.records += 1
            return record(*args)

        return counted

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)


def test_a_write_looks_up_the_epoch_once_and_only_in_a_project(world: World, memory: Memory):
    asked = Asked(world)
    deps = Deps(asked, memory._deps.clock, memory._deps.erasures, memory._deps.seal)  # type: ignore[arg-type]
    counted = Memory(deps, memory.principal)
    counted.remember("Mira takes her tea without sugar.")
    assert asked.records == 0
    counted.remember("Atlas speaks REST.", project_id="atlas")
    assert asked.records == 1
    counted.append([Message(text="Good morning.", author="Mira")], thread_id="notes", project_id="atlas")
    assert asked.records == 1


def test_an_advance_that_was_decided_on_an_old_epoch_is_stale(world: World, memory: Memory):
    note = epochs.advance(world.store, world.tenant, "atlas", "one", world.clock.now())
    world.apply(note)
    with pytest.raises(Stale):
        world.apply(note)


def test_an_advance_can_be_taken_back(world: World, memory: Memory):
    advance(world)
    at = rev(world)
    advance(world)
    memory.rollback(ToRevision(Scope(tenant=world.tenant), at))
    found = epochs.current(world.store, world.tenant, "atlas")
    assert found is not None
    assert found.number == 1


# -- git --------------------------------------------------------------------------------------------------


class Repository:
    """A real repository; every commit is a minute after the one before."""

    def __init__(self, path: Path, main: str = "main") -> None:
        self.path = path
        self._minutes = 0
        path.mkdir()
        self.git("init", "--quiet", f"--initial-branch={main}")
        self.commit("first")

    def git(self, *words: str) -> str:
        self._minutes += 1
        at = f"2026-03-01T{12 + self._minutes // 60:02}:{self._minutes % 60:02}:00Z"
        told = {
            "GIT_AUTHOR_DATE": at,
            "GIT_COMMITTER_DATE": at,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "HOME": str(self.path),
        }
        named = ["-c", "user.name=Mira", "-c", "user.email=mira@example.org", "-c", "commit.gpgsign=false"]
        done = subprocess.run(
            ["git", *named, *words],
            cwd=self.path,
            env={**os.environ, **told},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def commit(self, text: str) -> str:
        self.git("commit", "--quiet", "--allow-empty", "-m", text)
        return self.git("rev-parse", "HEAD")

    def merge(self, branch: str, into: str = "main") -> str:
        self.git("checkout", "--quiet", "-b", branch)
        tip = self.commit(f"work on {branch}")
        self.git("checkout", "--quiet", into)
        self.git("merge", "--quiet", "--no-ff", "-m", f"merge {branch}", branch)
        return tip


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "atlas")


def follow(world: World, repository: Repository) -> Epoch | None:
    note = epochs.follow(world.store, world.tenant, "atlas", repository.path, world.clock.now())
    if note is not None:
        world.apply(note)
    return epochs.current(world.store, world.tenant, "atlas") if note else None


def test_the_epoch_follows_tags_and_merges(world: World, memory: Memory, repository: Repository):
    repository.git("tag", "v1.0.0")
    first = follow(world, repository)
    assert first is not None
    assert (first.number, first.reason) == (0, ""), "the first look only sets the mark"
    assert follow(world, repository) is None, "nothing has happened"

    repository.commit("a plain commit")
    moved = follow(world, repository)
    assert moved is not None
    assert moved.number == 0, "work on the main branch is not a release"

    repository.git("tag", "-a", "v1.1.0", "-m", "released")
    tagged = follow(world, repository)
    assert tagged is not None
    assert (tagged.number, tagged.reason) == (1, "tag v1.1.0")

    tip = repository.merge("feature")
    merged = follow(world, repository)
    assert merged is not None
    assert (merged.number, merged.reason) == (2, f"merge of {tip[:7]} into main")

    tips = [repository.merge("one"), repository.merge("two")]
    repository.git("tag", "v1.2.0")
    both = follow(world, repository)
    assert both is not None
    assert (both.number, both.reason) == (3, f"tag v1.2.0, merge of {tips[1][:7]} into main (and 1 more)")
    assert follow(world, repository) is None


def test_a_tag_that_is_moved_or_removed_is_no_release(repository: Repository):
    repository.git("tag", "v1.0.0")
    repository.commit("more")
    repository.git("tag", "nightly")
    mark = look(repository.path).mark
    repository.commit("more still")
    repository.git("tag", "--force", "nightly")
    seen = look(repository.path, mark)
    assert (seen.reason, seen.mark != mark) == ("", True)
    repository.git("tag", "--delete", "nightly")
    assert look(repository.path, seen.mark).reason == ""


def test_a_merge_into_another_branch_is_not_one_into_main(repository: Repository):
    mark = look(repository.path).mark
    repository.git("checkout", "--quiet", "-b", "feature")
    repository.merge("detail", into="feature")
    assert look(repository.path, mark).reason == ""
    tip = repository.git("rev-parse", "HEAD")
    repository.git("checkout", "--quiet", "main")
    repository.git("merge", "--quiet", "--no-ff", "-m", "merge feature", "feature")
    assert look(repository.path, mark).reason == f"merge of {tip[:7]} into main"


def test_a_tag_on_an_old_commit_is_noticed(repository: Repository):
    repository.commit("second")
    repository.git("tag", "v2.0.0")
    mark = look(repository.path).mark
    repository.git("tag", "v1.0.0", "HEAD~1")
    assert look(repository.path, mark).reason.startswith("tag ")


def test_a_rewritten_history_and_an_unknown_mark_only_set_the_mark_anew(repository: Repository):
    mark = look(repository.path).mark
    assert look(repository.path, mark.replace(mark.split()[1], "0" * 40)).reason == ""
    assert look(repository.path, "whatever this is").reason == ""


def test_the_main_branch_is_main_master_or_what_the_remote_calls_its_own(tmp_path: Path):
    old = Repository(tmp_path / "old", main="master")
    assert look(old.path).mark.startswith("refs/heads/master ")
    trunk = Repository(tmp_path / "trunk", main="trunk")
    assert look(trunk.path).mark.startswith("- - ")
    trunk.git("clone", "--quiet", str(trunk.path), str(tmp_path / "clone"))
    mark = look(tmp_path / "clone").mark
    assert mark.startswith("refs/remotes/origin/trunk ")
    tip = trunk.merge("feature", into="trunk")
    trunk.git("-C", str(tmp_path / "clone"), "fetch", "--quiet")
    assert look(tmp_path / "clone", mark).reason == f"merge of {tip[:7]} into trunk"


def test_an_empty_repository_is_followed_from_its_first_commit_on(tmp_path: Path):
    subprocess.run(["git", "init", "--quiet", str(tmp_path / "new")], check=True)
    assert look(tmp_path / "new").mark == "- - 0 0"


def test_what_is_no_repository_is_told_from_one_that_is_gone(repository: Repository, tmp_path: Path):
    inside = repository.path / "src"
    inside.mkdir()
    with pytest.raises(Invalid, match=r"is not a git repository.*holds \.git"):
        look(inside)
    with pytest.raises(Invalid, match="there is no folder"):
        look(tmp_path / "gone")


def test_git_that_trusts_nobody_elses_folder_is_explained(repository: Repository, monkeypatch: pytest.MonkeyPatch):
    fake = repository.path.parent / "bin"
    fake.mkdir()
    script = fake / "git"
    script.write_text("#!/bin/sh\necho \"fatal: detected dubious ownership in repository at 'x'\" >&2\nexit 128\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(fake))
    with pytest.raises(Invalid, match=r"git config --global --add safe\.directory"):
        look(repository.path)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Invalid, match="not installed"):
        look(repository.path)


def test_git_that_hangs_is_not_waited_for(repository: Repository, monkeypatch: pytest.MonkeyPatch):
    fake = repository.path.parent / "bin"
    fake.mkdir()
    script = fake / "git"
    script.write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(fake))
    monkeypatch.setattr("recollect.repository.PATIENCE", 0.2)
    with pytest.raises(Invalid, match="did not answer"):
        look(repository.path)


def test_nothing_of_the_environment_or_the_repository_makes_git_do_something_else(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    mark = look(repository.path).mark
    elsewhere = Repository(tmp_path / "elsewhere")
    elsewhere.git("tag", "v9")
    trap = tmp_path / "trapped"
    for name in ("core.fsmonitor", "core.pager", "core.sshCommand", "pager.for-each-ref", "pager.rev-list"):
        subprocess.run(
            ["git", "config", "--file", str(repository.path / ".git/config"), name, f"touch {trap}"], check=True
        )
    monkeypatch.setenv("GIT_DIR", str(elsewhere.path / ".git"))
    monkeypatch.setenv("GIT_TRACE", str(tmp_path / "trace"))
    assert look(repository.path, mark).mark == mark
    assert not trap.exists()
    assert not (tmp_path / "trace").exists()


def test_each_project_with_a_repository_is_followed_and_a_broken_one_stops_no_other(
    world: World, memory: Memory, repository: Repository, tmp_path: Path
):
    for project in ("atlas", "borealis"):
        memory.remember(f"{project} has a gateway.", project_id=project)
    named = {"atlas": str(repository.path), "borealis": str(tmp_path / "gone"), "cirrus": str(repository.path)}
    found = dict(epochs.follow_all(world.store, world.tenant, named, world.clock.now()))
    assert found.keys() == {"atlas", "borealis"}, "the tenant remembers nothing of cirrus"
    assert isinstance(found["borealis"], Invalid)
    assert not isinstance(found["atlas"], Invalid)
    world.apply(found["atlas"])
    assert dict(epochs.follow_all(world.store, world.tenant, {"atlas": named["atlas"]}, world.clock.now())) == {}
