"""The judge: two memories in, how they stand to each other out (a cross-encoder over both texts).

    training/run judge fit             # learns from every row and writes build/judge-*.safetensors
    training/run judge test            # five parts, each judged by a model that never saw it; the learning curve

What is learned: every written pair in either order, pairs derived within a block, other names, changed numbers.
"""

import argparse
import json
import random
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import rows
import torch
import variations
from figures import pair_figures
from rows import Row
from torch import Tensor, nn
from torch.nn import functional
from trunk import DEVICE, WIDTH, Batch, Trunk, alone, base, joined, mean, save, tokenizer

LABELS = ("contradiction", "same", "refines", "compatible")


@dataclass(frozen=True)
class Plan:
    """How to learn."""

    epochs: int = 8
    rate: float = 3e-4
    batch: int = 128
    derived: float = 0.6
    """How many derived pairs an epoch has, against the written ones."""
    renamed: float = 0.3
    smoothing: float = 0.05
    dropout: float = 0.1
    decay: float = 0.01
    exercises: int = 40_000
    """Pairs that are made by program, and learned first."""
    cosine: float = 2.0
    """What guessing the cosine of the embedder counts while it does its exercises."""
    steady: float = 0.998
    """The weights that come out are the mean of those along the way: how slowly the mean moves."""
    twin: float = 0.5
    """How strongly two readings of a pair, in either order, are held together."""


class Judge(nn.Module):
    def __init__(self, dropout: float = 0.1) -> None:
        super().__init__()
        self.trunk = Trunk(base(), dropout)
        self.drop = nn.Dropout(dropout)
        self.head = nn.Linear(2 * WIDTH, len(LABELS))

    def forward(self, batch: Batch) -> Tensor:
        return self.head(self.drop(self.seen(batch)))

    def seen(self, batch: Batch) -> Tensor:
        hidden = self.trunk(batch)
        return torch.cat([hidden[:, 0], mean(hidden, batch.mask)], 1)


def learn(written: Sequence[Row], plan: Plan, seed: int) -> Judge:
    torch.manual_seed(seed)
    chance = random.Random(seed)
    tokens, model = tokenizer(), Judge(plan.dropout).to(DEVICE)
    model.train()
    if plan.exercises:
        _exercised(model, written, plan, chance)
    steady = torch.optim.swa_utils.AveragedModel(
        model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(plan.steady)
    )
    more = variations.derived(written)
    each = len(written) + min(len(more), int(plan.derived * len(written)))
    steps = plan.epochs * (each // plan.batch + 1)
    trained = [value for value in model.parameters() if value.requires_grad]
    optimiser = torch.optim.AdamW(trained, lr=plan.rate, weight_decay=plan.decay)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, plan.rate, total_steps=steps, pct_start=0.1)
    model.train()
    for _ in range(plan.epochs):
        shown = [*written, *chance.sample(more, min(len(more), int(plan.derived * len(written))))]
        chance.shuffle(shown)
        shown = [_varied(row, plan, chance) for row in shown]
        for start in range(0, len(shown), plan.batch):
            part = shown[start : start + plan.batch]
            truth = torch.tensor([LABELS.index(row["label"]) for row in part], device=DEVICE)
            with torch.autocast(DEVICE.type, torch.bfloat16):
                there = model(Batch([joined(tokens, row["a"], row["b"]) for row in part])).float()
                back = model(Batch([joined(tokens, row["b"], row["a"]) for row in part])).float()
            loss = (
                sum(functional.cross_entropy(one, truth, label_smoothing=plan.smoothing) for one in (there, back)) / 2
            )
            loss = loss + plan.twin * _apart(there, back)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(trained, 1.0)
            optimiser.step()
            schedule.step()
            steady.update_parameters(model)
    return steady.module.eval()


def _exercised(model: Judge, written: Sequence[Row], plan: Plan, chance: random.Random) -> None:
    """The first course. The base never read two texts at once: it learns to lay them side by side by guessing how near
    the embedder finds them, and what a changed number, name or "not" does."""
    texts = sorted({row[side] for row in written for side in "ab"})
    names = variations.people(texts)
    made = (variations.exercise(texts, names, chance) for _ in range(4 * plan.exercises))
    shown = [row for row in made if row][: plan.exercises]
    beside = [{**row, "label": None} for row in chance.choices(written, k=plan.exercises // 2)]
    shown = [
        *shown,
        *beside,
        *({"a": chance.choice(texts), "b": chance.choice(texts), "label": None} for _ in range(plan.exercises // 10)),
    ]
    chance.shuffle(shown)
    vectors = Sense(texts=[row[side] for row in shown for side in "ab"])
    tokens, guess = tokenizer(), nn.Linear(2 * WIDTH, 1).to(DEVICE)
    trained = [*(value for value in model.parameters() if value.requires_grad), *guess.parameters()]
    optimiser = torch.optim.AdamW(trained, lr=plan.rate, weight_decay=plan.decay)
    steps = len(shown) // plan.batch + 1
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, plan.rate, total_steps=steps, pct_start=0.1)
    for start in range(0, len(shown), plan.batch):
        part = shown[start : start + plan.batch]
        part = [row if chance.random() < 0.5 else {**row, "a": row["b"], "b": row["a"]} for row in part]
        truth = torch.tensor([LABELS.index(row["label"]) if row["label"] else -100 for row in part], device=DEVICE)
        near = torch.tensor([vectors.cosine(row["a"], row["b"]) for row in part], device=DEVICE)
        with torch.autocast(DEVICE.type, torch.bfloat16):
            seen = model.seen(Batch([joined(tokens, row["a"], row["b"]) for row in part]))
        loss = plan.cosine * functional.mse_loss(guess(seen.float()).squeeze(1), near)
        if bool((truth >= 0).any()):
            loss = loss + functional.cross_entropy(model.head(seen.float()), truth)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(trained, 1.0)
        optimiser.step()
        schedule.step()


class Sense:
    """How near the base, as an embedder, finds two texts."""

    def __init__(self, texts: Sequence[str]) -> None:
        tokens, old, known = tokenizer(), Trunk(base()).to(DEVICE).eval(), sorted(set(texts))
        self._made: dict[str, np.ndarray] = {}
        with torch.no_grad(), torch.autocast(DEVICE.type, torch.bfloat16):
            for start in range(0, len(known), 512):
                batch = Batch([alone(tokens, text, 120) for text in known[start : start + 512]])
                found = functional.normalize(mean(old(batch), batch.mask).float(), dim=1).cpu().numpy()
                self._made |= dict(zip(known[start : start + 512], found, strict=True))

    def cosine(self, a: str, b: str) -> float:
        return float(self._made[a] @ self._made[b])


def _varied(row: Row, plan: Plan, chance: random.Random) -> Row:
    if row["label"] == "same" and chance.random() < 0.15 and (other := variations.clashing(row, chance)):
        return other
    return variations.renamed(row, chance) if chance.random() < plan.renamed else row


def _apart(one: Tensor, other: Tensor) -> Tensor:
    p, q = functional.log_softmax(one, 1), functional.log_softmax(other, 1)
    there = functional.kl_div(p, q, reduction="batchmean", log_target=True)
    return (there + functional.kl_div(q, p, reduction="batchmean", log_target=True)) / 2


@torch.no_grad()
def judged(model: Judge, pairs: Sequence[Row]) -> np.ndarray:
    """The logits of each pair, the mean of both orders."""
    tokens, found = tokenizer(), []
    for start in range(0, len(pairs), 128):
        part = pairs[start : start + 128]
        both = [model(Batch([joined(tokens, row[x], row[y]) for row in part])) for x, y in ("ab", "ba")]
        found.append(((both[0] + both[1]) / 2).float().cpu().numpy())
    return np.concatenate(found)


def look(written: Sequence[Row], dev: Sequence[Row], plan: Plan, seed: int) -> None:
    """One part of five alone, and the pairs that are only measured: enough to compare plans."""
    held, *others = rows.folds(written)
    model = learn([row for part in others for row in part], plan, seed)
    report(f"part of {plan}", held, judged(model, held))
    if dev:
        report("dev", dev, judged(model, dev))


def part(written: Sequence[Row], plan: Plan, number: int, share: float, seed: int) -> dict[str, np.ndarray]:
    """The logits of one part of five by a model that learned from the others, or from a share of them."""
    split = rows.folds(written)
    others = [row for other, some in enumerate(split) if other != number for row in some]
    groups = sorted({row["group"] for row in others})
    random.Random(seed + number).shuffle(groups)
    kept = set(groups[: int(share * len(groups))])
    model = learn([row for row in others if row["group"] in kept], plan, seed + number)
    return dict(zip((row["id"] for row in split[number]), judged(model, split[number]), strict=True))


def by_parts(written: Sequence[Row], plan: Plan, share: float = 1.0, seed: int = 0) -> np.ndarray:
    logits: dict[str, np.ndarray] = {}
    for number in range(5):
        logits |= part(written, plan, number, share, seed)
    return np.stack([logits[row["id"]] for row in written])


def report(name: str, pairs: Sequence[Row], logits: np.ndarray) -> None:
    print(json.dumps({"what": name, **pair_figures(pairs, logits, LABELS)}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("fit", "test", "part", "curve", "look"))
    parser.add_argument("--name", default="judge")
    parser.add_argument("--dev", type=Path, help="pairs that are only measured, never learned")
    parser.add_argument("--number", type=int, default=0, help="for `part`: which of the five")
    parser.add_argument("--share", type=float, default=1.0, help="for `part`: of how much of the others it learns")
    parser.add_argument("--seed", type=int, default=0)
    usual = asdict(Plan())
    for field, value in usual.items():
        parser.add_argument(f"--{field}", type=type(value), default=value)
    args = parser.parse_args()
    plan = Plan(**{field: getattr(args, field) for field in usual})
    dev = [json.loads(line) for line in args.dev.read_text("utf-8").splitlines()] if args.dev else []
    began = time.time()
    done(args, plan, rows.read("pairs"), dev)
    print(f"{time.time() - began:.0f} s", flush=True)


def done(args: argparse.Namespace, plan: Plan, written: Sequence[Row], dev: Sequence[Row]) -> None:
    match args.what:
        case "look":
            look(written, dev, plan, args.seed)
        case "part":
            found = part(written, plan, args.number, args.share, args.seed)
            held = [row for row in written if row["id"] in found]
            logits = np.stack([found[row["id"]] for row in held])
            np.savez(rows.BUILD / f"{args.name}-part-{args.number}.npz", ids=[row["id"] for row in held], logits=logits)
            report(f"part {args.number} share {args.share}", held, logits)
        case "test":
            report(f"test {plan}", written, by_parts(written, plan, seed=args.seed))
        case "curve":
            for share in (0.1, 0.25, 0.5, 1.0):
                report(f"curve {share}", written, by_parts(written, plan, share, args.seed))
        case _:
            model = learn(written, plan, args.seed)
            save(args.name, model)
            if dev:
                report("dev", dev, judged(model, dev))


if __name__ == "__main__":
    main()
