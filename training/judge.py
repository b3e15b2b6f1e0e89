"""The judge: two memories in, how they stand to each other out (a cross-encoder over both texts).

    training/run judge fit             # learns from nine tenths of the rows and writes build/judge-*.safetensors

What is learned: every written pair in either order, pairs derived within a block, other names, changed numbers; stories
and neighbours, the earlier statement first; and what the larger judge (larger.py) says of pairs that nobody labelled.
The tenth that is left out is where lines are drawn (combine.py).
"""

import argparse
import gzip
import json
import random
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import changes
import numpy as np
import rows
import torch
import variations
from figures import pair_figures, softmax
from labels import LABELS, Course, alike, missed, open_, ordered, varied
from rows import Row
from torch import Tensor, nn
from torch.nn import functional
from trunk import DEVICE, WIDTH, Batch, Trunk, alone, base, joined, load, mean, save, together, tokenizer


@dataclass(frozen=True)
class Plan:
    """How to learn."""

    epochs: int = 8
    rate: float = 3e-4
    batch: int = 128
    derived: float = 0.6
    """How many derived pairs an epoch has, against the written ones."""
    smoothing: float = 0.05
    dropout: float = 0.1
    decay: float = 0.01
    exercises: int = 40_000
    """Pairs that are made by program, and learned first."""
    cosine: float = 2.0
    """What guessing the cosine of the embedder counts while it does its exercises."""
    steady: float = 0.998
    """The weights that come out are the mean of those along the way: how slowly the mean moves."""
    start: str = ""
    """The weights to go on from, by their name in build; the base otherwise."""
    layers: int = 6
    """More than the base has are copies of its own, each beside the one it was copied from."""
    seconds: float = 1e9
    """The time there is, if it is less than the epochs take."""
    taught: int = 384
    """Pairs a step that the larger judge spoke of, where there are any."""


class Judge(nn.Module):
    def __init__(self, dropout: float = 0.1, layers: int = 6) -> None:
        super().__init__()
        self.trunk = Trunk(base(), dropout)
        self.trunk.deepen(layers)
        self.drop = nn.Dropout(dropout)
        self.head = nn.Linear(2 * WIDTH, len(LABELS))

    def forward(self, batch: Batch) -> Tensor:
        return self.head(self.drop(self.seen(batch)))

    def seen(self, batch: Batch) -> Tensor:
        hidden = self.trunk(batch)
        return torch.cat([hidden[:, 0], mean(hidden, batch.mask)], 1)


class Said:
    """What the larger judge says of pairs that nobody labelled, some at a time."""

    def __init__(self, count: int, chance: random.Random) -> None:
        self._count, self._chance = count, chance
        paths = sorted((rows.BUILD / "larger").glob("said-beside-*.npy"))
        self._pairs = json.loads(gzip.decompress((rows.BUILD / "beside.json.gz").read_bytes())) if paths else []
        self._shares = np.mean([softmax(np.load(path).astype(np.float32)) for path in paths], 0) if paths else None
        tokens = tokenizer()
        sides = [
            [one.ids for one in tokens.encode_batch_fast([row[side] for row in self._pairs])] if paths else []
            for side in "ab"
        ]
        self._read = [together(a, b, tokens.token_to_id("[SEP]")) for a, b in zip(*sides, strict=True)]
        self._left: list[list[int]] = []

    def __bool__(self) -> bool:
        return bool(self._pairs)

    def next(self) -> tuple[Batch, Tensor]:
        if not self._left:
            self._left = list(alike([len(ids) for ids, _ in self._read], self._count, self._chance))
        part = self._left.pop()
        assert self._shares is not None
        shares = torch.from_numpy(self._shares[part]).to(DEVICE)
        return Batch([self._read[place] for place in part]), shares


def learn(known: Sequence[Row], plan: Plan, seed: int) -> Judge:
    """Rows as they are labelled, and beside them pairs as the larger judge sees them."""
    written = [row for row in known if not row["kind"].startswith(changes.BESIDE)]
    beside, neutral = [row for row in known if row["kind"].startswith(changes.BESIDE)], changes.neutrals()
    torch.manual_seed(seed)
    chance = random.Random(seed)
    tokens, model = tokenizer(), Judge(plan.dropout, plan.layers).to(DEVICE)
    model.train()
    if plan.start:
        _go_on(model, plan.start)
    elif plan.exercises:
        _exercised(model, written, plan, chance)
    said = Said(plan.taught, chance)
    steady = torch.optim.swa_utils.AveragedModel(
        model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(plan.steady)
    )
    more = variations.derived(written)
    each = len(written) + min(len(more), int(plan.derived * len(written)))
    each += len(changes.shown(beside, neutral, chance))
    steps = plan.epochs * (each // plan.batch + 40)
    trained = [value for value in model.parameters() if value.requires_grad]
    optimiser = torch.optim.AdamW(trained, lr=plan.rate, weight_decay=plan.decay)
    course, began = Course(optimiser, steps, plan.seconds, 0.1), time.time()
    model.train()
    for epoch in range(plan.epochs):
        shown = [*written, *chance.sample(more, min(len(more), int(plan.derived * len(written))))]
        shown = [varied(row, chance) for row in shown] + changes.shown(beside, neutral, chance)
        shown = [ordered(row, chance) for row in shown]
        for places in alike([len(row["a"]) + len(row["b"]) for row in shown], plan.batch, chance):
            if course.over:
                break
            part = [shown[place] for place in places]
            truth = torch.tensor([LABELS.index(row["label"]) for row in part], device=DEVICE)
            either = torch.tensor([open_(row) for row in part], device=DEVICE)
            with torch.autocast(DEVICE.type, torch.bfloat16):
                told = model(Batch([joined(tokens, row["a"], row["b"]) for row in part])).float()
            loss = missed(told, truth, either, plan.smoothing)
            if said:
                batch, shares = said.next()
                with torch.autocast(DEVICE.type, torch.bfloat16):
                    told = model(batch).float()
                loss = loss + functional.kl_div(functional.log_softmax(told, 1), shares, reduction="batchmean")
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(trained, 1.0)
            optimiser.step()
            course.step()
            steady.update_parameters(model)
        print(f"epoch {epoch} at {course.progress:.2f} loss {loss.item():.3f} {time.time() - began:.0f} s", flush=True)
    return steady.module.eval()


def _go_on(model: Judge, name: str) -> None:
    """The weights of a judge that was taught before; of places, no more are kept than are ever used."""
    own = model.state_dict()
    for key, value in load(name).items():
        own[key][: len(value)] = torch.from_numpy(value).to(DEVICE)


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


@torch.no_grad()
def judged(model: Judge, pairs: Sequence[Row]) -> np.ndarray:
    """The logits of each pair as it stands, the earlier first."""
    tokens, found = tokenizer(), []
    for start in range(0, len(pairs), 256):
        part = pairs[start : start + 256]
        found.append(model(Batch([joined(tokens, row["a"], row["b"]) for row in part])).float().cpu().numpy())
    return np.concatenate(found)


def report(name: str, pairs: Sequence[Row], logits: np.ndarray) -> None:
    print(json.dumps({"what": name, **pair_figures(pairs, logits, LABELS)}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("fit", "look"), help="look: keeps nothing but figures")
    parser.add_argument("--name", default="judge")
    parser.add_argument("--measured", type=Path, nargs="*", default=(), help="pairs that are only measured")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most", type=int, default=None, help="only so many rows, to try whether it runs")
    usual = asdict(Plan())
    for field, value in usual.items():
        parser.add_argument(f"--{field}", type=type(value), default=value)
    args = parser.parse_args()
    plan = Plan(**{field: getattr(args, field) for field in usual})
    held, known = changes.held_out([*rows.read("pairs"), *changes.occurring()])
    random.Random(1).shuffle(known)
    model = learn(known[: args.most], plan, args.seed)
    if args.what == "fit":
        save(args.name, model)
    sets = {"held": held, "blind": changes.stories("blind_stories"), "threads": changes.stories("blind_threads")}
    sets |= {path.stem: [json.loads(line) for line in path.read_text("utf-8").splitlines()] for path in args.measured}
    for name, pairs in sets.items():
        logits = judged(model, pairs[: args.most])
        np.save(rows.BUILD / f"{args.name}-{name}.npy", logits)
        report(name, pairs[: args.most], logits)


if __name__ == "__main__":
    main()
