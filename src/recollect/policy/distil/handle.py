"""R5: the events are the words. Their version is a handle that names them."""

from recollect.domain.level import Level
from recollect.domain.witness import Bullet, written
from recollect.policy.distil.material import Draft, Material, witnesses


def raw(material: Material) -> Draft:
    """The handle of the evidence: its witness notation, with the events as witnesses."""
    named = witnesses(material.item.id, material.events, "said so")
    if not named:
        raise ValueError("a memory without events has no R5: give the events that it rests on")
    notation = written(named)
    return Draft(Level.R5, notation, (Bullet(notation, named),), 1.0)
