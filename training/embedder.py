"""The embedder: a text in, a vector out, so that a question lies near the turns that answer it.

    training/run embedder fit          # learns from every conversation and writes build/embedder-*.safetensors
    training/run embedder test         # five parts, each asked of a model that never saw it; the learning curve

A question is drawn to its turns and away from the other turns of its conversation and of those beside it. Statements
that are the same, refine or contradict each other are drawn together too: what the judge is to compare must be found
first. A part of the loss holds every vector near that of the base, which has seen a thousand times more of the world.
"""

import argparse
import gzip
import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import rows
import torch
from rows import Row
from torch import Tensor, nn
from torch.nn import functional
from trunk import DEVICE, Batch, Trunk, alone, base, mean, save, tokenizer

TOGETHER = 5
"""Conversations that are asked as one: what is looked for lies among their turns."""


@dataclass(frozen=True)
class Plan:
    epochs: int = 4
    rate: float = 2e-4
    batch: int = 32
    near: int = 20
    """Other turns of its conversation that a question is shown."""
    heat: float = 0.05
    hold: float = 0.1
    """What straying from the base costs."""
    pairs: float = 0.3
    """What pairs of statements count against questions."""
    dropout: float = 0.1
    share: float = 0.7
    """Of what was learned, how much is kept: the rest of every weight is the base's, which knows more of the world."""


class Embedder(nn.Module):
    def __init__(self, dropout: float = 0.1) -> None:
        super().__init__()
        self.trunk = Trunk(base(), dropout)

    def forward(self, batch: Batch) -> Tensor:
        return functional.normalize(mean(self.trunk(batch), batch.mask).float(), dim=1)


@dataclass(frozen=True)
class Question:
    text: str
    world: int
    right: frozenset[int]
    """Places of the turns that answer it."""


def questions(worlds: Sequence[Row]) -> list[Question]:
    found: list[Question] = []
    for number, world in enumerate(worlds):
        places = {message["id"]: place for place, message in enumerate(world["messages"])}
        for one in world["questions"]:
            if one["evidence"]:
                right = frozenset(places[message] for message in one["evidence"])
                found.append(Question(one["question"], number, right))
                people = {message["speaker"] for message in world["messages"]}
                bare = " ".join(w for w in one["question"].split() if w.strip("?,.'s") not in people and w)
                if bare != one["question"]:
                    found.append(Question(bare, number, right))
    return found


def learn(worlds: Sequence[Row], pairs: Sequence[Row], plan: Plan, seed: int) -> Embedder:
    torch.manual_seed(seed)
    chance = random.Random(seed)
    tokens, model = tokenizer(), Embedder(plan.dropout).to(DEVICE)
    old = Embedder().to(DEVICE).eval()
    asked = questions(worlds)
    hard = _hardest(old, worlds, asked)
    alike = [row for row in pairs if row["label"] != "compatible"]
    trained = [value for value in model.parameters() if value.requires_grad]
    optimiser = torch.optim.AdamW(trained, lr=plan.rate, weight_decay=0.01)
    steps = plan.epochs * (len(asked) // plan.batch + 1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, plan.rate, total_steps=steps, pct_start=0.1)
    model.train()
    order = list(range(len(asked)))
    for _ in range(plan.epochs):
        chance.shuffle(order)
        for start in range(0, len(order), plan.batch):
            part = [asked[number] for number in order[start : start + plan.batch]]
            near = [hard[number] for number in order[start : start + plan.batch]]
            turns, owner = _shown(part, near, worlds, plan, chance)
            texts = [one.text for one in part]
            read = [alone(tokens, text, 96) for text in (*texts, *turns)]
            with torch.autocast(DEVICE.type, torch.bfloat16):
                made = model(Batch(read))
            with torch.no_grad(), torch.autocast(DEVICE.type, torch.bfloat16):
                was = old(Batch(read))
            loss = _drawn(made, part, owner, plan) + plan.hold * (1 - (made * was).sum(1)).mean()
            if plan.pairs and alike:
                loss = loss + plan.pairs * _together(
                    model, tokens, chance.sample(alike, min(len(alike), plan.batch)), plan
                )
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(trained, 1.0)
            optimiser.step()
            schedule.step()
    return _between(old, model, plan.share).eval()


def _between(old: Embedder, new: Embedder, share: float) -> Embedder:
    """The weights between two networks, so far on the way from the old to the new."""
    was = old.state_dict()
    new.load_state_dict(
        {
            key: was[key] + share * (value - was[key]) if value.is_floating_point() else value
            for key, value in new.state_dict().items()
        }
    )
    return new


def _hardest(model: Embedder, worlds: Sequence[Row], asked: Sequence[Question]) -> list[list[int]]:
    """The wrong turns of its conversation that the base finds nearest to each question."""
    known = [vectors(model, [m["text"] for m in world["messages"]]) for world in worlds]
    own = vectors(model, [one.text for one in asked])
    found: list[list[int]] = []
    for one, vector in zip(asked, own, strict=True):
        order = np.argsort(-(known[one.world] @ vector))
        beside = {place + step for place in one.right for step in (-1, 0, 1)}
        found.append([int(place) for place in order if int(place) not in beside][:20])
    return found


def _shown(
    part: Sequence[Question], near: Sequence[Sequence[int]], worlds: Sequence[Row], plan: Plan, chance: random.Random
) -> tuple[list[str], list[tuple[int, int]]]:
    """The turns of a batch, each with its conversation and place: of every question a right one and some wrong ones."""
    places: dict[tuple[int, int], str] = {}
    for one, wrong in zip(part, near, strict=True):
        messages = worlds[one.world]["messages"]
        chosen = [chance.choice(sorted(one.right)), *chance.sample(list(wrong), min(len(wrong), plan.near))]
        for place in chosen:
            places[one.world, place] = messages[place]["text"]
    return list(places.values()), list(places)


def _drawn(made: Tensor, part: Sequence[Question], owner: Sequence[tuple[int, int]], plan: Plan) -> Tensor:
    """The right turns of a question against all others of the batch; those beside a right one count as neither."""
    count = len(part)
    scores = made[:count] @ made[count:].T / plan.heat
    right = torch.zeros_like(scores, dtype=torch.bool)
    beside = torch.zeros_like(scores, dtype=torch.bool)
    for row, one in enumerate(part):
        for column, (world, place) in enumerate(owner):
            if world == one.world:
                right[row, column] = place in one.right
                beside[row, column] = place not in one.right and bool({place - 1, place + 1} & one.right)
    scores = scores.masked_fill(beside, -1e4)
    wrong = scores.masked_fill(right, -1e4)
    each = torch.logaddexp(scores, torch.logsumexp(wrong, 1, keepdim=True)) - scores
    return (each * right).sum() / right.sum().clamp(min=1)


def _together(model: Embedder, tokens: object, part: Sequence[Row], plan: Plan) -> Tensor:
    with torch.autocast(DEVICE.type, torch.bfloat16):
        made = model(Batch([alone(tokens, row[side], 96) for side in "ab" for row in part]))
    scores = made[: len(part)] @ made[len(part) :].T / plan.heat
    truth = torch.arange(len(part), device=DEVICE)
    return (functional.cross_entropy(scores, truth) + functional.cross_entropy(scores.T, truth)) / 2


@torch.no_grad()
def vectors(model: Embedder, texts: Sequence[str]) -> np.ndarray:
    tokens, found = tokenizer(), []
    for start in range(0, len(texts), 256):
        found.append(model(Batch([alone(tokens, text) for text in texts[start : start + 256]])).cpu().numpy())
    return np.concatenate(found)


def recall(model: Embedder, worlds: Sequence[Row], first: int = 10, together: int = TOGETHER) -> float:
    """Of the turns that answer a question, the share among the nearest, by the vectors alone."""
    shares: list[float] = []
    for start in range(0, len(worlds), together):
        some = worlds[start : start + together]
        ids = [(world["id"], message["id"]) for world in some for message in world["messages"]]
        known = vectors(model, [message["text"] for world in some for message in world["messages"]])
        asked = [(world["id"], one) for world in some for one in world["questions"] if one["evidence"]]
        for (world, one), vector in zip(asked, vectors(model, [one["question"] for _, one in asked]), strict=True):
            near = {ids[place] for place in np.argsort(-(known @ vector))[:first]}
            sought = {(world, message) for message in one["evidence"]}
            shares.append(len(near & sought) / len(sought))
    return float(np.mean(shares))


def by_parts(worlds: Sequence[Row], pairs: Sequence[Row], plan: Plan, share: float = 1.0, parts: int = 5) -> float:
    split = rows.folds(worlds, parts)
    found: list[float] = []
    for number, held in enumerate(split):
        others = [world for other, part in enumerate(split) if other != number for world in part]
        random.Random(number).shuffle(others)
        model = learn(others[: max(1, int(share * len(others)))], pairs, plan, number)
        found.append(recall(model, held))
    return float(np.mean(found))


def measured(model: Embedder, paths: Sequence[Path]) -> None:
    for path in paths:
        dev = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
        print(json.dumps({"dev": path.name, "r10": recall(model, dev, together=1)}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("fit", "test", "curve", "look"))
    parser.add_argument("--name", default="embedder")
    parser.add_argument("--dev", type=Path, action="append", default=[], help="conversations that are only measured")
    parser.add_argument("--half", type=int, choices=(0, 1), help="learn from every second conversation alone")
    parser.add_argument("--seed", type=int, default=0)
    for field, kind in (("epochs", int), ("rate", float), ("batch", int), ("near", int), ("heat", float),
                        ("hold", float), ("pairs", float)):  # fmt: skip
        parser.add_argument(f"--{field}", type=kind, default=getattr(Plan(), field))
    args = parser.parse_args()
    plan = Plan(**{f: getattr(args, f) for f in ("epochs", "rate", "batch", "near", "heat", "hold", "pairs")})
    worlds, pairs, began = rows.read("conversations"), rows.read("pairs"), time.time()
    if args.what == "look":
        held, *others = rows.folds(worlds)
        model = learn([world for part in others for world in part], pairs, plan, args.seed)
        print(json.dumps({"what": f"part of {plan}", "r10": recall(model, held)}), flush=True)
        measured(model, args.dev)
    elif args.what == "test":
        print(json.dumps({"what": f"test {plan}", "r10": by_parts(worlds, pairs, plan)}))
    elif args.what == "curve":
        for share in (0.1, 0.25, 0.5, 1.0):
            print(json.dumps({"what": f"curve {share}", "r10": by_parts(worlds, pairs, plan, share)}))
    else:
        model = learn(worlds if args.half is None else worlds[args.half :: 2], pairs, plan, args.seed)
        save(args.name, model)
        measured(model, args.dev)
    print(f"{time.time() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
