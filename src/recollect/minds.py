"""Which models there are, as the settings choose them. None is loaded before it is first asked something."""

from dataclasses import dataclass
from importlib.util import find_spec

from recollect.clock import SystemClock
from recollect.errors import Invalid
from recollect.policy.prompts import TASKS
from recollect.ports import Embedder, Judge, Keeper, Writer
from recollect.settings import Settings

_LARGER = "recollect_judge"
"""The package that brings the larger judge: it is used where it is there."""


@dataclass(frozen=True, slots=True)
class Minds:
    embedder: Embedder | None
    writer: Writer | None
    judge: Judge | None = None
    keeper: Keeper | None = None


def chosen(
    settings: Settings,
    *,
    embedder: Embedder | None = None,
    writer: Writer | None = None,
    judge: Judge | None = None,
    keeper: Keeper | None = None,
) -> Minds:
    """The models of the settings; one that is given takes the place of its like."""
    return Minds(
        embedder or _embedder(settings),
        writer or _writer(settings),
        judge or _judge(settings),
        keeper or _keeper(settings),
    )


def _embedder(settings: Settings) -> Embedder | None:
    match settings.embedder:
        case "none":
            return None
        case "remote":
            from recollect.models.remote import RemoteEmbedder

            if not (settings.embedder_url and settings.embedder_model):
                raise Invalid(
                    "a remote embedder needs an address and a model", "Set embedder_url and embedder_model as well."
                )
            return RemoteEmbedder(
                base_url=settings.embedder_url, model=settings.embedder_model, key=settings.embedder_key
            )
        case _:
            from recollect.models.local import LocalEmbedder

            return LocalEmbedder()


def _writer(settings: Settings) -> Writer | None:
    for task in settings.writers:
        if task not in TASKS:
            raise Invalid(f"no language model is asked for {task!r}", f"The tasks are: {', '.join(TASKS)}.")
    if not settings.writer:
        if settings.writers:
            raise Invalid("writers names models for single tasks alone", "Set writer as well.")
        return None
    from recollect.models.budget import TokenBudget
    from recollect.models.writer import Endpoint, ModelWriter, Writers

    usual = Endpoint(settings.writer, settings.writer_url, settings.writer_key)
    budget = TokenBudget(settings.writer_tokens, SystemClock().now)
    return Writers(
        ModelWriter(usual, budget, timeout=settings.writer_timeout),
        {
            task: ModelWriter(usual.beside(model), budget, timeout=settings.writer_timeout)
            for task, model in settings.writers.items()
        },
    )


def _judge(settings: Settings) -> Judge | None:
    if settings.judge == "none":
        return None
    from recollect.models.judge import LocalJudge

    quick = LocalJudge()
    if settings.judge == "small" or find_spec(_LARGER) is None:
        return quick
    from recollect.models.larger_judge import LargerJudge
    from recollect.models.second_look import SecondLook

    return SecondLook(quick, LargerJudge())


def _keeper(settings: Settings) -> Keeper | None:
    if settings.keeper == "none":
        return None
    from recollect.models.keeper import LocalKeeper

    return LocalKeeper()
