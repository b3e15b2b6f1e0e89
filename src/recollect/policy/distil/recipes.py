"""Patterns and workflows as readable lines: they are structure already, and every line of it rests on the evidence."""

from collections.abc import Iterator, Mapping
from typing import cast

from recollect.domain.item import Pattern, Workflow
from recollect.domain.level import Level
from recollect.domain.witness import Bullet
from recollect.policy.distil.material import Draft, Material, witnesses

_DEEPEST = 6


def pattern(body: Pattern, material: Material) -> Draft | None:
    """The template of a pattern, a line each, under the occasion it is for."""
    return _recipe(material, [f"Pattern for {body.trigger}.", *_lines(body.template), f"Hint: {body.hint}."])


def workflow(body: Workflow, material: Material) -> Draft | None:
    """The steps of a workflow with their details, under the occasion it is for."""
    details = dict(body.details)
    steps = [f"{step}: {_said(details.pop(step))}" if step in details else step for step in body.steps]
    numbered = [f"{number}. {step}" for number, step in enumerate(steps, 1)]
    return _recipe(material, [f"Workflow for {body.trigger}.", *numbered, *_lines(details)])


def _recipe(material: Material, lines: list[str]) -> Draft | None:
    cited = dict.fromkeys(witness for bullet in material.bullets for witness in bullet.witnesses)
    named = tuple(cited) or witnesses(material.item.id, material.events, "said so")
    if not named:
        return None
    bullets = tuple(Bullet(" ".join(line.split()), named) for line in lines if line.strip())
    return Draft(Level.R3, "\n".join(bullet.text for bullet in bullets), bullets, 1.0)


def _lines(value: Mapping[str, object], depth: int = 0) -> Iterator[str]:
    for key, part in value.items():
        if isinstance(part, Mapping) and depth < _DEEPEST:
            for line in _lines(cast(Mapping[str, object], part), depth + 1):
                yield f"{key}.{line}"
        else:
            yield f"{key}: {_said(cast(object, part))}"


def _said(value: object) -> str:
    match value:
        case str():
            return value
        case list() | tuple():
            return ", ".join(_said(part) for part in cast(list[object], value))
        case Mapping():
            return ", ".join(f"{key} {_said(part)}" for key, part in cast(Mapping[str, object], value).items())
        case _:
            return "none" if value is None else str(value)
