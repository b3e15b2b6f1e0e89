"""Which models there are, as the settings choose them. None is loaded before it is first asked something."""

from dataclasses import dataclass

from recollect.errors import Invalid
from recollect.ports import Embedder, Writer
from recollect.settings import Settings


@dataclass(frozen=True, slots=True)
class Minds:
    embedder: Embedder | None
    writer: Writer | None


def embedder(settings: Settings) -> Embedder | None:
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


def writer(settings: Settings) -> Writer | None:
    if not settings.writer:
        return None
    from recollect.models.writer import ModelWriter

    return ModelWriter(
        settings.writer,
        base_url=settings.writer_url,
        key=settings.writer_key,
        timeout=settings.writer_timeout,
        tokens_a_day=settings.writer_tokens,
    )
