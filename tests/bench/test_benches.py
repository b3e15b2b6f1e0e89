"""Every benchmark runs: on a few rows that are made here, with one JSON object of the promised keys as its last line.
What it measures is nobody's business here."""

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]

RUNS: Mapping[str, Sequence[str]] = {
    "add": ["--turns", "8", "--warm", "8", "--bulk", "20", "--talk", "{talk}", "--told", "6"],
    "conflicts": ["--data", "{talk}", "--cache", "{vectors}", "--verdicts", "{verdicts}", "--sheet", "{sheet}"],
    "crash": ["--rounds", "1"],
    "current": ["--data", "{stories}", "--cache", "{vectors}", "-v"],
    "embedder": ["--pairs", "{pairs}", "--recall", "{talk}", "--times", "3"],
    "extract": ["--data", "{turns}", "--by-kind", "-v"],
    "freeze": ["--length", "60"],
    "hook": ["--prompts", "3"],
    "isolation": ["--operations", "25"],
    "latency": ["--size", "200", "--queries", "4", "--warm", "1"],
    "levels": ["--data", "{talk}", "--cache", "{vectors}"],
    "pairs": ["--data", "{pairs}", "-v"],
    "readings": ["summaries", "--data", "{talk}"],
    "recall": ["--data", "{talk}", "--cache", "{vectors}"],
    "served": ["--data", "{talk}", "--cache", "{vectors}"],
    "silence": ["--data", "{talk}", "--cache", "{vectors}"],
    "write": ["--writes", "50"],
}
PRINTS: Mapping[str, Sequence[str]] = {
    "add": "cpu_p50 cpu_p95 edge_p95 bulk_per_s settled_per_s".split(),
    "conflicts": "conflicts found recorded records_per_100 recorded_true kept_both wrongly_retired".split(),
    "crash": "rounds acked lost torn chain_ok".split(),
    "current": "stories current current_first stale_unmarked wrongly_retired by_kind".split(),
    "embedder": "ms pairs r10".split(),
    "extract": "recall junk empty_stay_empty must_not_held format_pass importances by_kind".split(),
    "freeze": "worst_cpu_s worst_input health_wall_s".split(),
    "hook": "cpu_p95 wall_p95".split(),
    "isolation": "operations texts ids counts examples".split(),
    "latency": "size query_p50 query_p95 filtered_p95 embed_p50 bytes_per_vector server_wall_p95 peers".split(),
    "levels": "episodes ratio tokens_r1_p95 supported curve".split(),
    "pairs": "contradiction same by_kind cpu_p50".split(),
    "readings": "id summary turns".split(),
    "recall": "questions r5 r10 r20 budget_512 budget_1024 budget_2048 by_category conflict_hit5 abstain".split(),
    "served": "questions evidence tokens first escalated repeated by_category".split(),
    "silence": "questions answerable answered unknown unknown_silent by_kind".split(),
    "write": "cpu_p50 cpu_p95 wall_p50 peers".split(),
}

SAID = (
    "The bees came out of four hives. I am allergic to walnuts, so no walnut cake for me, please.",
    "I switch from cardiology to the dialysis unit on 3 April, with fixed days and no more nights.",
    "We sold the honey extractor to Ilka for 200 euros, because the new one is twice as fast.",
    "My sister Vera moved to Graz and works at the hospital there since the first of February.",
    "The workshop about swarms is on Saturday in the parish hall; Ilka brings the projector.",
    "I no longer work at the dialysis unit, I went back to cardiology last week.",
)
ASKED = (
    ("single", "Who is allergic to walnuts?", [0], {}),
    ("abstention", "Which car does Vera drive?", [], {}),
    ("knowledge_update", "Where does Tobias work?", [1, 5], {"old": [1], "new": [5]}),
)
TURNS = (
    {
        "kind": "personal_facts",
        "text": "Please note that I'm allergic to walnuts.",
        "facts": [{"text": "Dana is allergic to walnuts.", "key_terms": ["walnut", "allerg"], "importance": 5}],
        "must_not": [],
    },
    {
        "kind": "project_facts",
        "text": "We decided to move the billing service to PostgreSQL because the old queue lost messages.",
        "facts": [{"text": "The billing service moves to PostgreSQL.", "key_terms": ["bill", "postgres"]}],
    },
    {"kind": "none_thanks", "text": "haha yes, thanks a lot", "facts": [], "must_not": ["thanks"]},
    {"kind": "friends", "text": "My sister Vera lives in Graz.", "facts": [{"text": "Vera lives in Graz."}]},
)
STORIES = (
    {
        "kind": "moved",
        "said": (("2025-03-04", "I live in a small flat in Porto."), ("2025-05-20", "I moved to Graz last week.")),
        "question": "Where does Dana live?",
        "current": [["graz"]],
        "stale": [["porto"]],
    },
    {
        "kind": "both",
        "said": (("2025-03-04", "I play the cello."), ("2025-05-20", "I started to learn the harp.")),
        "question": "What does Dana play?",
        "current": [["cello"], ["harp"]],
        "stale": [],
    },
)


def conversation(name: str) -> dict[str, Any]:
    messages = [
        {
            "id": f"{name}-{number}",
            "session": number // 6,
            "speaker": ("Mirela", "Tobias")[number % 2],
            "date": f"2023-03-{11 + number // 6} 18:20",
            "text": SAID[number % 6] if number < 6 else f"{SAID[number % 6]} {SAID[(number + 1) % 6]} Note {number}.",
        }
        for number in range(12)
    ]
    questions = [
        {
            "category": category,
            "question": question,
            "evidence": [f"{name}-{number}" for number in evidence],
            "evidence_roles": {role: [f"{name}-{number}" for number in of] for role, of in roles.items()},
        }
        for category, question, evidence, roles in ASKED
    ]
    return {"id": name, "messages": messages, "questions": questions}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    folder = tmp_path_factory.mktemp("rows")
    turns = [
        {
            "id": f"row-{number}",
            "kind": row["kind"],
            "messages": [{"speaker": "Dana", "role": "user", "date": "2025-03-04", "text": row["text"]}],
            "facts": [{"category": "profile", "sensitive": False, **fact} for fact in row["facts"]],
            **({"must_not": row["must_not"]} if "must_not" in row else {}),
        }
        for number, row in enumerate(TURNS)
    ]
    labels = ("contradiction", "same", "compatible")
    pairs = [
        {"id": f"pair-{n}", "a": "Ana drinks tea.", "b": text, "label": label, "kind": label}
        for n, (text, label) in enumerate(
            zip(("Ana drinks no tea.", "Ana likes tea.", "Ana runs."), labels, strict=True)
        )
    ]
    stories = [
        {
            **{key: value for key, value in story.items() if key != "said"},
            "id": f"story-{number}",
            "messages": [{"speaker": "Dana", "role": "user", "date": day, "text": text} for day, text in story["said"]],
            "asked_on": "2025-06-01",
        }
        for number, story in enumerate(STORIES)
    ]
    verdicts = [{"data": "talk", "kind": "update", "a": "a/a-1", "b": "a/a-5", "true": True, "why": "it changed"}]
    talk = [conversation("a"), conversation("b")]
    files = {"turns": turns, "pairs": pairs, "stories": stories, "verdicts": verdicts, "talk": talk}
    paths = {name: folder / f"{name}.jsonl{'.gz' if name == 'talk' else ''}" for name in files}
    for name, path in paths.items():
        with gzip.open(path, "wt") if path.suffix == ".gz" else path.open("w") as lines:
            lines.writelines(json.dumps(row) + "\n" for row in files[name])
    return {**paths, "vectors": folder / "vectors.db", "sheet": folder / "sheet.jsonl"}


def test_every_bench_is_run_here():
    modules = {path.stem for path in (ROOT / "bench").glob("*.py") if "def main(" in path.read_text("utf-8")}
    assert modules == set(RUNS) == set(PRINTS)


@pytest.mark.parametrize("name", RUNS)
def test_a_bench_runs_and_ends_with_its_figures(name: str, data: Mapping[str, Path], tmp_path: Path):
    env = {key: value for key, value in os.environ.items() if not key.startswith("RECOLLECT_")}
    command = [sys.executable, "-m", f"bench.{name}", *(word.format_map(data) for word in RUNS[name])]
    done = subprocess.run(
        command, cwd=ROOT, env={**env, "RECOLLECT_HOME": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    figures = json.loads(done.stdout.splitlines()[-1])
    assert not set(PRINTS[name]) - set(figures)
