"""Levels: one memory at the length that helps, more of its evidence on request, and its versions for those who look
after memory. Nobody names a level."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response
from pydantic import BeforeValidator

from recollect.domain.ids import ItemId, Rev, VersionId
from recollect.domain.portion import MOST
from recollect.domain.turn import Task
from recollect.interfaces import levels
from recollect.interfaces.http import answers
from recollect.interfaces.http.requests import CompressBody, PromoteBody, ReasonBody
from recollect.interfaces.http.routes.acting import ESCALATIONS, REFUSALS, Acting, Id, Json, Limit, named
from recollect.memory import Memory

room = APIRouter(prefix="/memory", tags=["levels"], responses=REFUSALS)


def _unnamed(word: Any) -> Any:
    if word not in ("auto", "more"):
        raise ValueError("levels are not named: ask for auto, or for more, which is one step closer to the evidence")
    return word


AutoOrMore = Annotated[
    Literal["auto", "more"],
    BeforeValidator(_unnamed),
    Query(description="auto: as much as the task needs. more: the next step towards the evidence."),
]
VersionName = Annotated[
    str,
    Path(
        alias="versionId",
        description="A version, by its id or an ending of it that fits no other.",
        examples=[answers.VERSION_ID],
    ),
]


@room.get("/{id}", response_model=answers.LeveledAnswer, responses=ESCALATIONS)
def serve(
    id: Id,
    acting: Acting,
    level: AutoOrMore = "auto",
    turn_id: Annotated[
        str | None,
        Query(max_length=200, description="The answer in the making: each further `more` in it is another step."),
    ] = None,
    task: Annotated[Task, Query(description="What it is for; all but routine need evidence.")] = Task.ROUTINE,
) -> Response:
    """A memory, as much of it as is needed: by default its summary, every sentence with its witnesses. `level=more` is
    one step closer to the evidence, and within a turn each further one is another step. Where there is nothing more,
    409 `nothing-more`.

    For whoever may read the memory. Levels are not named: any word but auto and more is refused."""
    leveled = acting.serve(named(acting, id), more=level == "more", turn_id=turn_id, task=task)
    return Json(levels.leveled_document(leveled))


@room.get("/{id}/versions", response_model=answers.VersionsAnswer)
def versions(
    id: Id,
    acting: Acting,
    before: Annotated[
        str | None, Query(max_length=36, description="Versions before this one: the `next` of an earlier page.")
    ] = None,
    limit: Limit = MOST,
) -> Response:
    """How a memory was shortened: its versions, newest first, without their words, a page at a time.

    For whoever may read the memory."""
    item_id = named(acting, id)
    found = acting.versions(item_id, before=VersionId(before) if before else None, limit=limit)
    told = [levels.version_info_document(one) for one in found]
    return Json({"id": item_id, "versions": told, "next": found.next})


@room.get("/{id}/versions/{versionId}", response_model=answers.VersionAnswer)
def version(id: Id, version_id: VersionName, acting: Acting) -> Response:
    """One version with its words. The reading is journalled.

    For moderators and admins."""
    item_id = named(acting, id)
    found = acting.version(item_id, levels.version_named(acting, item_id, version_id))
    return Json(levels.version_document(found, acting.item(item_id)))


@room.put("/{id}/active/{versionId}", response_model=answers.StandingAnswer)
def promote(id: Id, version_id: VersionName, acting: Acting, asked: PromoteBody | None = None) -> Response:
    """Have a version stand for its memory, whether an older or a fuller one. It is locked: nothing compresses it for a
    while, and reading it prolongs that.

    For moderators and admins."""
    asked = asked or PromoteBody()
    item_id = named(acting, id)
    wanted = levels.version_named(acting, item_id, version_id)
    return _standing(acting, item_id, acting.promote(item_id, wanted, reason=asked.reason, minutes=asked.minutes))


@room.post("/compress", response_model=answers.CompressAnswer)
def compress(acting: Acting, asked: CompressBody | None = None) -> Response:
    """Compress now: a memory, a topic, or all that is due. What is locked is skipped, what is pinned keeps its summary,
    and every step can be taken back. With `dry_run` nothing is written.

    For moderators and admins."""
    asked = asked or CompressBody()
    item_id = None if asked.memory_id is None else named(acting, asked.memory_id)
    done = acting.compress(item_id=item_id, topic=asked.topic_key, dry_run=asked.dry_run)
    return Json(levels.hammered_document(done))


@room.post("/{id}/close", response_model=answers.CompressAnswer, responses={202: {"model": answers.CompressAnswer}})
def close(id: Id, acting: Acting) -> Response:
    """Close an episode: its clean log, summary, hint and index word are made now rather than when its thread has been
    silent for a while. More messages open it again. A long thread is left to a job, with 202: asked again, 200 when it
    is done.

    For whoever may write the episode."""
    done = acting.close_episode(named(acting, id), wait=False)
    return Json(levels.hammered_document(done), status_code=202 if done.job else 200)


@room.post("/{id}/pin", response_model=answers.StandingAnswer)
def pin(id: Id, acting: Acting) -> Response:
    """Pin a memory: it is never served shorter than its summary, and no rule hides it.

    For people who may write the memory, not for agents."""
    item_id = named(acting, id)
    return _standing(acting, item_id, acting.pin(item_id))


@room.post("/{id}/unpin", response_model=answers.StandingAnswer)
def unpin(id: Id, acting: Acting) -> Response:
    """Take a pin away.

    For people who may write the memory, not for agents."""
    item_id = named(acting, id)
    return _standing(acting, item_id, acting.unpin(item_id))


@room.post("/{id}/archive", response_model=answers.StandingAnswer)
def archive(id: Id, acting: Acting, asked: ReasonBody | None = None) -> Response:
    """Take a memory out of default retrieval. It can still be searched for, and brought back.

    For whoever may write the memory."""
    item_id = named(acting, id)
    return _standing(acting, item_id, acting.archive(item_id, asked.reason if asked else ""))


@room.post("/{id}/restore", response_model=answers.StandingAnswer)
def restore(id: Id, acting: Acting) -> Response:
    """Bring back what was archived, expired or deleted.

    For whoever may write the memory."""
    item_id = named(acting, id)
    return _standing(acting, item_id, acting.restore(item_id))


def _standing(acting: Memory, item_id: ItemId, rev: Rev) -> Response:
    """How the memory stands after the change."""
    return Json({**levels.standing_document(acting.item(item_id)), "rev": rev})
