"""The keeper: a turn with what was said before it in; for each of its sentences whether it is worth keeping, its kind,
its category, how much it matters, whether it is private, and whether it gives orders it should not give, out.

    training/run keeper rows           # the data as word pieces, build/keeper-rows.json: what a graphics card needs
    training/run keeper fit            # learns from every row and writes build/keeper-*.safetensors
    training/run keeper test           # five parts, each judged by a model that never saw it
    training/run keeper curve          # how the figures grow with the data
"""

import argparse
import json
import random
import re
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import rows
import torch
from figures import average_precision, best_f1, calibration_error, softmax
from rows import Row
from torch import Tensor, nn
from torch.nn import functional
from trunk import DEVICE, WIDTH, Batch, Trunk, base, save, tokenizer

KINDS = (
    "statement", "correction", "decision", "rule", "plan", "task", "question", "hypothetical", "quotation", "joke",
    "role_play", "small_talk", "thanks", "assent", "refusal", "feeling", "generality", "instruction", "suggestion",
    "tool_noise", "code", "heartbeat", "system_prompt", "injection", "secret", "progress",
)  # fmt: skip
CATEGORIES = (
    "profile", "preferences", "goals", "tasks", "projects", "event", "activity", "relationships", "knowledge",
    "procedural",
)  # fmt: skip
LIKE = {
    "preference": ("preferences",),
    "project": ("projects",),
    "activity of keeping": ("activity", "event", "goals", "tasks"),
}
"""Categories of `keeping.jsonl`, which are fewer, as those that they may be."""
HEADS = {"keep": 2, "kind": len(KINDS), "category": len(CATEGORIES), "importance": 5, "private": 2, "injection": 2}
PLACES = {name: sum(list(HEADS.values())[:number]) for number, name in enumerate(HEADS)}
BEFORE, SENTENCE, WINDOW = 72, 72, 176
"""Word pieces that are read of what was said before, of one sentence, and of the sentences that are read together."""
SAID, OWN = 0.3, 0.6
"""The share of a fact's words, or of its own words, from which on a sentence states the fact. One that shares fewer
may state a part of it: it is not learned from."""
CACHE = rows.BUILD / "keeper-rows.json"


@dataclass(frozen=True)
class Plan:
    epochs: int = 5
    rate: float = 1.5e-4
    batch: int = 32
    dropout: float = 0.1
    decay: float = 0.01
    lonely: float = 0.15
    """How often a turn is shown without what was said before it."""
    layers: int = 6


@dataclass(frozen=True)
class Window:
    """Sentences of one turn that are read together, as word pieces, each with its labels."""

    group: str
    before: list[int]
    sentences: list[list[int]]
    labels: list[Row]


# -- rows -----------------------------------------------------------------------------------------------------


def turns() -> Iterator[tuple[str, str, str, list[str], list[Row]]]:
    """Every turn of the data: its group, role, what was said before it, its sentences and their labels."""
    yield from _of_sentences(rows.read("sentences"))
    yield from _of_facts(rows.read("keeping"))


def _of_sentences(talks: Sequence[Row]) -> Iterator[tuple[str, str, str, list[str], list[Row]]]:
    from recollect.policy.speech.hearing import said_before

    for talk in talks:
        said = [(turn["role"], " ".join(one["text"] for one in turn["sentences"])) for turn in talk["turns"]]
        for place, turn in enumerate(talk["turns"]):
            labels = [{} if one.get("disputed") else one for one in turn["sentences"]]
            texts = [one["text"] for one in turn["sentences"]]
            yield talk["group"], turn["role"], said_before(reversed(said[max(0, place - 6) : place])), texts, labels


def _of_facts(talks: Sequence[Row]) -> Iterator[tuple[str, str, str, list[str], list[Row]]]:
    """Whole messages, of which the facts in them are known: a sentence is worth keeping where it states one."""
    from recollect.policy.speech.hearing import said_before
    from recollect.policy.speech.sentences import sentences

    for row in talks:
        said = [(message["role"], message["text"]) for message in row["messages"]]
        for place, message in enumerate(row["messages"]):
            found = sentences(message["text"])
            if found:
                before = said_before(reversed(said[max(0, place - 6) : place]))
                labels = [_label(row, place, number, found) for number in range(len(found))]
                yield row["id"], message["role"], before, [one.own for one in found], labels


def _label(row: Row, place: int, number: int, found: Sequence) -> Row:
    """What is known of a sentence by the facts of its row. Empty: it may state one, or may not."""
    injected, trap = row["kind"].endswith("injection"), row["kind"].startswith("trap")
    best: Row | None = None
    doubted = False
    for fact in row["facts"]:
        stated, unsure = _states(fact, place, number, found, row["messages"])
        if stated and (best is None or fact["importance"] > best["importance"]):
            best = fact
        doubted |= unsure
    if best is not None and row["messages"][place]["role"] in ("tool", "document"):
        return {}
    if best is None:
        return {} if doubted else {"keep": False, **({} if trap or injected else {"injection": False})}
    name = best["category"] if "quotes" in best or best["category"] != "activity" else "activity of keeping"
    return {
        "keep": True,
        "categories": LIKE.get(name, (name,)),
        "importance": best["importance"],
        "private": any(
            _states(fact, place, number, found, row["messages"])[0] and fact["sensitive"] for fact in row["facts"]
        ),
        "injection": False,
    }


def _states(fact: Row, place: int, number: int, found: Sequence, messages: Sequence[Row]) -> tuple[bool, bool]:
    """Whether a sentence states a fact, and whether that cannot be told."""
    own = found[number]
    if "quotes" in fact:
        for at, words in fact["quotes"]:
            if at == place:
                start = messages[at]["text"].find(words)
                shared = min(own.end, start + len(words)) - max(own.start, start)
                if shared >= 0.5 * min(len(words), own.end - own.start):
                    return True, False
                if shared > 0.2 * min(len(words), own.end - own.start):
                    return False, True
        return False, False
    if place not in fact["witness"]:
        return False, False
    stems = _stems(fact["text"]) - _stems(messages[place]["speaker"])
    shared = [stems & _stems(one.text) for one in found]
    share, most = len(shared[number]) / max(1, len(stems)), max(map(len, shared)) / max(1, len(stems))
    little = len(shared[number]) >= OWN * len(_stems(own.text))  # a short sentence that says nothing else
    if share and (share == most or share >= max(SAID, 0.6 * most) or (little and len(shared[number]) > 1)):
        return True, False
    return False, bool(shared[number])


_STOP = frozenset(
    """a an the of to in on at for and or is are was were be been with by from has have had her his their its as that
    this it he she they them i me my we our you your not no so but if do does did will would can could should what how
    when where which who about up out over than then there here just also one all any some more very""".split()
)


def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:5] for word in re.findall(r"[^\W_]+", text.lower()) if word not in _STOP)


def windows() -> list[Window]:
    """The data as the keeper reads it, cut as the product cuts it."""
    tokens = tokenizer()
    found: list[Window] = []
    for group, role, before, texts, labels in turns():
        start = tokens.encode(before).ids[1:-1]
        window = Window(group, start[-BEFORE:], [], [])
        size = 0
        for text, label in zip(texts, labels, strict=True):
            own = tokens.encode(f"{role}: {text}" if not window.sentences else text).ids[1:-1][:SENTENCE]
            if window.sentences and size + len(own) + 1 > WINDOW:
                found.append(window)
                start = [piece for read in window.sentences[-2:] for piece in read]
                own = tokens.encode(f"{role}: {text}").ids[1:-1][:SENTENCE]
                window, size = Window(group, start[-BEFORE:], [], []), 0
            window.sentences.append(own)
            window.labels.append(_short(label))
            size += len(own) + 1
        found.append(window)
    return [one for one in found if any(label for label in one.labels)]


def _short(label: Row) -> Row:
    """The labels as numbers: the place of the right answer of each head, those that are not known left out."""
    told: Row = {}
    if "keep" not in label:
        return told
    told["keep"] = int(label["keep"])
    if label.get("kind") in KINDS:
        told["kind"] = KINDS.index(label["kind"])
    if label["keep"]:
        names = label.get("categories") or (label["category"],)
        told["category"] = [CATEGORIES.index(name) for name in names]
        told["importance"] = label["importance"] - 1
    for name in ("private", "injection"):
        if label.get(name) is not None:
            told[name] = int(label[name])
    return told


def cached() -> list[Window]:
    if not CACHE.exists():
        rows.BUILD.mkdir(exist_ok=True)
        CACHE.write_text(json.dumps([vars(one) for one in windows()]))
    return [Window(**one) for one in json.loads(CACHE.read_text())]


# -- the network ----------------------------------------------------------------------------------------------


class Keeper(nn.Module):
    def __init__(self, dropout: float = 0.1, layers: int = 6) -> None:
        super().__init__()
        self.trunk = Trunk(base(), dropout)
        del self.trunk.bert.encoder.layer[layers:]
        self.drop = nn.Dropout(dropout)
        self.head = nn.Linear(2 * WIDTH, sum(HEADS.values()))

    def forward(self, batch: Batch, spans: Tensor) -> Tensor:
        """Logits of every stretch of every text, one below the other. `spans`: text, start and end of each."""
        hidden = self.trunk(batch)
        places = torch.arange(hidden.shape[1], device=hidden.device)[None]
        inside = ((places >= spans[:, 1:2]) & (places < spans[:, 2:3])).to(hidden.dtype)
        own = hidden[spans[:, 0]]
        means = (own * (inside / inside.sum(1, keepdim=True)).unsqueeze(-1)).sum(1)
        return self.head(self.drop(torch.cat([own[:, 0], means], 1)))


START, STOP = 101, 102
"""The word pieces [CLS] and [SEP]."""


def pieces(one: Window, *, lonely: bool = False) -> tuple[list[int], list[int], list[tuple[int, int]]]:
    """[CLS] before [SEP] a sentence [SEP] the next [SEP]; the sentences are of the second type."""
    before = [] if lonely else one.before
    ids, types = [START, *before, STOP], [0] * (len(before) + 2)
    spans: list[tuple[int, int]] = []
    for own in one.sentences:
        spans.append((len(ids), len(ids) + len(own) + 1))
        ids += [*own, STOP]
        types += [1] * (len(own) + 1)
    return ids, types, spans


def batched(part: Sequence[Window], chance: random.Random | None, lonely: float) -> tuple[Batch, Tensor]:
    read = [pieces(one, lonely=chance is not None and chance.random() < lonely) for one in part]
    spans = [(number, *span) for number, (_, _, found) in enumerate(read) for span in found]
    return Batch([(ids, types) for ids, types, _ in read]), torch.tensor(spans, device=DEVICE)


def learn(shown: Sequence[Window], plan: Plan, seed: int) -> Keeper:
    torch.manual_seed(seed)
    chance = random.Random(seed)
    model = Keeper(plan.dropout, plan.layers).to(DEVICE)
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
                logits = model(*batched(part, chance, plan.lonely)).float()
            loss = _loss(logits, [label for one in part for label in one.labels])
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(trained, 1.0)
            optimiser.step()
            schedule.step()
    return model.eval()


def _loss(logits: Tensor, labels: Sequence[Row]) -> Tensor:
    total = logits.new_zeros(())
    for name, width in HEADS.items():
        known = [number for number, label in enumerate(labels) if name in label]
        if not known:
            continue
        part = logits[known, PLACES[name] : PLACES[name] + width]
        if name == "category":  # any of those that it may be
            may = torch.full_like(part, -1e9)
            for row, number in enumerate(known):
                may[row, labels[number][name]] = 0.0
            loss = (torch.logsumexp(part, 1) - torch.logsumexp(part + may, 1)).mean()
        else:
            loss = functional.cross_entropy(part, torch.tensor([labels[n][name] for n in known], device=DEVICE))
        total = total + (2.0 if name == "keep" else 1.0) * loss
    return total


@torch.no_grad()
def weighed(model: Keeper, shown: Sequence[Window]) -> np.ndarray:
    found = []
    for start in range(0, len(shown), 128):
        found.append(model(*batched(shown[start : start + 128], None, 0.0)).float().cpu().numpy())
    return np.concatenate(found)


def by_parts(
    shown: Sequence[Window], plan: Plan, share: float = 1.0, seed: int = 0, parts: int = 5
) -> tuple[list[Row], np.ndarray]:
    """The labels of every sentence, and what a model that never saw its group says of it."""
    split = rows.folds([{"group": one.group, "one": one} for one in shown], parts)
    labels: list[Row] = []
    logits: list[np.ndarray] = []
    for number, held in enumerate(split):
        others = [row["one"] for other, part in enumerate(split) if other != number for row in part]
        groups = sorted({one.group for one in others})
        random.Random(seed + number).shuffle(groups)
        kept = set(groups[: int(share * len(groups))])
        model = learn([one for one in others if one.group in kept], plan, seed + number)
        mine = [row["one"] for row in held]
        labels += [label for one in mine for label in one.labels]
        logits.append(weighed(model, mine))
    return labels, np.concatenate(logits)


def cuts(labels: Sequence[Row], logits: np.ndarray) -> list[float]:
    """The mean importances between two neighbouring grades, so that as many sentences get a grade as have it."""
    known = [number for number, label in enumerate(labels) if "importance" in label]
    chances = softmax(logits[known, PLACES["importance"] : PLACES["importance"] + 5])
    means = np.sort(chances @ np.arange(1, 6))
    grades = np.array([labels[number]["importance"] for number in known])
    return [round(float(np.quantile(means, (grades < grade).mean())), 3) for grade in (1, 2, 3, 4)]


def figures(labels: Sequence[Row], logits: np.ndarray) -> Row:
    found: Row = {"rows": len(labels)}
    for name, width in HEADS.items():
        known = [number for number, label in enumerate(labels) if name in label]
        chances = softmax(logits[known, PLACES[name] : PLACES[name] + width])
        chosen = chances.argmax(1)
        if name == "category":
            found[name] = {
                "accuracy": round(float(np.mean([c in labels[n][name] for c, n in zip(chosen, known, strict=True)])), 4)
            }
            continue
        truth = np.array([labels[number][name] for number in known])
        found[name] = {"accuracy": round(float((chosen == truth).mean()), 4)}
        if name == "importance":
            means = chances @ np.arange(1, 6)
            found[name]["spearman"] = round(_spearman(means, truth), 4)
        if width == 2:
            found[name] |= {
                "f1": round(best_f1(chosen == 1, truth == 1), 4),
                "ap": round(average_precision(chances[:, 1], truth == 1), 4),
                "calibration": round(calibration_error(chances.max(1), chosen == truth), 4),
            }
    kinds: dict[str, list[bool]] = defaultdict(list)
    keep = logits[:, 1] > logits[:, 0]
    for label, said in zip(labels, keep, strict=True):
        if "kind" in label:
            kinds[KINDS[label["kind"]]].append(bool(said) == bool(label["keep"]))
    found["keep_by_kind"] = {kind: round(float(np.mean(right)), 3) for kind, right in sorted(kinds.items())}
    found["cuts"] = cuts(labels, logits)
    return found


def _spearman(a: np.ndarray, b: np.ndarray) -> float:
    def ranks(values: np.ndarray) -> np.ndarray:
        _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
        return (np.cumsum(counts) - (counts - 1) / 2)[inverse]

    return float(np.corrcoef(ranks(a), ranks(b))[0, 1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("rows", "fit", "test", "curve"))
    parser.add_argument("--name", default="keeper")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--parts", type=int, default=5)
    for field in ("epochs", "batch", "layers"):
        parser.add_argument(f"--{field}", type=int, default=getattr(Plan(), field))
    for field in ("rate", "dropout"):
        parser.add_argument(f"--{field}", type=float, default=getattr(Plan(), field))
    args = parser.parse_args()
    plan = Plan(epochs=args.epochs, rate=args.rate, dropout=args.dropout, batch=args.batch, layers=args.layers)
    if args.what == "rows":
        CACHE.unlink(missing_ok=True)
    shown, began = cached(), time.time()
    print(f"{len(shown):,} windows, {sum(len(one.sentences) for one in shown):,} sentences", flush=True)
    if args.what == "test":
        labels, logits = by_parts(shown, plan, seed=args.seed, parts=args.parts)
        print(json.dumps({"what": f"test {plan}", **figures(labels, logits)}))
        (rows.BUILD / f"{args.name}-cuts.json").write_text(json.dumps(cuts(labels, logits)))
    elif args.what == "curve":
        for share in (0.1, 0.25, 0.5, 1.0):
            print(json.dumps({"what": f"curve {share}", **figures(*by_parts(shown, plan, share, args.seed))}))
    elif args.what == "fit":
        save(args.name, learn(shown, plan, args.seed))
    print(f"{time.time() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
