"""Invented threads, with how they are distilled: what docs/levels.md shows is what the code gives.

    python -m tests.policy.threads

prints each thread before and after.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from recollect.domain.event import Event
from recollect.domain.ids import EventId, ItemId
from recollect.domain.item import Body, Episode, Fact, Item, Visibility, Workflow
from recollect.domain.witness import Bullet
from recollect.models.keeper import LocalKeeper
from recollect.policy import distil
from recollect.policy.distil.material import witnesses
from recollect.weighing import weigh

Line = tuple[str, str] | tuple[str, str, str]


@dataclass(frozen=True)
class Told:
    """A thread at its lengths."""

    name: str
    material: distil.Material
    log: str
    summary: str
    packet: str
    trace: str


def item(body: Body, number: int = 1, at: datetime = datetime(2025, 7, 1, tzinfo=UTC)) -> Item:
    return Item(
        id=ItemId(f"0197c000-0000-7000-8000-{number:012d}"),
        body=body,
        category="event",
        visibility=Visibility.USER_PRIVATE,
        user_id="mira",
        origin_at=at,
        created_at=at,
        updated_at=at,
    )


def events(of: Item, lines: Sequence[Line], at: datetime) -> list[Event]:
    """The lines as events, a minute apart: (author, text), or (author, role, text)."""
    found: list[Event] = []
    for seq, line in enumerate(lines, 1):
        author, role, text = line if len(line) == 3 else (line[0], _role(line[0]), line[1])
        found.append(
            Event(
                id=EventId(f"0197c001-0000-7000-8000-{int(of.id[-6:]):06d}{seq:06d}"),
                item_id=of.id,
                seq=seq,
                ts=at + timedelta(minutes=seq),
                author=author,
                role=role,
                text=text,
            )
        )
    return found


def _role(author: str) -> str:
    return author if author in ("assistant", "tool") else "user"


def episode(
    lines: Sequence[Line], title: str = "", at: datetime = datetime(2025, 7, 1, 9, tzinfo=UTC)
) -> distil.Material:
    of = item(Episode(title=title), at=at)
    return distil.Material(of, events(of, lines, at))


def statement(body: Body, text: str, lines: Sequence[Line] = ()) -> distil.Material:
    """A fact, workflow or the like, remembered from a thread that is not its own."""
    at = datetime(2025, 7, 1, 9, tzinfo=UTC)
    said = events(item(Episode(), 2), lines or [("Mira", text)], at)
    of = item(body)
    return distil.Material(of, said, (Bullet(text, witnesses(of.id, said, "said by Mira on 2025-07-01")),))


def told(name: str, material: distil.Material) -> Told:
    """The thread as it is served, weighed by the bundled keeper."""
    weights = weigh(material.events, range(len(material.events)), LocalKeeper())
    log, summary = distil.clean(material), distil.summarise(replace(material, weights=weights))
    assert summary is not None
    packet = distil.packet(material.item, summary.content, summary.bullets)
    return Told(
        name=name,
        material=material,
        log=log.content,
        summary=distil.served(summary.content, summary.bullets),
        packet=packet,
        trace=distil.trace(material.item, packet, summary.content),
    )


CHAT = episode(
    [
        ("Ines", "Hey Paul! Long time no see, how are you?"),
        ("Paul", "Hi Ines! I'm good, thanks. I finally moved to Leeds last month, into a flat near the canal."),
        ("Ines", "Wow, that's great! How is the new job?"),
        ("Paul", "I started as a bike mechanic at Spokeworks on Monday. My sister Hanna helped me find the place."),
        ("Ines", "Nice! I adopted a greyhound called Biscuit from the shelter in May. He is scared of pigeons, haha."),
        ("Paul", "Love it! I'm allergic to cats, so a dog would suit me too."),
        ("Ines", "Are you coming to the choir concert on Friday? I sing the alto solo."),
        ("Paul", "Yes! I already bought two tickets for the concert."),
        ("Ines", "You're the best! See you there."),
    ],
    at=datetime(2025, 6, 18, 18, tzinfo=UTC),
)
DECISION = episode(
    [
        ("Mira", "We need to settle how the login of the admin console works. The JWTs are over 6 KB by now."),
        ("assistant", "You could trim the claims, or replace the tokens with sessions in Redis. Shall I compare both?"),
        ("Mira", "Trimming does not help, the permissions alone are 4 KB. The proxy cuts headers at 8 KB."),
        (
            "assistant",
            "Then I'd suggest server-side sessions with a short cookie. Should I write that down as ADR-012?",
        ),
        ("Mira", "Yes, please do."),
        ("Mira", "Decision: we replace JWT with sessions because of the token size. Sessions expire after 30 minutes."),
        ("Tom", "I'll add `POST /api/session` and `DELETE /api/session`, and remove the refresh endpoint."),
        ("Mira", "Good. Tom ships it by Friday. I'm not sure yet how we migrate the mobile app."),
    ],
    title="Auth refactor",
)
DEBUGGING = episode(
    [
        ("Sami", "The nightly export fails since Tuesday with `TokenExpired`, but only in the Sydney region."),
        ("assistant", "Let me look at the job. Which time zone does the worker in Sydney run in?"),
        ("Sami", "The worker runs in Australia/Sydney, all others run in UTC."),
        ("tool", "Collecting logs...\n10%\n50%\n100%\nexport.py:88 expires_at < now() -> TokenExpired"),
        (
            "assistant",
            "The check in `export.py` compares local time with UTC. I recommend using `datetime.now(UTC)` there.",
        ),
        (
            "Sami",
            "Yes, that was the root cause: the expiry check used the local time zone. I changed the check to UTC.",
        ),
        ("Sami", "I also added a regression test, `test_expiry_is_utc`. The export ran through tonight."),
        ("assistant", "Great, thanks for confirming!"),
        ("Sami", "ok thanks"),
    ]
)
SUPPORT = episode(
    [
        ("customer", "Hello, I ordered a standing desk on 3 March, order number 48213, and it has not arrived."),
        ("assistant", "assistant", "I'm sorry to hear that. Could you confirm the delivery address?"),
        ("customer", "The address is 12 Mill Lane, York. The tracking page says the parcel went back on 9 March."),
        (
            "assistant",
            "assistant",
            "The carrier found no house. I can send the desk again, or refund it. What do you want?",
        ),
        ("customer", "Please send the desk again, to my office at 4 Station Road, York."),
        ("assistant", "assistant", "Done: the desk leaves our warehouse on 14 March and arrives by 17 March."),
        ("customer", "I work from home on Mondays, so the reception must sign. Can you refund the shipping fee?"),
    ],
    at=datetime(2025, 3, 13, 10, tzinfo=UTC),
)
DEPLOY = statement(
    Workflow(
        trigger="deploy_request",
        steps=("test", "build", "stage", "verify", "prod"),
        hint="deploy: test→build→stage→verify→prod",
        details={
            "test": "pnpm test with coverage above 80 %",
            "build": "docker build",
            "verify": "smoke tests on staging",
        },
    ),
    "To deploy, the team runs tests, builds, goes to staging, verifies there and then goes to production.",
    [
        ("Mira", "How do we deploy? Write it down once and for all."),
        ("Tom", "First pnpm test with coverage above 80 %, then docker build, then we stage it."),
        ("Tom", "Then verify: smoke tests on staging. Only then it goes to prod."),
    ],
)
DATABASE = statement(
    Fact(key="database", value="PostgreSQL", scope="project"),
    "The team decided to use PostgreSQL as the primary database because of the JSON support and the team's expertise.",
)


def pairs() -> list[Told]:
    """The threads that the documentation shows, before and after."""
    named = {
        "A personal chat": CHAT,
        "A decision in a project": DECISION,
        "A debugging session": DEBUGGING,
        "A support chat": SUPPORT,
        "A workflow": DEPLOY,
    }
    return [told(name, material) for name, material in named.items()]


def page() -> str:
    """The pairs as the documentation prints them: R4 where there is noise to leave out."""
    parts: list[str] = []
    for one in pairs():
        said = "\n".join(f"{event.author}: {event.text}" for event in one.material.events)
        log = f"R4\n{one.log}\n\n" if any(event.role == "tool" for event in one.material.events) else ""
        levels = f"{log}R3\n{one.summary}\n\nR2\n{one.packet}\n\nR1\n{one.trace}"
        parts.append(f"### {one.name}\n\n```text\n{said}\n```\n\n```text\n{levels}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    print(page())
