"""Whether a text can be made that costs far more than its length, and whether a server still answers meanwhile.

    python -m bench.freeze

Each text is taken in, read for memories and summed up, as what a user says and as what an assistant answers.
`worst_cpu_s` is the most that one of them took, all threads counted, and `worst_input` names it. `growth` is what the
worst takes over what it takes at half its length: 2 where cost follows length, 4 where it follows the square.
`health_wall_s` is the longest that a server took to say that it is well while it was told all of them.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.opening import Opened, opened
from bench.serving import served, wait_for_the_jobs
from recollect import Message, wiring
from recollect import settings as configuration
from recollect.client import Client
from recollect.domain.ids import TenantId

TENANT = TenantId("freeze")
LENGTH = 20_000
LOOK_S = 0.01
PIECES: Mapping[str, str] = {
    "one word": "a",
    "I": "I ",
    "my": "my ",
    "the": "the ",
    "if": "if ",
    "and I": ", and I ",
    "I'm": "I'm, ",
    "it's": "it's ",
    "no wait": "no wait, ",
    "slashes": "a/",
    "quotation marks": '"',
    "code fences": "```",
    "short sentences": "x. ",
    "questions": "why? ",
    "brackets": "[s",
    "bullets": "- **a",
    "days": "tomorrow at noon, ",
    "passwords": "password: ",
    "keys": "sk-",
    "tokens": "eyJ",
    "addresses": "://",
    "numbers": "1 ",
    "codes": "AB12 ",
    "private key": "-----BEGIN PRIVATE KEY-----",
    "one line of prose": "We moved the board meeting to Thursday because the auditors come on Wednesday. ",
}


def hostile(name: str, length: int) -> str:
    piece = PIECES[name]
    return (piece * (length // len(piece) + 1))[:length]


def cost(house: Opened, name: str, length: int) -> float:
    """CPU seconds of taking a text in and summing it up."""
    text = hostile(name, length)
    said = [Message(text=text, author="mira", role="user"), Message(text=text, author="assistant", role="assistant")]
    began = time.process_time()
    taken = house.memory.ingest(said, thread_id=f"{name} {length}", wait=True)
    house.memory.close_episode(taken.episode_id)
    return time.process_time() - began


def health_wall(address: str, length: int) -> float:
    """The longest wall seconds of an answer to whether a server is well, while it has all of the texts to do."""
    with served(address, TENANT) as server, ThreadPoolExecutor(1) as pool:
        store = wiring.open_store(configuration.load({"store": address}))
        try:
            telling = pool.submit(_tell, server.client, length)
            worst = 0.0
            while not telling.done():
                began = time.perf_counter()
                server.client.health()
                worst = max(worst, time.perf_counter() - began)
                time.sleep(LOOK_S)
            telling.result()
            wait_for_the_jobs(store, TENANT)
        finally:
            store.close()
    return worst


def _tell(client: Client, length: int) -> None:
    for name in PIECES:
        taken = client.ingest([Message(text=hostile(name, length), author="mira", role="user")], thread_id=name)
        client.close_episode(taken.episode_id)


def measure(folder: Path, length: int) -> dict[str, object]:
    settings = configuration.load({"store": str(folder / "memory.db"), "tenant": TENANT, "user": "mira"})
    with opened(settings) as house:
        cost(house, "one line of prose", 200)  # the models are read before anything is timed
        costs = {name: cost(house, name, length) for name in PIECES}
        worst = max(costs, key=lambda name: costs[name])
        half = cost(house, worst, length // 2)
    return {
        "length": length,
        "inputs": len(costs),
        "worst_cpu_s": round(costs[worst], 3),
        "worst_input": worst,
        "growth": round(costs[worst] / half, 1),
        "health_wall_s": round(health_wall(str(folder / "served.db"), length), 3),
        "by_input": {name: round(spent, 3) for name, spent in costs.items()},
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
