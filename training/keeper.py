"""The keeper: a sentence with its neighbours in; whether it is worth keeping, its kind, its category, how much it
matters, whether it is private, and whether it gives orders it should not give, out.

    training/run keeper fit            # learns from every row and writes build/keeper-*.safetensors
    training/run keeper test           # five parts, each judged by a model that never saw it; the learning curve
"""

import argparse
import json
import random
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import rows
import torch
from figures import average_precision, best_f1, calibration_error, softmax
from rows import Row
from torch import Tensor, nn
from torch.nn import functional
from trunk import DEVICE, WIDTH, Batch, Trunk, base, mean, save, tokenizer

KINDS = (
    "statement", "correction", "decision", "rule", "plan", "task", "question", "hypothetical", "quotation", "joke",
    "role_play", "small_talk", "thanks", "assent", "refusal", "feeling", "generality", "instruction", "suggestion",
    "tool_noise", "code", "heartbeat", "system_prompt", "injection", "secret", "progress",
)  # fmt: skip
CATEGORIES = (
    "profile", "preferences", "goals", "tasks", "projects", "event", "activity", "relationships", "knowledge",
    "procedural",
)  # fmt: skip
HEADS = {"keep": 2, "kind": len(KINDS), "category": len(CATEGORIES), "importance": 5, "private": 2, "injection": 2}
PLACES = {name: sum(list(HEADS.values())[:number]) for number, name in enumerate(HEADS)}
BEFORE, AFTER, OWN = 48, 24, 96
"""Word pieces that are read of what stands before a sentence, after it, and of the sentence itself."""


@dataclass(frozen=True)
class Plan:
    epochs: int = 6
    rate: float = 1e-4
    batch: int = 32
    dropout: float = 0.1
    decay: float = 0.01
    lonely: float = 0.2
    """How often a sentence is shown without its neighbours."""


@dataclass(frozen=True)
class Sentence:
    """A sentence as the keeper reads it, with its labels."""

    id: str
    group: str
    before: str
    own: str
    after: str
    labels: Row


def sentences(talks: Sequence[Row]) -> list[Sentence]:
    found: list[Sentence] = []
    for talk in talks:
        said = [(turn, one) for turn in talk["turns"] for one in turn["sentences"]]
        for place, (turn, one) in enumerate(said):
            before = " ".join(text for text in (_told(said, place - 2), _told(said, place - 1)) if text)
            after = said[place + 1][1]["text"] if place + 1 < len(said) and said[place + 1][0] is turn else ""
            if one.get("disputed"):
                continue
            found.append(
                Sentence(f"{talk['id']}-{place}", talk["group"], before, f"{turn['role']}: {one['text']}", after, one)
            )
    return found


def _told(said: Sequence[tuple[Row, Row]], place: int) -> str:
    return f"{said[place][0]['role']}: {said[place][1]['text']}" if place >= 0 else ""


class Keeper(nn.Module):
    def __init__(self, dropout: float = 0.1) -> None:
        super().__init__()
        self.trunk = Trunk(base(), dropout)
        self.drop = nn.Dropout(dropout)
        self.head = nn.Linear(2 * WIDTH, sum(HEADS.values()))

    def forward(self, batch: Batch) -> Tensor:
        hidden = self.trunk(batch)
        own = mean(hidden, batch.mask * batch.types)
        return self.head(self.drop(torch.cat([hidden[:, 0], own], 1)))


def pieces(tokens: object, one: Sentence, *, lonely: bool = False) -> tuple[list[int], list[int]]:
    """[CLS] before [SEP] after [SEP] the sentence itself [SEP]; the sentence is of the second type."""
    start, stop = tokens.token_to_id("[CLS]"), tokens.token_to_id("[SEP]")
    before = [] if lonely else tokens.encode(one.before).ids[1:-1][-BEFORE:]
    after = [] if lonely else tokens.encode(one.after).ids[1:-1][:AFTER]
    own = tokens.encode(one.own).ids[1:-1][:OWN]
    first = [start, *before, stop, *after, stop]
    return [*first, *own, stop], [0] * len(first) + [1] * (len(own) + 1)


def learn(shown: Sequence[Sentence], plan: Plan, seed: int) -> Keeper:
    torch.manual_seed(seed)
    chance = random.Random(seed)
    tokens, model = tokenizer(), Keeper(plan.dropout).to(DEVICE)
    trained = [value for value in model.parameters() if value.requires_grad]
    optimiser = torch.optim.AdamW(trained, lr=plan.rate, weight_decay=plan.decay)
    steps = plan.epochs * (len(shown) // plan.batch + 1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, plan.rate, total_steps=steps, pct_start=0.1)
    model.train()
    order = list(shown)
    for _ in range(plan.epochs):
        chance.shuffle(order)
        for start in range(0, len(order), plan.batch):
            part = order[start : start + plan.batch]
            with torch.autocast(DEVICE.type, torch.bfloat16):
                read = [pieces(tokens, one, lonely=chance.random() < plan.lonely) for one in part]
                logits = model(Batch(read)).float()
            loss = _loss(logits, [one.labels for one in part])
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(trained, 1.0)
            optimiser.step()
            schedule.step()
    return model.eval()


def _truth(name: str, labels: Row) -> int:
    """The place of the right answer; -100 where there is none."""
    match name:
        case "kind":
            return KINDS.index(labels["kind"]) if labels["kind"] in KINDS else -100
        case "category":
            return CATEGORIES.index(labels["category"]) if labels["keep"] else -100
        case "importance":
            return labels["importance"] - 1 if labels["keep"] else -100
        case _:
            return -100 if labels[name] is None else int(labels[name])


def _loss(logits: Tensor, labels: Sequence[Row]) -> Tensor:
    total = logits.new_zeros(())
    for name, width in HEADS.items():
        truth = torch.tensor([_truth(name, one) for one in labels], device=DEVICE)
        if bool((truth >= 0).any()):
            part = logits[:, PLACES[name] : PLACES[name] + width]
            total = total + (2.0 if name == "keep" else 1.0) * functional.cross_entropy(part, truth)
    return total


@torch.no_grad()
def weighed(model: Keeper, shown: Sequence[Sentence]) -> np.ndarray:
    tokens, found = tokenizer(), []
    for start in range(0, len(shown), 128):
        part = shown[start : start + 128]
        found.append(model(Batch([pieces(tokens, one) for one in part])).float().cpu().numpy())
    return np.concatenate(found)


def by_parts(shown: Sequence[Sentence], plan: Plan, share: float = 1.0, seed: int = 0, parts: int = 5) -> np.ndarray:
    split = rows.folds([{"group": one.group, "one": one} for one in shown], parts)
    logits: dict[str, np.ndarray] = {}
    for number, held in enumerate(split):
        others = [row["one"] for other, part in enumerate(split) if other != number for row in part]
        groups = sorted({one.group for one in others})
        random.Random(seed + number).shuffle(groups)
        kept = set(groups[: int(share * len(groups))])
        model = learn([one for one in others if one.group in kept], plan, seed + number)
        mine = [row["one"] for row in held]
        logits |= dict(zip((one.id for one in mine), weighed(model, mine), strict=True))
    return np.stack([logits[one.id] for one in shown])


def figures(shown: Sequence[Sentence], logits: np.ndarray) -> Row:
    found: Row = {"rows": len(shown)}
    for name, width in HEADS.items():
        truth = np.array([_truth(name, one.labels) for one in shown])
        known = truth >= 0
        chances = softmax(logits[known, PLACES[name] : PLACES[name] + width])
        chosen, truth = chances.argmax(1), truth[known]
        found[name] = {"accuracy": round(float((chosen == truth).mean()), 4)}
        if width == 2:
            found[name] |= {
                "f1": round(best_f1(chosen == 1, truth == 1), 4),
                "ap": round(average_precision(chances[:, 1], truth == 1), 4),
                "calibration": round(calibration_error(chances.max(1), chosen == truth), 4),
            }
    kinds: dict[str, list[bool]] = defaultdict(list)
    keep = logits[:, 1] > logits[:, 0]
    for one, said in zip(shown, keep, strict=True):
        kinds[one.labels["kind"]].append(bool(said) == one.labels["keep"])
    found["keep_by_kind"] = {kind: round(float(np.mean(right)), 3) for kind, right in sorted(kinds.items())}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("fit", "test", "curve"))
    parser.add_argument("--name", default="keeper")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=Plan().epochs)
    parser.add_argument("--rate", type=float, default=Plan().rate)
    parser.add_argument("--dropout", type=float, default=Plan().dropout)
    args = parser.parse_args()
    plan = Plan(epochs=args.epochs, rate=args.rate, dropout=args.dropout)
    shown, began = sentences(rows.read("sentences")), time.time()
    if args.what == "test":
        logits = by_parts(shown, plan, seed=args.seed)
        np.save(rows.BUILD / f"{args.name}-test.npy", logits)
        print(json.dumps({"what": f"test {plan}", **figures(shown, logits)}))
    elif args.what == "curve":
        for share in (0.1, 0.25, 0.5, 1.0):
            print(json.dumps({"what": f"curve {share}", **figures(shown, by_parts(shown, plan, share, args.seed))}))
    else:
        save(args.name, learn(shown, plan, args.seed))
    print(f"{time.time() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
