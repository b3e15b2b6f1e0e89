"""What git says of a repository: whether something was released, or merged into the main branch, since a mark.

Git is asked for what it has, in words that no configuration of the repository changes: no hook, no pager, no network,
nothing is written. It is not waited for for long.
"""

import os.path
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from recollect.errors import Invalid

PATIENCE = 10.0
"""Seconds that git has for an answer."""
_SHORT = 7
_MARK = re.compile(r"(?P<branch>\S+) (?P<tip>[0-9a-f]{40,64}|-) (?P<tags>\d+) (?P<newest>\d+)(?: (?P<tag>\S+))?")
_MAIN = ("refs/heads/main", "refs/heads/master")
_REMOTE = "refs/remotes/origin/HEAD"
_NONE = "-"


@dataclass(frozen=True, slots=True)
class Seen:
    """How far a repository was looked at, and what has happened since the last time: blank where nothing has."""

    mark: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Tag:
    at: int
    name: str


@dataclass(frozen=True, slots=True)
class _Mark:
    branch: str
    tip: str
    tags: int
    newest: _Tag

    def __str__(self) -> str:
        return f"{self.branch} {self.tip} {self.tags} {self.newest.at} {self.newest.name}".rstrip()


def look(path: Path, mark: str = "") -> Seen:
    """What has happened since the mark, and the next one. The first look only sets it. A folder that is no repository
    is Invalid."""
    git = _Git(_folder(path))
    tags = git.tags()
    branch, tip = git.main()
    now = _Mark(branch, tip, len(tags), tags[0] if tags else _Tag(0, ""))
    before = _read(mark)
    if before is None:
        return Seen(str(now))
    happened = [*_released(before, tags), *_merged(git, before, now)]
    return Seen(str(now), ", ".join(happened))


def _released(before: _Mark, tags: Sequence[_Tag]) -> list[str]:
    """The tags that were set since. One that was only moved is no release, nor is one that is gone."""
    newer = [tag for tag in tags if tag.at > before.newest.at and tag.name != before.newest.name]
    if newer:
        return [f"tag {newer[0].name}" + _more(len(newer) - 1)]
    return [f"tag {tags[0].name}"] if len(tags) > before.tags else []


def _merged(git: "_Git", before: _Mark, now: _Mark) -> list[str]:
    if _NONE in (before.tip, now.tip) or before.branch != now.branch or before.tip == now.tip:
        return []
    merges = git.merges(before.tip, now.tip)
    return [f"merge of {merges[0][:_SHORT]} into {_plain(now.branch)}" + _more(len(merges) - 1)] if merges else []


def _more(count: int) -> str:
    return f" (and {count} more)" if count else ""


def _plain(branch: str) -> str:
    return branch.rpartition("/")[2]


def _read(mark: str) -> _Mark | None:
    found = _MARK.fullmatch(mark)
    if found is None:
        return None
    return _Mark(found["branch"], found["tip"], int(found["tags"]), _Tag(int(found["newest"]), found["tag"] or ""))


def _folder(path: Path) -> Path:
    folder = path.expanduser()
    if not folder.is_dir():
        raise Invalid(f"there is no folder {path}", "Put the repository's place into the settings: repositories.")
    return folder.resolve()


@dataclass(frozen=True, slots=True)
class _Git:
    """Git's answers about one folder."""

    folder: Path

    def tags(self) -> list[_Tag]:
        """Every tag, newest first."""
        told = self._ask(
            "for-each-ref", "--sort=-creatordate", "--format=%(creatordate:unix) %(refname:lstrip=2)", "refs/tags"
        )
        pairs = [line.partition(" ") for line in told.splitlines()]
        return [_Tag(int(at) if at.isdigit() else 0, name) for at, _, name in pairs]

    def main(self) -> tuple[str, str]:
        """The main branch and where it stands: main, master, or the one that the remote calls its own."""
        told = self._ask("for-each-ref", "--format=%(refname) %(objectname) %(symref)", *_MAIN, _REMOTE)
        found = {name: rest.split() for name, _, rest in (line.partition(" ") for line in told.splitlines())}
        for branch in _MAIN:
            if branch in found:
                return branch, found[branch][0]
        if _REMOTE in found:
            tip, *aim = found[_REMOTE]
            return (aim[0] if aim else _REMOTE), tip
        return _NONE, _NONE

    def merges(self, since: str, until: str) -> list[str]:
        """What was merged into a branch between two of its commits, newest first; nothing where the first of them is
        not there any more."""
        if self._run("cat-file", "-e", f"{since}^{{commit}}").returncode:
            return []
        told = self._ask("rev-list", "--merges", "--first-parent", "--parents", f"{since}..{until}", "--")
        return [line.split()[2] for line in told.splitlines()]

    def _ask(self, *words: str) -> str:
        done = self._run(*words)
        if done.returncode:
            raise self._failed(done.stderr)
        return done.stdout

    def _run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        git = shutil.which("git")
        if git is None:
            raise Invalid("git is not installed here", "Install it, or advance the epoch by hand: recollect epoch")
        try:
            return subprocess.run(
                [git, *_HARMLESS, *words],
                cwd=self.folder,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=PATIENCE,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise Invalid(f"git did not answer about {self.folder} within {PATIENCE:g} seconds", _LATER) from None
        except OSError as error:
            raise Invalid(f"git cannot look at {self.folder}: {error.strerror}", _LATER) from None

    def _environment(self) -> dict[str, str]:
        """Made anew, so that nothing that git would obey is inherited. The home folder is where a person says whose
        repositories are to be trusted."""
        return {
            "HOME": os.path.expanduser("~"),
            "LC_ALL": "C",
            "GIT_CEILING_DIRECTORIES": str(self.folder.parent),
            "GIT_ALLOW_PROTOCOL": "none",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
        }

    def _failed(self, told: str) -> Invalid:
        if "dubious ownership" in told:
            return Invalid(
                f"git does not trust {self.folder}: it belongs to another user of this machine",
                f"Say that you do: git config --global --add safe.directory {self.folder}",
            )
        if "not a git repository" in told:
            return Invalid(
                f"{self.folder} is not a git repository",
                "Name the folder that holds .git in the settings: repositories.",
            )
        first = (told.strip().splitlines() or ["it gave no reason"])[0]
        return Invalid(f"git cannot read {self.folder}: {first}", "Look at it with: git status")


_LATER = "It is tried again within the hour. You can also advance the epoch by hand: recollect epoch"
_HARMLESS = (
    "--no-pager",
    "--no-replace-objects",
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "protocol.allow=never"),
    *("-c", "credential.helper="),
    *("-c", "gc.auto=0"),
    *("-c", "maintenance.auto=false"),
)
