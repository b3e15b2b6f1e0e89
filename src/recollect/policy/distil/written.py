"""A summary that a language model wrote, held against the thread: what its witnesses do not bear out is refused."""

from collections.abc import Iterator

from recollect.domain.event import Trust
from recollect.domain.level import Level
from recollect.domain.text import tokens
from recollect.domain.witness import Bullet
from recollect.policy.distil import notation
from recollect.policy.distil.cleaning import clean
from recollect.policy.distil.form import WrittenBullet, WrittenSummary
from recollect.policy.distil.material import Draft, Material, witnesses
from recollect.policy.distil.support import named, supported
from recollect.policy.secrets import redact
from recollect.policy.speech.planted import planted
from recollect.policy.wording import fit


def accepted(answer: WrittenSummary, material: Material) -> Draft | None:
    """The summary without the bullets that are not borne out, not sound, injected or secret. None: nothing is left, or
    it is longer than what it sums up."""
    bullets: dict[str, Bullet] = {}
    for bullet in _sound(answer, material):
        bullets.setdefault(bullet.text.casefold(), bullet)
    kept = tuple(bullet for section in notation.SECTIONS for bullet in bullets.values() if bullet.section == section)
    if not kept:
        return None
    content = notation.write(_title(answer.title, material), kept)
    if tokens(content) > tokens(clean(material).content):
        return None
    return Draft(Level.R3, content, kept, round(len(kept) / len(answer.bullets), 3))


def _sound(answer: WrittenSummary, material: Material) -> Iterator[Bullet]:
    for written in answer.bullets:
        found = _bullet(written, material)
        if found is not None and supported(found, material.events):
            yield found


def _bullet(written: WrittenBullet, material: Material) -> Bullet | None:
    places = sorted({number - 1 for number in written.witnesses})
    text = fit(written.text)
    if text is None or not all(0 <= place < len(material.events) for place in places):
        return None
    cited = [material.events[place] for place in places]
    if any(event.trust is Trust.UNTRUSTED or planted(event.text) for event in cited):
        return None
    if planted(text) or redact(text).found or "[redacted:" in text:
        return None
    return Bullet(text, witnesses(material.item.id, cited, "named by the model"), written.section)


def _title(title: str, material: Material) -> str:
    """The title that was given to the thread, else the model's where the thread bears it out."""
    given = getattr(material.item.body, "title", "") or " ".join(title.split())
    sound = given and not planted(given) and not redact(given).found
    return given[:100] if sound and (given != title or named(given, material.events)) else ""
