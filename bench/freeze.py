"""Whether a text can be made that costs far more than its length, and whether a server still answers meanwhile.

    python -m bench.freeze [--length CHARACTERS]

Each text is taken in, read for memories and summed up: as what a user says, as what an assistant answers and as what a
tool prints, each by itself, and as a question, as far as questions go. `worst_cpu_s` is the most that one of them took,
all threads counted, and `worst_input` names it. `growth` is what the worst takes over what it takes at a quarter of its
length: 4 where cost follows length, 16 where it follows the square. `health_wall_s` is the longest that a server took
to say that it is well while it was told all of them, and asked eight of the worst questions at once.
"""

import argparse
import json
import os
import random
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.opening import Opened, opened
from bench.serving import served, wait_for_the_jobs
from recollect import Message, Query, wiring
from recollect import settings as configuration
from recollect.client import Client
from recollect.domain.ids import TenantId
from recollect.domain.query import LONGEST_QUERY

TENANT = TenantId("freeze")
LENGTH = 1_000_000
LOOK_S = 0.01
ROLES = ("user", "assistant", "tool")
ASKED_AT_ONCE = 8
PIECES: Mapping[str, str] = {
    "one word": "a",
    "full stops": ".",
    "blanks": " ",
    "line breaks": "\n",
    "exclamation marks": "!",
    "I": "I ",
    "my": "my ",
    "the": "the ",
    "if": "if ",
    "and I": ", and I ",
    "I'm": "I'm, ",
    "it's": "it's ",
    "no wait": "no wait, ",
    "what": "; what ",
    "slashes": "a/",
    "quotation marks": '"',
    "code fences": "```",
    "comments": "<!---->\n",
    "short sentences": "x. ",
    "questions": "why? ",
    "brackets": "[s",
    "asides": "x. [abc] ",
    "bullets": "- **a",
    "days": "tomorrow at noon, ",
    "dates": "1 May ",
    "passwords": "password: ",
    "names of passwords": "pw_",
    "names of keys": "key_",
    "keys": "sk-",
    "tokens": "eyJ",
    "tokens with hyphens": "eyJ-",
    "addresses": "://",
    "numbers": "1 ",
    "numbers in words": "hundred and ",
    "codes": "AB12 ",
    "marks on letters": "\u0315\u0300",
    "private key": "-----BEGIN PRIVATE KEY-----",
    "one line of prose": "We moved the board meeting to Thursday because the auditors come on Wednesday. ",
}
MIXTURES = 3


def hostile(name: str, length: int) -> str:
    """A letter, a piece again and again, and a sign that ends it otherwise; or pieces and signs as they come."""
    if name.startswith("mixture"):
        drawn = random.Random(name)
        pieces = drawn.sample(list(PIECES.values()), 6)
        # A little less: what stands for a secret may be longer than it.
        return "".join(drawn.choices(pieces, k=length // min(map(len, pieces))))[: length - length // 20]
    piece = PIECES[name]
    return f"a{piece * (length // len(piece) + 1)}"[: length - 1] + "!"


def names() -> list[str]:
    return [*PIECES, *(f"mixture {number}" for number in range(MIXTURES))]


def cost(house: Opened, name: str, role: str, length: int) -> float:
    """CPU seconds of taking a text in and summing it up."""
    said = [Message(text=hostile(name, length), author="mira" if role == "user" else role, role=role)]
    began = time.process_time()
    taken = house.memory.ingest(said, thread_id=f"{name} {role} {length}", wait=True)
    house.memory.close_episode(taken.episode_id)
    return time.process_time() - began


def cost_of_question(house: Opened, name: str, length: int) -> float:
    began = time.process_time()
    house.memory.query(Query(text=hostile(name, min(length, LONGEST_QUERY))))
    return time.process_time() - began


def health_wall(address: str, length: int, worst: str) -> float:
    """The longest wall seconds of an answer to whether a server is well, while it has all of the texts to do."""
    with served(address, TENANT) as server, ThreadPoolExecutor(1 + ASKED_AT_ONCE) as pool:
        store = wiring.open_store(configuration.load({"store": address}))
        try:
            telling = [pool.submit(_tell, server.client, length)]
            telling += [pool.submit(_ask, server.client, worst, length) for _ in range(ASKED_AT_ONCE)]
            slowest = 0.0
            while not all(one.done() for one in telling):
                began = time.perf_counter()
                server.client.health()
                slowest = max(slowest, time.perf_counter() - began)
                time.sleep(LOOK_S)
            for one in telling:
                one.result()
            wait_for_the_jobs(store, TENANT)
        finally:
            store.close()
    return slowest


def _tell(client: Client, length: int) -> None:
    for name in names():
        taken = client.ingest([Message(text=hostile(name, length), author="mira", role="user")], thread_id=name)
        client.close_episode(taken.episode_id)


def _ask(client: Client, name: str, length: int) -> None:
    client.query(Query(text=hostile(name, min(length, LONGEST_QUERY))))


def measure(folder: Path, length: int) -> dict[str, object]:
    settings = configuration.load({"store": str(folder / "memory.db"), "tenant": TENANT, "user": "mira"})
    with opened(settings) as house:
        cost(house, "one line of prose", "user", 200)  # the models are read before anything is timed
        cost_of_question(house, "one line of prose", 200)
        asked = {name: cost_of_question(house, name, length) for name in names()}
        costs = {(name, role): cost(house, name, role, length) for name in names() for role in ROLES}
        worst = max(costs, key=lambda one: costs[one])
        quarter = cost(house, *worst, length // 4)
        worst_question = max(asked, key=lambda one: asked[one])
    return {
        "length": length,
        "inputs": len(costs) + len(asked),
        "worst_cpu_s": round(max(costs[worst], asked[worst_question]), 3),
        "worst_input": ", ".join(worst) if costs[worst] >= asked[worst_question] else f"{worst_question}, question",
        "growth": round(costs[worst] / quarter, 1),
        "question_cpu_s": round(asked[worst_question], 3),
        "health_wall_s": round(health_wall(str(folder / "served.db"), length, worst_question), 3),
        "by_input": {name: round(max(costs[name, role] for role in ROLES), 3) for name in names()},
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.freeze", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--length", type=int, default=LENGTH, help="characters of each text")
    args = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="recollect-freeze-") as folder:
        os.environ["RECOLLECT_HOME"] = folder
        print(json.dumps(measure(Path(folder), args.length)))


if __name__ == "__main__":
    main()
